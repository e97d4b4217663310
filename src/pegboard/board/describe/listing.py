"""Items in a list, page by page: everything that filters leave, in the order of ids."""

from pegboard.board.describe.bounds import NO_NAMESPACE, bounded
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
    allowed = within.namespaces if within else ()
    if allowed:
        both = tuple(each for each in wanted.namespaces or allowed if each in allowed)
        wanted = wanted._replace(namespaces=both or NO_NAMESPACE)
    return store.releases.offered(wanted)
