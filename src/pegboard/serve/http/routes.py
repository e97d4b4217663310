"""The gateway's table of routes, put together from those of each subject."""

from starlette.responses import Response

from pegboard.serve.http import (
    calling,
    changes,
    creating,
    editing,
    items,
    loose,
    myself,
    runtime,
    searching,
    sources,
    upkeep,
)
from pegboard.serve.http.replies import reply
from pegboard.serve.http.table import Asked, Route


async def alive(asked: Asked) -> Response:
    return reply({"status": "ok"})


HEALTH = {"type": "object", "properties": {"status": {"const": "ok"}}, "required": ["status"]}

ROUTES: tuple[Route, ...] = (
    Route(
        "GET",
        "/healthz",
        "alive",
        "Whether the process answers.",
        alive,
        role=None,
        answer=HEALTH,
        group="health",
    ),
    *searching.ROUTES,
    *items.ROUTES,
    *editing.ROUTES,
    *creating.ROUTES,
    *calling.ROUTES,
    *changes.ROUTES,
    *sources.ROUTES,
    *upkeep.ROUTES,
    *runtime.ROUTES,
    *loose.ROUTES,
    *myself.ROUTES,
)
