"""How much one request may be, how long it may take, and how many are worked on at a time.

A body is read to its end before anything is done with it: whoever sends slowly keeps a connection
busy and nothing else.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pegboard.errors import PegboardError, TookTooLong, TooLarge
from pegboard.serve.http.problems import Declined, problem
from pegboard.serve.http.rates import RETRY_AFTER

MOST_HEADERS = 100
LONGEST_HEADERS = 32 << 10
"""Bytes of all headers together. What comes before them, the path and its query, has as much."""
BODY_SECONDS = 30.0
ANSWER_SECONDS = 60.0
"""Nothing but a call or a stream takes longer, unless something is stuck."""
AFTER_SEARCH_SECONDS = 5.0
"""A search ends by itself in time; so much later it is taken for stuck."""
BUNDLE_SECONDS = 300.0
"""For a bundle to be sent, either way."""
BODIES = 16
"""Room for so many bodies of the largest size while they are being read."""
BUNDLES = 4
"""The same for bundles; so many are published at a time, and twice as many handed out."""
WAIT = 1
"""Seconds after which to try again, where nothing better is known."""


class Kind(StrEnum):
    """What a request keeps busy."""

    FREE = "free"
    """Next to nothing; it is answered however busy we are."""
    QUICK = "quick"
    SEARCH = "search"
    CALL = "call"
    """A tool, which may take its time and is waited for by a coroutine alone."""
    STREAM = "stream"
    """It lasts, and has bounds of its own."""
    PUBLISH = "publish"
    """Memory: a bundle, several times over."""
    BUNDLE = "bundle"
    """Memory: a bundle, until it is taken."""


FREE = ("/healthz", "/readyz", "/metrics")
STREAMS = ("/events", "/mcp")
PUBLISHES = "/releases"


def kind_of(scope: Scope) -> Kind:
    path: str = scope["path"]
    if path in FREE:
        return Kind.FREE
    if path in STREAMS:
        return Kind.STREAM
    if path == "/search":
        return Kind.SEARCH
    if path == PUBLISHES and scope["method"] == "POST":
        return Kind.PUBLISH
    if path.endswith("/bundle") and scope["method"] == "GET":
        return Kind.BUNDLE
    calls = path.endswith("/call") or path == "/tools"  # where a new one may be tried first
    return Kind.CALL if calls and scope["method"] == "POST" else Kind.QUICK


class Bounds(NamedTuple):
    request_bytes: int
    parallel: int
    """Requests in hand; as many calls may be waited for beside them."""
    search_seconds: float
    bundle_bytes: int
    body_seconds: float = BODY_SECONDS
    answer_seconds: float = ANSWER_SECONDS
    bundle_seconds: float = BUNDLE_SECONDS

    def seconds(self, kind: Kind) -> float | None:
        if kind in (Kind.CALL, Kind.STREAM, Kind.PUBLISH):
            return None  # what is published is so to its end, and holds its memory until then
        if kind is Kind.BUNDLE:
            return self.bundle_seconds
        if kind is Kind.SEARCH:
            return self.search_seconds + AFTER_SEARCH_SECONDS
        return self.answer_seconds

    def body(self, kind: Kind) -> tuple[int, str, float]:
        """How large a body may be, the setting that says so, and how long it may take to come."""
        if kind is Kind.PUBLISH:
            return self.bundle_bytes, "serve.bundle_bytes", self.bundle_seconds
        return self.request_bytes, "serve.request_bytes", self.body_seconds

    def most(self, kind: Kind) -> int:
        """How many of its kind may be in hand."""
        return {Kind.PUBLISH: BUNDLES, Kind.BUNDLE: 2 * BUNDLES}.get(kind, self.parallel)


class Limits:
    """An ASGI application around another one. For one event loop."""

    def __init__(
        self, app: ASGIApp, bounds: Bounds, refused: Callable[[str], None] = lambda code: None
    ) -> None:
        self._app = app
        self._bounds = bounds
        self._refused = refused
        """Is told the code of each refusal."""
        self._uploads = _Uploads(BODIES * bounds.request_bytes)
        self._bundles = _Uploads(BUNDLES * bounds.bundle_bytes)
        self.in_hand: Counter[Kind] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        sending = _Sending(scope, send, self._refused)
        kind = kind_of(scope)
        largest = self._bounds.body(kind)[:2]
        body = _too_much(scope, *largest) or await self._body(kind, scope, receive)
        if isinstance(body, bytes):
            await self._in_turn(kind, scope, _replayed(body, receive), sending)
        else:
            await self._refuse(body, scope, receive, sending)

    async def _refuse(
        self, response: "Refusal | None", scope: Scope, receive: Receive, sending: "_Sending"
    ) -> None:
        if response is None:  # whoever asked is gone
            return
        self._refused(response.code)
        await response.made(scope, receive, sending)

    async def _in_turn(
        self, kind: Kind, scope: Scope, receive: Receive, sending: "_Sending"
    ) -> None:
        if self._is_full(kind):
            await self._refuse(_busy(scope, self._bounds.most(kind)), scope, receive, sending)
            return
        self.in_hand[kind] += 1
        try:
            await self._in_time(kind, scope, receive, sending)
        finally:
            self.in_hand[kind] -= 1

    def _is_full(self, kind: Kind) -> bool:
        if kind in (Kind.FREE, Kind.STREAM):
            return False
        if kind in (Kind.CALL, Kind.PUBLISH, Kind.BUNDLE):
            return self.in_hand[kind] >= self._bounds.most(kind)
        return self.in_hand[Kind.QUICK] + self.in_hand[Kind.SEARCH] >= self._bounds.parallel

    async def _in_time(
        self, kind: Kind, scope: Scope, receive: Receive, sending: "_Sending"
    ) -> None:
        seconds = self._bounds.seconds(kind)
        limit = asyncio.timeout(seconds)
        try:
            async with limit:
                await self._app(scope, receive, sending)
        except TimeoutError:
            if not limit.expired() or sending.begun:
                raise
            error = TookTooLong(
                f"there was no answer within {seconds:g} s",
                "ask for less at a time; whether the board answers at all is told by /readyz",
            )
            await self._refuse(Refusal.of(error), scope, receive, sending)
        except asyncio.CancelledError:
            if not sending.begun:
                await self._refuse(STOPPED, scope, receive, sending)
            raise

    async def _body(self, kind: Kind, scope: Scope, receive: Receive) -> "bytes | Refusal | None":
        """All of it, or why not; None if whoever sends it has gone away."""
        if not _has_body(scope):
            return b""
        most, setting, seconds = self._bounds.body(kind)
        uploads = self._bundles if kind is Kind.PUBLISH else self._uploads
        limit = asyncio.timeout(seconds)
        upload = uploads.begin(limit)
        try:
            async with limit:
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return None
                    uploads.add(upload, message.get("body", b""))
                    if upload.cut:
                        return _busy(scope, self._bounds.most(kind))
                    if len(upload.parts) > most:
                        return _too_large(most, setting)
                    if not message.get("more_body", False):
                        return bytes(upload.parts)
        except TimeoutError:
            if upload.cut:
                return _busy(scope, self._bounds.most(kind))
            return Refusal.by("too_slow", f"it took longer than {seconds:g} s")
        finally:
            uploads.end(upload)


class _Upload:
    """A body that is being read."""

    def __init__(self, limit: asyncio.Timeout) -> None:
        self.parts = bytearray()
        self.limit = limit
        self.cut = False


class _Uploads:
    """All bodies that are being read. Where they are too much together, the oldest goes.

    Bodies are read before anybody has signed in, and whoever sends one and leaves out its end must
    not keep others from sending theirs: those take a moment.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._all: dict[_Upload, None] = {}
        self.size = 0
        """In bytes."""

    def begin(self, limit: asyncio.Timeout) -> _Upload:
        upload = _Upload(limit)
        self._all[upload] = None
        return upload

    def add(self, upload: _Upload, part: bytes) -> None:
        if upload.cut:
            return
        upload.parts += part
        self.size += len(part)
        while self.size > self._most:
            oldest = next(iter(self._all))
            self.end(oldest)
            oldest.cut = True
            oldest.limit.reschedule(asyncio.get_running_loop().time())

    def end(self, upload: _Upload) -> None:
        if upload in self._all:
            self._all.pop(upload)
            self.size -= len(upload.parts)
            upload.parts = bytearray()


