"""`/search`: a question in words, answered as the commands answer it."""

from functools import partial
from typing import Annotated, Literal

from pydantic import Field, Strict
from starlette.responses import Response

from pegboard.model.answers import Answer
from pegboard.serve.http.filters import ItemFilters
from pegboard.serve.http.in_time import searched
from pegboard.serve.http.table import Asked, Flag, Route, Whole

LIMIT = 20
LONGEST_QUERY = 2_000


class SearchQuery(ItemFilters):
    query: Annotated[
        str,
        Field(min_length=1, max_length=LONGEST_QUERY, description="What it should do."),
    ]
    mode: Annotated[
        Literal["hybrid", "bm25", "vector", "fuzzy"] | None,
        Field(description="How to look. Default: as the gateway is set."),
    ] = None
    limit: Annotated[Whole, Field(ge=1, le=1_000, description="How many hits.")] = LIMIT
    threshold: Annotated[
        float | None,
        Strict(),
        Field(
            ge=0,
            le=1,
            description="Least fit of the best hit, 0 to 1; below it, no tool fits. "
            "0 shows everything.",
        ),
    ] = None
    diverse: Annotated[Flag, Field(description="One of several that are much alike.")] = False
    explain: Annotated[Flag, Field(description="Tell how each item came by its score.")] = False
    executable: Annotated[Flag, Field(description="Only tools that can be called now.")] = False
    split: Annotated[
        Flag,
        Field(description="Answer each request of a question that has several by itself."),
    ] = True


async def search(asked: Asked) -> Response:
    said: SearchQuery = asked.body or asked.query
    work = partial(
        asked.board.search,
        said.query,
        mode=said.mode,
        limit=said.limit,
        filters=said.filters(),
        threshold=said.threshold,
        diverse=said.diverse,
        explain=said.explain,
        executable=said.executable,
        split=said.split,
    )
    return await searched(asked, work, slow=said.executable)


ROUTES = (
    Route(
        "GET",
        "/search",
        "search",
        "Find items, in your own words.",
        search,
        query=SearchQuery,
        answer=Answer,
        group="search",
        problems=(504,),
    ),
    Route(
        "POST",
        "/search",
        "search_by_body",
        "Find items, with a long question or many filters.",
        search,
        body=SearchQuery,
        answer=Answer,
        group="search",
        problems=(504,),
    ),
)
