"""What a store promises about what is published."""

from collections.abc import Sequence
from typing import Protocol

from pegboard.model.calls import Caller
from pegboard.model.items import Entry, Fingerprint, Item, ItemId
from pegboard.model.releases import Action, AuditLine, Decision, Offered, Published, Wanted


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

    def offered(self, wanted: Wanted) -> Offered:
        """What is published and can be found, with what else could be asked for."""
        ...
