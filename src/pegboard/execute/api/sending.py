"""Requests sent and answers read: within bounds, again only where that is safe."""

import asyncio
import math
import os
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import NamedTuple

import httpcore2
import httpx2

from pegboard.execute.api.addresses import CONNECT_SECONDS, Guard, NameUnknown, Reach, Resolve
from pegboard.execute.api.faults import brief, failed, unavailable
from pegboard.execute.api.headers import OURS
from pegboard.execute.api.redirects import MAX_REDIRECTS, redirected
from pegboard.execute.api.requests import SAFE, Request
from pegboard.execute.api.urls import Target, parsed

MAX_ERROR = 64 << 10
"""Bytes of an answer that is no success; nobody reads more of it."""
MAX_CONNECTIONS = 100
MAX_IDLE = 20
IDLE_SECONDS = 5.0
BACKOFF = 0.5
MAX_RETRIES = 2
RETRIED = frozenset({429, 502, 503, 504})
_CODINGS = "gzip, deflate"
_KNOWN_CODINGS = ("", "identity", "gzip", "deflate")
_AGENT = ("User-Agent", "pegboard")
_WITH_BODY = ("POST", "PUT", "PATCH")

_NETWORK = (httpcore2.NetworkError, httpcore2.TimeoutException, httpcore2.ProtocolError)


class Bounds(NamedTuple):
    """Of one call, with all its requests."""

    most: int
    """Bytes of an answer, unpacked."""
    end: float
    """By the clock of the event loop."""

    @property
    def left(self) -> float:
        return self.end - asyncio.get_running_loop().time()


class Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    """By names in lower case; several of one name are joined."""
    body: bytes
    target: Target
    """Who gave it, after all redirects."""


class Lost(Exception):
    """The service was not reached, or not heard to the end."""

    def __init__(self, error: str, *, unsent: bool, hopeless: bool = False) -> None:
        super().__init__(error)
        self.error = error
        self.unsent = unsent
        """Whether nothing of the request can have arrived."""
        self.hopeless = hopeless
        """Whether another try would end in the same way."""


