"""What is on the board, by category: first the categories, then their items page by page."""

from typing import NamedTuple

from starlette.responses import Response

from pegboard.model.items import Filters
from pegboard.serve.web.facets import tally
from pegboard.serve.web.listing import page_of
from pegboard.serve.web.paths import with_query
from pegboard.serve.web.visits import Visit, page


class Shelf(NamedTuple):
    """The items of one category, or of all."""

    title: str
    lines: tuple[object, ...]
    next: str
    """Where the next page is; empty on the last one."""
    first: str
    """Where the first page is; empty if this is it."""


def browse(visit: Visit) -> Response:
    wanted = visit.query.get("category")
    everything = "all" in visit.query
    if wanted is None and not everything:
        return page(visit, "categories.html", "categories", tally=tally(visit.board.census()))
    found = page_of(visit, Filters(categories=() if wanted is None else (wanted,)))
    here = [("category", wanted)] if wanted is not None else [("all", "yes")]
    onwards = with_query("/ui/categories", [*here, ("after", found.next)]) if found.next else ""
    back = with_query("/ui/categories", here) if "after" in visit.query else ""
    title = "Everything" if wanted is None else wanted or "Without a category"
    return page(
        visit, "category.html", "categories", shelf=Shelf(title, found.lines, onwards, back)
    )
