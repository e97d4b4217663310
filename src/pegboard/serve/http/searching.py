"""`/search`: a question in words, answered as the commands answer it."""

from functools import partial
from typing import Annotated

from pydantic import Field
from starlette.responses import Response

from pegboard.model import Filters
from pegboard.serve.http.replies import reply
from pegboard.serve.http.table import Asked, Wanted

LIMIT = 20


class SearchQuery(Wanted):
    q: Annotated[str, Field(min_length=1, max_length=2_000, description="What it should do.")]
    limit: Annotated[int, Field(ge=1, le=1_000, description="How many hits.")] = LIMIT
    category: tuple[str, ...] = ()


async def search(asked: Asked) -> Response:
    said: SearchQuery = asked.query
    work = partial(
        asked.board.search,
        said.q,
        limit=said.limit,
        filters=Filters(categories=said.category),
    )
    return reply(await asked.threads.run(work))
