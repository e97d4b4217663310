"""What is published: versions that never change, who decides about them, and the log of that."""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol

from pegboard.calls import TEAM as TEAM
from pegboard.calls import Caller
from pegboard.model import Entry, Fingerprint, Item, ItemId, Rejection, Visibility


class Action(StrEnum):
    """What the audit log tells of."""

    PUBLISH = "publish"
    YANK = "yank"
    UNYANK = "unyank"
    TRANSFER = "transfer"
    VISIBILITY = "visibility"
    DEPRECATE = "deprecate"
    REMOVE = "remove"
    APPROVE = "approve"
    TRUST = "trust"
    """Whose signatures are believed here has changed."""
    POLICY = "policy"
    """What is asked of signatures here has changed."""
    TOKEN = "token"  # noqa: S105 (the word itself)


class AuditLine(NamedTuple):
    """Something that was decided. It is never changed, and outlives what it is about."""

    at: float
    who: str
    action: Action
    namespace: str = ""
    id: str = ""
    version: str = ""
    detail: str = ""


class Published(NamedTuple):
    """What became of a release that was to be published."""

    state: str
    """`published`, or `unchanged` if the same was there; else `refused`."""
    latest: str = ""
    """The version that hangs on the board now."""
    refused: Rejection | None = None


class Decision(NamedTuple):
    """What an owner decides about a published item; None leaves it as it is."""

    visibility: Visibility | None = None
    owner: str | None = None
    """A subject, or `@namespace`."""
    deprecated: bool | None = None
    replacement: str | None = None


class Releases(Protocol):
    """Published items. Each change is one transaction, with its line in the audit log."""

    def publish(
        self, item: Item, target: Fingerprint | None, by: str, caller: Caller | None = None
    ) -> Published:
        """One more version of an item, all of it or nothing.

        The item hangs as its latest version has it (`store.versioning.hung`), so that an older
        number adds a version and changes nothing else. Whoever owns the item stays its author, and
        what was decided about it stays: its visibility, and that it is deprecated. A version that
        is there is refused if its content is another. None is ever dropped. With a caller, so is
        an item that is not his to change.
        """
        ...

    def yank(
        self,
        entry: Entry,
        number: str,
        *,
        yanked: bool,
        by: str,
        reason: str = "",
        becomes: Item | None,
        target: Fingerprint | None,
    ) -> bool:
        """Take a version back, or take that back; says whether it was otherwise before.

        `becomes` is the item in the version that is then the latest, or None if none is left: then
        the item is missing, and not found. Raises `ChangedMeanwhile` if another version would be
        the latest.
        """
        ...

    def decide(self, entry: Entry, decision: Decision, by: str) -> Entry | None:
        """Returns the item as it is then, or None if it is gone."""
        ...

    def count_download(self, item_id: ItemId, namespace: str, number: str) -> None:
        """One more; neither the item's time nor its ETag changes."""
        ...

    def note(self, line: AuditLine) -> None:
        """Write a line of its own, for what is decided outside of the board."""
        ...

    def audit(
        self,
        item_id: str | None = None,
        namespace: str | None = None,
        limit: int = 100,
        action: Action | None = None,
    ) -> Sequence[AuditLine]:
        """Newest first, of one item or of all, of one action or of all."""
        ...
