"""What is on a board, as far as whoever looks may see it: one item, lists of them, their runs."""

from collections.abc import Iterable, Sequence

from pegboard.board.curate.editing import Curating
from pegboard.board.describe import listing
from pegboard.board.describe.bounds import recent_runs
from pegboard.board.describe.by_name import describe
from pegboard.model.answers import Hit
from pegboard.model.calls import CensusLine
from pegboard.model.content import VersionLine
from pegboard.model.items import Entry, Filters, Item
from pegboard.model.releases import Offered, Wanted
from pegboard.model.runs import Run
from pegboard.ports.store import Store


class Looking:
    store: Store
    within: Filters | None
    curate: Curating

    def show(self, name: str) -> Entry:
        return describe(self.store, name, self.within)

    def findable(self, name: str) -> Entry:
        """As `show`, but only what a search could find, and without its files."""
        return describe(self.store, name, self.within or Filters(), files=False)

    def behind(self, hits: Iterable[Hit]) -> list[Entry]:
        """The items that were found, without their files; what is gone meanwhile is left out."""
        found = (self.store.items.get(hit.id, hit.namespace, files=False) for hit in hits)
        return [entry for entry in found if entry]

    def census(self) -> list[CensusLine]:
        """How many items each category of each source has."""
        return self.store.items.census(self.within.namespaces if self.within else ())

    def listed(
        self, categories: Sequence[str] = (), *, limit: int = 100, after: Entry | None = None
    ) -> list[Entry]:
        """Items of these categories, or of all, in the order of their ids."""
        namespaces = self.within.namespaces if self.within else ()
        begin = (after.item.id, after.item.namespace) if after else ("", "")
        return self.store.items.listed(categories, namespaces, begin, limit)

    def filtered(
        self, filters: Filters, *, after: tuple[str, str] = ("", ""), limit: int
    ) -> list[Entry]:
        """What the filters leave, in the order of ids, from the one after this id and namespace."""
        return listing.listed(self.store, filters, self.within, after=after, limit=limit)

    def offered(self, wanted: Wanted) -> Offered:
        """What is published, page by page."""
        return listing.offered(self.store, wanted, self.within)

    def versions(self, item: Item) -> list[VersionLine]:
        """Those that are kept of it, newest first."""
        return self.store.items.versions(item.id, item.namespace)

    def runs(self, of: str | Item | None = None, limit: int = 20) -> Sequence[Run]:
        """How calls ended, the newest first, of one item or of all."""
        if isinstance(of, str):
            of = (self.show if self.within else self.curate.chosen)(of).item
        return recent_runs(self.store, of, self.within, limit)
