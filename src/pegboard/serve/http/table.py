"""What an entry in the gateway's table of routes is made of."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Strict
from starlette.requests import Request
from starlette.responses import Response

from pegboard.app.pegboard import Pegboard
from pegboard.model.calls import Caller, Role
from pegboard.serve.http.shapes import Record
from pegboard.serve.threads import Threads

Whole = Annotated[int, Strict()]
Flag = Annotated[bool, Strict()]


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
    path: Mapping[str, str] = {}
    """What stands in the path for the names in braces, decoded."""
    route: "Route | None" = None


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
    answer: type | Record | Mapping[str, Any] | None = None
    """What is answered when it goes well: a type that `reply` is given, or its JSON Schema."""
    media_type: str = "application/json"
    statuses: tuple[int, ...] = (200,)
    """With which it is answered when it goes well."""
    group: str = "board"
    """The heading that it is under in the document."""
    problems: tuple[int, ...] = ()
    """Statuses of problems that are its own, beside those that every such request can meet."""
    headers: tuple[str, ...] = ()
    """Of the request, those that change the answer."""
