"""Servers that are reached by HTTP: streamable HTTP, and the older way of server-sent events."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import httpx2
from mcp.client._transport import TransportStreams
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

from pegboard.model.calls import ServerConfig, Transport

MAX_BODY = 32 << 20
LEAST_SILENCE = 300.0
"""Seconds without a byte before an answer is given up, if no call may last longer than that."""

_REFUSED = (401, 403)
_SHOWN = 500
_READ = 64 << 10


class Remote:
    def __init__(self, config: ServerConfig, hide: Callable[[str], str]) -> None:
        self.config = config
        self._hide = hide
        self.expired = False
        self._fault = ""

    @asynccontextmanager
    async def open(self) -> AsyncIterator[TransportStreams]:
        if self.config.transport is Transport.SSE:
            async with self._sse() as streams:
                yield streams
            return
        async with (
            self._client() as client,
            streamable_http_client(
                self.config.url, http_client=client, max_sse_event_size=MAX_BODY
            ) as streams,
        ):
            yield streams

    def hang_up(self) -> None:
        """Nothing waits for a server here: every request has a connection of its own."""

    def kill(self) -> None:
        """There is no process to end."""

    def fault(self) -> str:
        return self._fault

    def _sse(self) -> AbstractAsyncContextManager[TransportStreams]:
        return sse_client(self.config.url, httpx_client_factory=self._client)

    def _client(
        self,
        headers: dict[str, str] | None = None,
        timeout: httpx2.Timeout | None = None,
        auth: httpx2.Auth | None = None,
    ) -> httpx2.AsyncClient:
        """The SDK would choose its own headers and time-outs; ours are in the configuration."""
        silence = max(LEAST_SILENCE, 2 * self.config.call_seconds)
        return httpx2.AsyncClient(
            headers={"Accept-Encoding": "identity", **self.config.headers},
            timeout=httpx2.Timeout(self.config.start_seconds, read=silence),
            limits=httpx2.Limits(max_connections=None),
            auth=auth,
            event_hooks={"request": [self._before], "response": [self._after]},
        )

    def _only_for_news(self, request: httpx2.Request) -> bool:
        """Many servers refuse the stream on which they could tell of changes."""
        return request.method == "GET" and self.config.transport is Transport.HTTP

    async def _before(self, request: httpx2.Request) -> None:
        """A stream may be silent for days."""
        if request.method == "GET":
            request.extensions["timeout"] = {**request.extensions["timeout"], "read": None}

    async def _after(self, response: httpx2.Response) -> None:
        failed = response.status_code >= 400
        events = response.headers.get("content-type", "").startswith("text/event-stream")
        if failed or not events:
            response.stream = _Bounded(response, cut=failed)
        if response.status_code < 400:
            self._fault = ""
        else:
            # The SDK forgets both the status and what the server said with it.
            await response.aread()
            if not self._only_for_news(response.request):
                self._note(response.status_code, response.reason_phrase, response.text)
            self.expired |= "mcp-session-id" in response.request.headers and (
                response.status_code == 404
                # Servers in use say so with the wrong status.
                or (response.status_code == 400 and "session" in response.text.lower())
            )

    def _note(self, code: int, phrase: str, body: str) -> None:
        body = " ".join(self._hide(body).split())[:_SHOWN]
        said = f" and said: {body}" if body else ""
        key = "; its headers may lack the right key" if code in _REFUSED else ""
        self._fault = f"it answered with HTTP status {code} {phrase}{said}{key}"


class _Bounded(httpx2.AsyncByteStream):
    """A body that ends in an error when it does not end. Events have a bound of their own."""

    def __init__(self, response: httpx2.Response, *, cut: bool) -> None:
        """With `cut`, only its beginning: of an error, nobody reads more."""
        self._cut = cut
        if response.headers.get("content-encoding", "identity") != "identity":
            raise httpx2.DecodingError("it compressed an answer though it was asked not to")
        self._stream = response.stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        if not isinstance(self._stream, httpx2.AsyncByteStream):
            return
        async for chunk in self._stream:
            size += len(chunk)
            if self._cut and size > _READ:
                return
            if size > MAX_BODY:
                raise httpx2.ReadError(f"it sent an answer of more than {MAX_BODY >> 20} MB")
            yield chunk

    async def aclose(self) -> None:
        if isinstance(self._stream, httpx2.AsyncByteStream):
            await self._stream.aclose()
