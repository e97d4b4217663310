"""Items in a list, page by page: everything that filters leave, in the order of ids."""

from pegboard.board.describe.bounds import bounded, seen_namespaces
from pegboard.model.items import Entry, Filters
from pegboard.model.releases import Offered, Wanted
from pegboard.ports.store import Store


def listed(
    store: Store,
    filters: Filters,
    within: Filters | None,
    *,
    after: tuple[str, str] = ("", ""),
    limit: int,
) -> list[Entry]:
    """So many, from the one after the id and namespace in `after`, within what may be seen."""
    return store.index.listed(bounded(store, filters, within), after, limit)


def offered(store: Store, wanted: Wanted, within: Filters | None) -> Offered:
    """What is published, within what may be seen."""
    seen = seen_namespaces(wanted.namespaces, within)
    return store.releases.offered(wanted._replace(namespaces=seen))
