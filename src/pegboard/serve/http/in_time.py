"""A search that must be answered in time, with what there is by then."""

import asyncio
from typing import Protocol

from starlette.responses import Response

from pegboard.board.find.patience import Patience
from pegboard.errors import PegboardError, TookTooLong
from pegboard.formats.plain import plain
from pegboard.model.answers import Answer
from pegboard.model.items import Leg
from pegboard.serve.http.problems import status_of, told
from pegboard.serve.http.replies import reply
from pegboard.serve.http.table import Asked

GRACE_SECONDS = 0.5
"""For a search that ends by itself when its time is up."""
SO_FAR_SECONDS = 1.0
"""For what was found so far to be looked up, where the search itself is stuck."""


class Search(Protocol):
    """`Pegboard.search` with all but this filled in."""

    def __call__(self, *, patience: Patience) -> Answer: ...


async def searched(asked: Asked, search: Search, *, slow: bool = False) -> Response:
    """The answer as JSON, or a problem that has as much of it as there was in time.

    It is `slow` if servers are asked first.
    """
    patience = Patience(asked.board.settings.serve.search_seconds)
    run = asked.threads.run_slow if slow else asked.threads.run_search

    def found() -> Response:
        return _told(search(patience=patience), patience)

    try:
        async with asyncio.timeout(patience.seconds + GRACE_SECONDS):
            return await run(found)
    except TimeoutError:
        return await _told_so_far(asked, patience)


async def _told_so_far(asked: Asked, patience: Patience) -> Response:
    answer = Answer(hits=(), late=(Leg.BM25, Leg.VECTOR))
    if (so_far := patience.so_far) is not None:
        try:
            async with asyncio.timeout(SO_FAR_SECONDS):
                answer = await asked.threads.run_slow(so_far)
        except (TimeoutError, PegboardError):
            pass  # the same holds it up: there is nothing to tell
    late = answer.late or (Leg.BM25, Leg.VECTOR)
    return _told(answer._replace(late=late), patience)


def _told(answer: Answer, patience: Patience) -> Response:
    if not answer.late:
        return reply(answer.as_document())
    error = TookTooLong(
        f"not everything was looked up within {patience.seconds:g} s: {', '.join(answer.late)}",
        "`answer` has what the others found; see what is slow in /status",
    )
    return told(
        status_of(error),
        error.code,
        error.message,
        error.hint,
        more={"answer": plain(answer.as_document())},
    )
