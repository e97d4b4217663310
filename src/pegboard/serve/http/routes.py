"""The gateway's table of routes."""

from starlette.responses import Response

from pegboard.serve.http import searching
from pegboard.serve.http.replies import reply
from pegboard.serve.http.table import Asked, Route


async def alive(asked: Asked) -> Response:
    return reply({"status": "ok"})


ROUTES: tuple[Route, ...] = (
    Route("GET", "/healthz", "alive", "Whether the process answers.", alive, role=None),
    Route(
        "GET",
        "/search",
        "search",
        "Find items, in your own words.",
        searching.search,
        query=searching.SearchQuery,
    ),
)
