"""`/mcp`: the board as an MCP server, over streamable HTTP, in both eras of the protocol.

Each caller has a face of its own, made from the board as that caller sees it, and sessions of its
own: the id of another caller's session is as unknown as one that was never given.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Iterable
from http import HTTPMethod

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from pegboard.errors import TooMany
from pegboard.model.calls import Caller
from pegboard.serve.http.gateway import Gateway
from pegboard.serve.http.lasting import Lasting
from pegboard.serve.http.metrics import Family, gauge
from pegboard.serve.http.resuming import Resumable
from pegboard.serve.http.table import Asked, Route
from pegboard.serve.mcp.face import Face, make_face

MOST_CALLERS = 200
"""That have a face at a time; the one that was idle longest goes for the next."""
MOST_SESSIONS = 64
MOST_IN_HAND = 256
"""Of one caller, streams included."""
IDLE_SECONDS = 1_800.0
"""After which a session that nobody uses has ended."""


class Sessions(StreamableHTTPSessionManager):
    """The sessions of one caller."""

    def __init__(self, face: Face, largest: int) -> None:
        super().__init__(
            face.server,
            session_idle_timeout=IDLE_SECONDS,
            max_request_body_size=largest,
            max_sessions=MOST_SESSIONS,
        )

    @property
    def event_store(self) -> Resumable:
        """Another one for each session that begins: the streams of all have the same names."""
        return Resumable()

    @event_store.setter
    def event_store(self, _given: object) -> None:
        """There is nothing to give."""

    @property
    def open(self) -> int:
        return len(self._server_instances)


class Hosted:
    """What one caller is served with, for as long as its task runs."""

    def __init__(self, face: Face, largest: int) -> None:
        self.face = face
        self.sessions = Sessions(face, largest)
        self.in_hand = 0
        self._ready = asyncio.Event()
        self._task = asyncio.create_task(self._keep())

    @property
    def idle(self) -> bool:
        return not self.in_hand and not self.sessions.open

    async def _keep(self) -> None:
        """The sessions have to be opened and closed in one and the same task."""
        try:
            async with self.sessions.run():
                self._ready.set()
                await asyncio.Event().wait()
        finally:
            self._ready.set()  # nobody is to wait for what has ended

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._ready.wait()
        await self.sessions.handle_request(scope, receive, send)

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.wait([self._task])


class Mcp:
    """The faces of all callers."""

    def __init__(self, gateway: Gateway) -> None:
        self.gateway = gateway
        self._hosted: OrderedDict[Caller, Hosted] = OrderedDict()
        self._ending: set[asyncio.Task[None]] = set()
        gateway.news.tell(self._board_changed)
        gateway.measures.also(self._families)
        gateway.at_stop.append(self.end_listening)
        gateway.at_end.append(self.close)

    def hosted(self, caller: Caller) -> Hosted:
        """Raises `TooMany` if there are too many others, or too much of this one."""
        found = self._hosted.pop(caller, None) or self._made(caller)
        self._hosted[caller] = found
        if found.in_hand >= MOST_IN_HAND:
            raise TooMany(f"{found.in_hand} requests to /mcp are open for you already")
        return found

    def _made(self, caller: Caller) -> Hosted:
        if len(self._hosted) >= MOST_CALLERS:
            idle = next((each for each, its in self._hosted.items() if its.idle), None)
            if idle is None:
                raise TooMany(
                    f"{MOST_CALLERS} others are connected over MCP", "try again in a while"
                )
            ending = asyncio.create_task(self._hosted.pop(idle).close())
            self._ending.add(ending)
            ending.add_done_callback(self._ending.discard)
        face = make_face(self.gateway.board_for(caller), threads=self.gateway.threads)
        return Hosted(face, self.gateway.board.settings.serve.request_bytes)

    def _board_changed(self) -> None:
        """In any thread. Each face tells its clients only if what they see has changed."""
        for each in list(self._hosted.values()):
            each.face.board_changed()

    def end_listening(self) -> None:
        """Let those go who only listen; whatever else is in hand is finished."""
        for each in self._hosted.values():
            each.face.end_listening()

    async def close(self) -> None:
        self.gateway.news.forget(self._board_changed)
        while self._hosted:
            await self._hosted.popitem()[1].close()

    def _families(self) -> Iterable[Family]:
        hosted = list(self._hosted.values())
        sessions = sum(each.sessions.open for each in hosted)
        yield gauge("pegboard_mcp_sessions", "Sessions of MCP clients that are open.", sessions)
        in_hand = sum(each.in_hand for each in hosted)
        yield gauge("pegboard_mcp_in_hand", "Requests to /mcp, with open streams.", in_hand)


def mcp_of(request: HTTPConnection) -> Mcp:
    """That of the application that was asked; made when it is first needed."""
    state = request.app.state
    if not hasattr(state, "mcp"):
        state.mcp = Mcp(state.gateway)
    found: Mcp = state.mcp
    return found


async def speak(asked: Asked) -> Response:
    mcp = mcp_of(asked.request)
    return Speaking(mcp, mcp.hosted(asked.caller), asked.caller)


class Speaking(Response):
    """Whatever the protocol's library answers. A call in hand is finished when we stop."""

    def __init__(self, mcp: Mcp, hosted: Hosted, caller: Caller) -> None:
        super().__init__()
        self._mcp = mcp
        self._hosted = hosted
        self._caller = caller

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        listens = scope["method"] == "GET"
        lasting = Lasting(self._hosted.serve, self._mcp.gateway, self._caller, ends_at_stop=listens)
        self._hosted.in_hand += 1
        try:
            await lasting(scope, receive, send)
        finally:
            self._hosted.in_hand -= 1


ABOUT = "Speak MCP over streamable HTTP, in either era of the protocol."
STREAM = Route(
    "GET",
    "/mcp",
    "mcp_listen",
    ABOUT,
    speak,
    answer={"type": "string"},
    media_type="text/event-stream",
    group="mcp",
)
ROUTES = (
    STREAM._replace(
        method="POST",
        name="mcp",
        answer={"type": "object"},
        media_type="application/json",
        statuses=(200, 202),
    ),
    STREAM,
    STREAM._replace(method=HTTPMethod.DELETE, name="mcp_end", answer=None),
)