class Line:
    """Connections to services, kept for a moment. For one event loop at a time."""

    def __init__(
        self,
        reach: Reach,
        *,
        verify: ssl.SSLContext | None = None,
        resolve: Resolve | None = None,
        backoff: float = BACKOFF,
    ) -> None:
        self._guard = Guard(reach, resolve)
        self._verify = verify
        self._backoff = backoff
        self._pool: httpcore2.AsyncConnectionPool | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def ask(self, request: Request, bounds: Bounds, keys: frozenset[str]) -> Answer:
        """Follows redirects. `keys` are parameters of the query that no other origin may see.

        Raises `Refused`.
        """
        for _ in range(MAX_REDIRECTS + 1):
            target = parsed(request.url)
            answer = await self.once(request, target, bounds)
            following = redirected(request, target, answer.status, answer.headers, keys)
            if following is None:
                return answer
            request = following
        raise failed(f"{target.shown} is behind more than {MAX_REDIRECTS} redirects")

    async def once(self, request: Request, target: Target, bounds: Bounds) -> Answer:
        """Without following redirects, but tried again where that is safe. Raises `Refused`."""
        for number in range(MAX_RETRIES + 1):
            pause = self._backoff * 2**number
            last = number == MAX_RETRIES
            try:
                answer = await self._exchange(request, target, bounds)
            except Lost as lost:
                again = lost.unsent or request.method in SAFE
                if last or lost.hopeless or not again or pause > bounds.left:
                    raise (unavailable if lost.unsent else failed)(lost.error) from lost
            else:
                if last or answer.status not in RETRIED or request.method not in SAFE:
                    return answer
                pause = pause_after(answer.headers.get("retry-after", ""), pause)
                if pause > bounds.left:
                    return answer
            await asyncio.sleep(pause)
        raise AssertionError("the last round returns or raises")

    async def close(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.aclose()

    def _opened(self) -> httpcore2.AsyncConnectionPool:
        loop = asyncio.get_running_loop()
        if self._pool is None or self._loop is not loop:
            # Connections do not outlive their loop.
            self._loop = loop
            self._pool = httpcore2.AsyncConnectionPool(
                ssl_context=self._verify or httpcore2.default_ssl_context(),
                max_connections=MAX_CONNECTIONS,
                max_keepalive_connections=MAX_IDLE,
                keepalive_expiry=IDLE_SECONDS,
                network_backend=self._guard,
            )
        return self._pool

    async def _exchange(self, request: Request, target: Target, bounds: Bounds) -> Answer:
        """Raises `Lost` and `Refused`."""
        try:
            async with self._answered(request, target) as response:
                return await _read(response, target, bounds)
        except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
            told = f"{target.shown} cannot be reached: {_reason(error)}"
            hopeless = isinstance(_origin(error), ssl.SSLError | NameUnknown)
            raise Lost(told, unsent=True, hopeless=hopeless) from error
        except httpcore2.LocalProtocolError as error:
            raise failed(f"the request cannot be written: {error}") from error
        except _NETWORK as error:
            told = f"{target.shown} broke off: {_reason(error)}"
            raise Lost(told, unsent=False) from error
        except httpx2.DecodingError as error:
            raise failed(f"{target.shown} sent what cannot be unpacked: {error}") from error

    @asynccontextmanager
    async def _answered(
        self, request: Request, target: Target
    ) -> AsyncIterator[httpcore2.Response]:
        response = await self._opened().handle_async_request(
            httpcore2.Request(
                request.method,
                httpcore2.URL(
                    scheme=target.scheme, host=target.host, port=target.port, target=target.path
                ),
                headers=_headers(request, target),
                content=request.body or b"",
                extensions={"timeout": {"connect": CONNECT_SECONDS}},
            )
        )
        try:
            yield response
        finally:
            await response.aclose()


def pause_after(told: str, usual: float) -> float:
    """Seconds, as the service asked for in `Retry-After`, or else the usual ones."""
    try:
        seconds = float(told)
    except ValueError:
        seconds = _until(told)
    return max(seconds, usual) if math.isfinite(seconds) else usual


def _until(told: str) -> float:
    try:
        then = parsedate_to_datetime(told)
        return (then - datetime.now(UTC)).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return math.nan


def _headers(request: Request, target: Target) -> list[tuple[bytes, bytes]]:
    said = [(name, value) for name, value in request.headers if name.lower() not in OURS]
    made = [("Host", target.authority), _AGENT, ("Accept-Encoding", _CODINGS)]
    if request.body is not None or request.method in _WITH_BODY:
        made.append(("Content-Length", str(len(request.body or b""))))
    named = {name.lower() for name, _ in said}
    kept = [each for each in made if each[0].lower() not in named]
    return [
        (name.encode("ascii"), value.encode("utf-8", "replace")) for name, value in [*kept, *said]
    ]


async def _read(response: httpcore2.Response, target: Target, bounds: Bounds) -> Answer:
    """Counted as it is unpacked, so that little that becomes much is stopped in time."""
    # What is no success is cut short instead.
    stops = 200 <= response.status < 300
    most = bounds.most if stops else min(bounds.most, MAX_ERROR)
    unpacked = httpx2.Response(response.status, headers=response.headers, stream=_Stream(response))
    coding = unpacked.headers.get("content-encoding", "").strip().lower()
    if coding not in _KNOWN_CODINGS:
        raise failed(
            f"{target.shown} packed its answer as {brief(coding)}, which was not asked for"
        )
    body = bytearray()
    async for chunk in unpacked.aiter_bytes():
        body += chunk
        if len(body) > most:
            if stops:
                told = f"the answer of {target.shown} has more than {most:,} bytes"
                raise failed(f"{told}, unpacked; ask for less")
            break
    headers = {name.lower(): value for name, value in unpacked.headers.items()}
    return Answer(response.status, headers, bytes(body[:most]), target)


class _Stream(httpx2.AsyncByteStream):
    """Only so that httpx can unpack what httpcore has fetched."""

    def __init__(self, response: httpcore2.Response) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._response.aiter_stream():
            yield chunk


def _origin(error: BaseException) -> BaseException:
    """What went wrong below the libraries, which hand it on inside of their own errors."""
    inner = error.args[0] if error.args else None
    found = inner if isinstance(inner, BaseException) else error.__cause__
    return error if found is None or isinstance(error, NameUnknown) else _origin(found)


def _reason(error: BaseException) -> str:
    """The sentence in it, without the file and line of the library that says it."""
    origin = _origin(error)
    if isinstance(origin, ssl.SSLCertVerificationError):
        return f"its certificate is not to be trusted: {origin.verify_message}"
    if isinstance(error, httpcore2.TimeoutException):
        return "it did not answer in time"
    if isinstance(origin, OSError) and origin.errno and not isinstance(origin, ssl.SSLError):
        return os.strerror(origin.errno)
    return str(error) or type(error).__name__