class Refusal(NamedTuple):
    code: str
    made: Response

    @classmethod
    def of(cls, error: PegboardError) -> "Refusal":
        return cls(error.code, problem(error))

    @classmethod
    def by(cls, code: str, message: str, hint: str = "") -> "Refusal":
        return cls(code, Declined(code, message, hint).response())


STOPPED = Refusal.by("stopping", "this gateway stopped meanwhile", "try again")


class _Sending:
    """Passes on what is sent, and knows whether anything was."""

    def __init__(self, scope: Scope, send: Send, refused: Callable[[str], None]) -> None:
        self._scope = scope
        self._send = send
        self._refused = refused
        self.begun = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            if message["status"] == 429:
                self._refused("too_many")
            if message["status"] in (429, 503):
                message = _with_wait(message, self._scope.get(RETRY_AFTER, WAIT))
        await self._send(message)


def _with_wait(message: Message, seconds: int) -> Message:
    headers = list(message.get("headers", ()))
    if any(name.lower() == b"retry-after" for name, _ in headers):
        return message
    return {**message, "headers": [*headers, (b"retry-after", str(seconds).encode())]}


def _too_much(scope: Scope, most: int, setting: str) -> Refusal | None:
    """Why a request is refused for what stands before its body."""
    said = len(scope.get("raw_path") or b"") + len(scope["query_string"])
    if said > LONGEST_HEADERS:
        text = f"the address has {said:,} characters; at most {LONGEST_HEADERS:,} are allowed"
        return Refusal.by("uri_too_long", text, "send it as a body")
    headers = scope["headers"]
    size = sum(len(name) + len(value) for name, value in headers)
    if len(headers) > MOST_HEADERS or size > LONGEST_HEADERS:
        text = f"there are {len(headers)} headers of {size:,} bytes"
        hint = f"at most {MOST_HEADERS} of {LONGEST_HEADERS:,} bytes are allowed"
        return Refusal.by("headers_too_large", text, hint)
    named = Headers(scope=scope)
    if "transfer-encoding" in named and "content-length" in named:
        # A proxy before us may have gone by the other one, and seen two requests, or half of one.
        text = "the length of the body is told twice: Content-Length and Transfer-Encoding"
        closed = {"Connection": "close"}
        return Refusal("malformed", Declined("malformed", text, headers=closed).response())
    length = named.get("content-length", "0")
    if length.isdecimal() and int(length[:20]) > most:
        return _too_large(most, setting)
    return None


def _has_body(scope: Scope) -> bool:
    return any(
        name == b"transfer-encoding" or (name == b"content-length" and value != b"0")
        for name, value in scope["headers"]
    )


def _too_large(most: int, setting: str) -> Refusal:
    return Refusal.of(
        TooLarge(
            f"the request has more than {most:,} bytes",
            f"send less at a time, or raise {setting}",
        )
    )


def _busy(scope: Scope, most: int) -> Refusal:
    scope[RETRY_AFTER] = WAIT
    text = f"{most} requests are being worked on already"
    return Refusal.by("busy", text, "try again in a moment")


def _replayed(body: bytes, receive: Receive) -> Receive:
    """The body that was read, and then whatever else comes: that somebody has gone away."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
