"""What a store promises about what people decide, and about history and links."""

from collections.abc import Sequence
from typing import Protocol

from pegboard.model.curation import Edit, Happening, LooseLink, Tie
from pegboard.model.items import Entry, Fingerprint


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
