"""What people decide about items, what became of items, and how items refer to one another."""

import hashlib
import json
from collections.abc import Sequence
from enum import Enum, StrEnum
from typing import Final, NamedTuple, Protocol

from pegboard.model import Entry, Fingerprint, ItemId, Kind


class Event(StrEnum):
    """What can happen to an item. That it came or got another text is nothing to remember."""

    MISSING = "missing"
    RETURNED = "returned"
    CHANGED = "changed"
    HELD = "held"
    APPROVED = "approved"
    DESCRIBED = "described"
    TAGGED = "tagged"
    RESET = "reset"
    DEACTIVATED = "deactivated"
    ACTIVATED = "activated"
    PURGED = "purged"
    REMOVED = "removed"


class Keep(Enum):
    """What an edit says of a field that is to stay as it is; None says something else."""

    KEEP = "keep"


KEEP: Final = Keep.KEEP


class Edit(NamedTuple):
    """What somebody decides about an item, all of it or nothing.

    None takes back what was decided: the source's own description and tags, and active unless
    its source or a policy says otherwise.
    """

    description: str | Keep | None = KEEP
    tags: tuple[str, ...] | Keep | None = KEEP
    active: bool | Keep | None = KEEP
    reason: str = ""
    """Why it is switched off, if it is."""


class Happening(NamedTuple):
    """An event of an item, which may be gone since."""

    namespace: str
    id: ItemId
    at: float
    event: Event
    by: str = ""
    """Who decided it, where a person did."""
    detail: str = ""


class Tie(NamedTuple):
    """A link as seen from one of its ends."""

    relation: str
    outward: bool
    """Whether the item itself has the link; else the other one does."""
    target: str
    """What the link says, as it is written."""
    id: ItemId | None = None
    """The other end; None if the link leads to no active item."""
    namespace: str = ""
    name: str = ""
    kind: Kind | None = None


class LooseLink(NamedTuple):
    """A link of an active item that leads to no active one."""

    source: str
    namespace: str
    id: ItemId
    relation: str
    target: str


class Curation(Protocol):
    """Each decision is one transaction, made from what is stored when it begins."""

    def edit(
        self,
        entry: Entry,
        edit: Edit,
        by: str,
        target: Fingerprint | None,
        expected: str | None = None,
    ) -> Entry | None:
        """Several decisions as one. Returns the item as it is then, or None if it is gone.

        Raises `ChangedMeanwhile` if an `etag` is expected and the item's is another.
        """
        ...

    def remove(self, entry: Entry, by: str, expected: str | None = None) -> bool:
        """Remove the item for good, with all that belongs to it; False if it is gone.

        It is gone as well if another source has taken its place. Its history and its runs stay.
        """
        ...

    def describe(
        self, entry: Entry, text: str | None, by: str, target: Fingerprint | None
    ) -> Entry | None:
        """Give the item a description that syncs keep; without a text, the source's own again."""
        return self.edit(entry, Edit(description=text), by, target)

    def deactivate(self, entry: Entry, by: str, reason: str) -> Entry | None:
        """Keep the item from being found, whatever syncs see; its content stays up to date."""
        return self.edit(entry, Edit(active=False, reason=reason), by, None)

    def activate(self, entry: Entry, by: str, target: Fingerprint | None) -> Entry | None:
        """Take back that it was switched off. One that is missing or held back stays so."""
        return self.edit(entry, Edit(active=True), by, target)

    def resolve_links(self) -> int:
        """Find the item that each link means, by what is on the board now; how many are others.

        A link means the active item with that id, else the one with that `category__name`, else
        the one with that name or, between knowledge entries, with that last part of the id. Items
        of the same namespace come first, then those of `public`; other namespaces are not looked
        at. Among those, tools come first for what is used and the same kind for everything else,
        then items of the same source. If that leaves several, the link leads nowhere.
        """
        ...

    def ties(self, key: int) -> list[Tie]:
        """The links of an item, and those of active items that lead to it."""
        ...

    def loose_links(self, source: str | None = None) -> list[LooseLink]: ...

    def history(self, item_id: str, namespace: str | None = None) -> Sequence[Happening]:
        """Newest first, also of what was removed; the newest `MOST_EVENTS` of each item."""
        ...


MOST_EVENTS = 200

_DECIDED = (
    *("content_hash", "active", "drift", "imported_description", "imported_tags"),
    *("manual_override", "override_at", "override_by"),
    *("tags_override", "tags_override_at", "tags_override_by"),
    *("off_at", "off_by", "off_reason"),
)


def etag(entry: Entry) -> str:
    """A mark that changes with whatever a person or a source decides about an item.

    Embedding, figures and runs leave it alone. It is the same however the entry was read: what
    its version is made of is in the content hash.
    """
    item = entry.item
    decided = [item.namespace, item.id, item.origin, *(getattr(entry, each) for each in _DECIDED)]
    canonical = json.dumps(decided, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:32]
