"""Items in a list, page by page: everything that filters leave, in the order of ids."""

from pegboard.board.bounds import bounded
from pegboard.model import Entry, Filters
from pegboard.ports import Store


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
