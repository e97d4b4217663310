"""What an entry in the gateway's table of routes is made of."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict
from starlette.requests import Request
from starlette.responses import Response

from pegboard.app import Pegboard
from pegboard.calls import Caller, Role
from pegboard.serve.table import Threads


class Wanted(BaseModel):
    """What a request says, in its query or its body; what is not known is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Asked(NamedTuple):
    """One request, checked; the board is as whoever asks may see it."""

    request: Request
    board: Pegboard
    caller: Caller
    threads: Threads
    query: Any = None
    """As the route's model of it says."""
    body: Any = None


Respond = Callable[[Asked], Awaitable[Response]]


class Route(NamedTuple):
    """A request that is answered, and all that the OpenAPI document says of it."""

    method: str
    path: str
    name: str
    """Its operationId."""
    about: str
    respond: Respond
    role: Role | None = Role.READER
    """What whoever asks must be at least; None for anybody, without a token."""
    query: type[Wanted] | None = None
    body: type[Wanted] | None = None
    answer: Mapping[str, Any] | None = None
    """JSON Schema of what is answered when it goes well."""
    media_type: str = "application/json"
    statuses: tuple[int, ...] = (200,)
    """With which it is answered when it goes well."""
