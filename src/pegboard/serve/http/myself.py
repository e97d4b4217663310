"""`/me`: whom the gateway takes a caller for, and which Pegboard it is."""

from typing import NamedTuple

from starlette.responses import Response

from pegboard import __version__
from pegboard.model.calls import Role
from pegboard.serve.http.replies import reply
from pegboard.serve.http.table import Asked, Route


class Myself(NamedTuple):
    subject: str
    role: Role
    namespaces: tuple[str, ...]
    """Of which the caller is a member; an admin of none has the whole board."""
    version: str
    """Of the gateway."""


async def get_myself(asked: Asked) -> Response:
    caller = asked.caller
    return reply(Myself(caller.subject, caller.role, caller.namespaces, __version__))


ROUTES = (
    Route(
        "GET",
        "/me",
        "get_myself",
        "Whom the gateway takes you for, and its version.",
        get_myself,
        answer=Myself,
        group="health",
    ),
)
