"""How the board is, and what keeps it well: status, census, embeddings to be made again."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Annotated, NamedTuple

from pydantic import Field
from starlette.responses import Response

from pegboard.app.pegboard import Pegboard
from pegboard.board.maintain.status import Status
from pegboard.gate.characters import visible_rejections
from pegboard.model.calls import Caller, CensusLine, Role
from pegboard.model.items import EmbeddingCounts, Rejection
from pegboard.serve.http.editing import to_decide
from pegboard.serve.http.gateway import Gateway
from pegboard.serve.http.items import both, in_thread
from pegboard.serve.http.replies import reply
from pegboard.serve.http.rights import need_everywhere
from pegboard.serve.http.table import Asked, Route, Wanted

GROUP = "upkeep"
QUEUE_SECONDS = 5.0
"""So long a request waits for everything to be queued; it goes on by itself then."""


class Queued(NamedTuple):
    queued: int


class Queueing(NamedTuple):
    """What was queued, and how far the items are on the way to their vectors."""

    running: bool
    """Whether more is still being queued."""
    queued: int | None
    """None if that is not counted, or not known yet."""
    waiting: int
    embeddings: EmbeddingCounts


class Census(NamedTuple):
    categories: Sequence[CensusLine]
    total: int


class Rejections(NamedTuple):
    rejections: Sequence[Rejection]


class RejectionsQuery(Wanted):
    source: Annotated[str | None, Field(max_length=200, description="Only of this source.")] = None


def get_status(asked: Asked) -> Response:
    found = asked.board.status()
    if not asked.caller.everywhere:  # sizes and places tell of what others have
        found = found._replace(facts={})
    return reply(found)


def get_categories(asked: Asked) -> Response:
    lines = asked.board.census()
    return reply(Census(lines, sum(each.items for each in lines)))


def get_rejections(asked: Asked) -> Response:
    found = asked.board.curate.rejections(asked.query.source)
    return reply(Rejections(visible_rejections(found)))


def refresh_item(asked: Asked) -> Response:
    return reply(Queued(asked.board.refresh(to_decide(asked))), 202)


def retry_item(asked: Asked) -> Response:
    return reply(Queued(asked.board.retry(to_decide(asked))), 202)


def _backfill(board: Pegboard) -> None:
    """What is queued here is embedded by whoever keeps the board, or by a worker."""
    board.backfill(embed=False)


QUEUEING: Mapping[str, Callable[[Pegboard], int | None]] = {
    "refresh": lambda board: board.refresh(None),
    "retry": lambda board: board.retry(None),
    "backfill": _backfill,
}
"""What concerns the vectors of the whole board, for programs and for the page."""


def begin(gateway: Gateway, caller: Caller, name: str) -> "asyncio.Task[int | None]":
    """One of these, unless it is going on already."""
    need_everywhere(caller)
    return gateway.jobs.begin(name, partial(QUEUEING[name], gateway.board_for(caller)))


async def queue_all(asked: Asked) -> Response:
    """Begin it, and say how far things are after a little while."""
    name = asked.route.name if asked.route else ""
    task = begin(asked.request.app.state.gateway, asked.caller, name)
    done, _ = await asyncio.wait([task], timeout=QUEUE_SECONDS)
    queued = task.result() if done else None
    return await asked.threads.run(partial(_counted, asked.board, queued, running=not done))


def _counted(board: Pegboard, queued: int | None, *, running: bool) -> Response:
    found = board.status()
    return reply(Queueing(running, queued, found.waiting, found.embeddings), 202)


ROUTES = (
    Route(
        "GET",
        "/status",
        "status",
        "What is on the board, how far its vectors are, and where it came from.",
        in_thread(get_status),
        answer=Status,
        group=GROUP,
    ),
    Route(
        "GET",
        "/categories",
        "list_categories",
        "How many items each category of each source has.",
        in_thread(get_categories),
        answer=Census,
        group=GROUP,
    ),
    Route(
        "GET",
        "/rejections",
        "list_rejections",
        "What the gate refused, and why.",
        in_thread(get_rejections),
        query=RejectionsQuery,
        answer=Rejections,
        group=GROUP,
    ),
    *both(
        Route(
            "POST",
            "/items/{id}/refresh",
            "refresh_item",
            "Embed it anew, needed or not.",
            in_thread(refresh_item),
            role=Role.AUTHOR,
            answer=Queued,
            statuses=(202,),
            group=GROUP,
            problems=(409,),
        )
    ),
    *both(
        Route(
            "POST",
            "/items/{id}/retry",
            "retry_item",
            "If its embedding failed, try it again.",
            in_thread(retry_item),
            role=Role.AUTHOR,
            answer=Queued,
            statuses=(202,),
            group=GROUP,
            problems=(409,),
        )
    ),
    *(
        Route(
            "POST",
            f"/{name}",
            name,
            about,
            queue_all,
            role=Role.ADMIN,
            answer=Queueing,
            statuses=(202,),
            group=GROUP,
        )
        for name, about in (
            ("refresh", "Embed everything anew."),
            ("retry", "Try every embedding again that failed."),
            ("backfill", "Queue whatever has no vector of the present model."),
        )
    ),
)
