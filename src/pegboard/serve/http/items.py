"""Items of every kind: in a list, one by one, and what belongs to each.

Whatever can be asked of `/items/{id}` can be asked of `/tools/{id}`, where only tools are.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated, NamedTuple

from pydantic import Field
from starlette.responses import Response

from pegboard.board.curate.editing import etag
from pegboard.errors import ItemNotFound
from pegboard.model.curation import Happening, Tie
from pegboard.model.items import Entry, Kind
from pegboard.model.runs import Run
from pegboard.serve.http.conditions import not_modified, quoted
from pegboard.serve.http.filters import ItemFilters, ToolFilters
from pegboard.serve.http.paging import (
    LISTED,
    After,
    Limit,
    link_to_next,
    mark_of,
    place_of,
)
from pegboard.serve.http.replies import reply
from pegboard.serve.http.table import Asked, Flag, Respond, Route, Wanted
from pegboard.serve.http.telling import ITEM, Line, line, shown

GROUP = "items"


class Page(NamedTuple):
    items: Sequence[Line]
    next: str | None


class RunList(NamedTuple):
    runs: Sequence[Run]


class History(NamedTuple):
    history: Sequence[Happening]


class Links(NamedTuple):
    links: Sequence[Tie]


class ToolsQuery(ToolFilters):
    limit: Limit = LISTED
    after: After = ""


class ItemsQuery(ItemFilters):
    limit: Limit = LISTED
    after: After = ""


class ItemQuery(Wanted):
    files: Annotated[Flag, Field(description="Tell also what its files say.")] = False


class RunsQuery(Wanted):
    limit: Limit = 20


def chosen(asked: Asked, *, files: bool = False) -> Entry:
    """The item that the path names. Raises `ItemNotFound` as if what is hidden were not there."""
    entry = asked.board.curate.chosen(asked.path["id"], files=files)
    under_tools = asked.route is not None and asked.route.path.startswith("/tools/")
    if under_tools and entry.item.kind is not Kind.TOOL:
        raise ItemNotFound(
            f"{entry.item.id} is no tool but of kind {entry.item.kind}",
            "it is under /items instead of /tools",
        )
    return entry


def in_thread(answer: Callable[[Asked], Response]) -> Respond:
    """Board work, and the writing of its answer, away from the event loop."""

    async def respond(asked: Asked) -> Response:
        return await asked.threads.run(partial(answer, asked))

    return respond


def list_items(asked: Asked) -> Response:
    said: ToolsQuery | ItemsQuery = asked.query
    after = place_of(said.after)
    found = asked.board.filtered(said.filters(), after=after, limit=said.limit + 1)
    page = found[: said.limit]
    mark = mark_of(page[-1]) if len(found) > said.limit else None
    return reply(Page([*map(line, page)], mark), headers=link_to_next(asked.request, mark))


def get_item(asked: Asked) -> Response:
    if "if-none-match" in asked.request.headers:
        now = etag(chosen(asked))
        if not_modified(asked.request, now):
            return Response(status_code=304, headers=quoted(now))
    return tell(asked, chosen(asked, files=True), contents=asked.query.files)


def tell(asked: Asked, entry: Entry, *, contents: bool = False) -> Response:
    """Everything about an item, as `pegboard show --json` tells it."""
    _, ties, ran = asked.board.curate.about(entry)
    return reply(shown(entry, ties, ran, contents=contents), headers=quoted(etag(entry)))


def get_runs(asked: Asked) -> Response:
    item = chosen(asked).item if "id" in asked.path else None
    return reply(RunList(asked.board.runs(item, asked.query.limit)))


def get_history(asked: Asked) -> Response:
    """Also of what is gone, and so whatever its kind was."""
    return reply(History(asked.board.curate.history(asked.path["id"])))


def get_links(asked: Asked) -> Response:
    return reply(Links(asked.board.curate.ties(chosen(asked))))


def both(route: Route) -> tuple[Route, Route]:
    """A route for any item, and before it the same for tools."""
    path, name = route.path.replace("/items/", "/tools/"), route.name.replace("_item", "_tool")
    return route._replace(path=path, name=name), route


ROUTES = (
    Route(
        "GET",
        "/tools",
        "list_tools",
        "Tools in the order of their ids, page by page.",
        in_thread(list_items),
        query=ToolsQuery,
        answer=Page,
        group=GROUP,
    ),
    Route(
        "GET",
        "/items",
        "list_items",
        "Items of all kinds in the order of their ids, page by page.",
        in_thread(list_items),
        query=ItemsQuery,
        answer=Page,
        group=GROUP,
    ),
    *both(
        Route(
            "GET",
            "/items/{id}",
            "get_item",
            "Everything about one item.",
            in_thread(get_item),
            query=ItemQuery,
            answer=ITEM,
            statuses=(200, 304),
            headers=("If-None-Match",),
            group=GROUP,
            problems=(409,),
        )
    ),
    *both(
        Route(
            "GET",
            "/items/{id}/runs",
            "get_item_runs",
            "How calls of it ended, newest first.",
            in_thread(get_runs),
            query=RunsQuery,
            answer=RunList,
            group=GROUP,
            problems=(409,),
        )
    ),
    *both(
        Route(
            "GET",
            "/items/{id}/history",
            "get_item_history",
            "What became of it, newest first; by its whole id also of what is gone.",
            in_thread(get_history),
            answer=History,
            group=GROUP,
            problems=(409,),
        )
    ),
    *both(
        Route(
            "GET",
            "/items/{id}/links",
            "get_item_links",
            "What it refers to, and what refers to it.",
            in_thread(get_links),
            answer=Links,
            group=GROUP,
            problems=(409,),
        )
    ),
    Route(
        "GET",
        "/runs",
        "list_runs",
        "How calls ended, of all items, newest first.",
        in_thread(get_runs),
        query=RunsQuery,
        answer=RunList,
        group=GROUP,
    ),
)
