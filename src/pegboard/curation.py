"""What people decide about items, what became of items, and how items refer to one another."""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol

from pegboard.model import Entry, Fingerprint, ItemId, Kind


class Event(StrEnum):
    """What can happen to an item. That it came or got another text is nothing to remember."""

    MISSING = "missing"
    RETURNED = "returned"
    CHANGED = "changed"
    HELD = "held"
    APPROVED = "approved"
    DESCRIBED = "described"
    RESET = "reset"
    DEACTIVATED = "deactivated"
    ACTIVATED = "activated"
    PURGED = "purged"


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

    def describe(
        self, entry: Entry, text: str | None, by: str, target: Fingerprint | None
    ) -> Entry | None:
        """Give the item a description that syncs keep; without a text, the source's own again.

        Returns the item as it is then, or None if it is gone.
        """
        ...

    def deactivate(self, entry: Entry, by: str, reason: str) -> Entry | None:
        """Keep the item from being found, whatever syncs see; its content stays up to date."""
        ...

    def activate(self, entry: Entry, by: str, target: Fingerprint | None) -> Entry | None:
        """Take back that it was switched off. One that is missing or held back stays so."""
        ...

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
