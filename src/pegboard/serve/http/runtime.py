"""`/runtime/tools.ts` and `/runtime/tools.py`: a module with exactly the tools that are wanted."""

import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated, Protocol

from pydantic import Field, Strict
from starlette.responses import Response

from pegboard.errors import UsageError
from pegboard.model.items import Filters, Item
from pegboard.serve.http.conditions import not_modified, quoted
from pegboard.serve.http.filters import Types, Value, only
from pegboard.serve.http.searching import LONGEST_QUERY
from pegboard.serve.http.site import site_of
from pegboard.serve.http.table import Asked, Respond, Route, Wanted
from pegboard.serve.typed.choosing import Wish, chosen
from pegboard.serve.typed.python import python_module
from pegboard.serve.typed.typescript import typescript_module

TYPESCRIPT = "text/typescript; charset=utf-8"
PYTHON = "text/x-python; charset=utf-8"
LIMIT = 200
MOST = 2_000
MOST_NAMES = 500
LONGEST_NAMES = 20_000


class RuntimeQuery(Wanted):
    filter: Annotated[
        tuple[Annotated[str, Field(max_length=LONGEST_NAMES)], ...],
        Field(
            max_length=MOST_NAMES,
            description="These tools: ids, `namespace/id`, `category__name` or names, with commas "
            "between them.",
        ),
    ] = ()
    query: Annotated[
        str, Field(max_length=LONGEST_QUERY, description="Those that a search for this finds.")
    ] = ""
    category: Annotated[tuple[Value, ...], only("in this category")] = ()
    tag: Annotated[tuple[Value, ...], only("with this tag")] = ()
    type: Annotated[tuple[Types, ...], only("of this type")] = ()
    source: Annotated[tuple[Value, ...], only("from here: mcptools, gentools, ...")] = ()
    namespace: Annotated[tuple[Value, ...], only("in this namespace")] = ()
    limit: Annotated[
        int, Strict(), Field(ge=1, le=MOST, description="How many at most, if they are not named.")
    ] = LIMIT

    def wish(self) -> Wish:
        filters = Filters(
            categories=self.category,
            tags=self.tag,
            tool_types=self.type,
            sources=self.source,
            namespaces=self.namespace,
        )
        if self.filter and (self.query or filters != Filters()):
            raise UsageError(
                "filter names the tools, and something else narrows the choice",
                "leave out filter, or everything but filter",
            )
        count = sum(each.count(",") + 1 for each in self.filter)
        if count > MOST_NAMES:
            raise UsageError(f"filter has {count:,} names; at most {MOST_NAMES} are allowed")
        return Wish(self.filter, self.query, filters, self.limit)


class Make(Protocol):
    def __call__(self, items: Sequence[Item], gateway: str, *, note: str = "") -> str: ...


def module(make: Make, media_type: str) -> Respond:
    async def respond(asked: Asked) -> Response:
        return await asked.threads.run(partial(_answered, asked, make, media_type))

    return respond


def _answered(asked: Asked, make: Make, media_type: str) -> Response:
    found = chosen(asked.board, asked.query.wish())
    address = site_of(asked.board.settings.serve).lasting(asked.request.scope)
    text = make(found.items, address, note=found.note).encode("utf-8", "replace")
    etag = hashlib.sha256(text).hexdigest()[:32]
    if not_modified(asked.request, etag):
        return Response(status_code=304, headers=quoted(etag))
    return Response(text, headers=quoted(etag), media_type=media_type)


def _route(name: str, operation: str, about: str, make: Callable[..., str], media: str) -> Route:
    return Route(
        "GET",
        f"/runtime/{name}",
        operation,
        about,
        module(make, media),
        query=RuntimeQuery,
        answer={"type": "string"},
        media_type=media,
        statuses=(200, 304),
        headers=("If-None-Match",),
        group="runtime",
        problems=(404, 409),
    )


ROUTES = (
    _route(
        "tools.ts",
        "typescript_module",
        "A module in TypeScript, to call tools with.",
        typescript_module,
        TYPESCRIPT,
    ),
    _route(
        "tools.py",
        "python_module",
        "A module in Python, to call tools with.",
        python_module,
        PYTHON,
    ),
)
