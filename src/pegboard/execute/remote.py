"""Servers that are reached by HTTP: streamable HTTP, and the older way of server-sent events."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import httpx2
from mcp.client._transport import TransportStreams
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

from pegboard.calls import ServerConfig, Transport

MAX_BODY = 32 << 20
LEAST_SILENCE = 300.0
"""Seconds without a byte before an answer is given up, if no call may last longer than that."""

_REFUSED = (401, 403)


class Remote:
    def __init__(self, config: ServerConfig) -> None:
        self.config = config
        self._gone = False
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

    def forgotten(self, refusal: str) -> bool:
        """The protocol wants status 404 for a session that is gone; servers in use answer 400."""
        return self._gone or ("HTTP status 400" in self._fault and "session" in refusal.lower())

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

    async def _before(self, request: httpx2.Request) -> None:
        """A stream that only tells of changes may be silent for days."""
        if request.method == "GET":
            request.extensions["timeout"] = {**request.extensions["timeout"], "read": None}

    async def _after(self, response: httpx2.Response) -> None:
        code = response.status_code
        if code >= 400:
            self._gone |= code == 404 and "mcp-session-id" in response.request.headers
            self._fault = f"it answered with HTTP status {code} {response.reason_phrase}".rstrip()
            if code in _REFUSED:
                self._fault += "; its headers may lack the right key"
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            response.stream = _Bounded(response)


class _Bounded(httpx2.AsyncByteStream):
    """A body that ends in an error when it does not end. Events have a bound of their own."""

    def __init__(self, response: httpx2.Response) -> None:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise httpx2.DecodingError("it compressed an answer though it was asked not to")
        self._stream = response.stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        if not isinstance(self._stream, httpx2.AsyncByteStream):
            return
        async for chunk in self._stream:
            size += len(chunk)
            if size > MAX_BODY:
                raise httpx2.ReadError(f"it sent an answer of more than {MAX_BODY >> 20} MB")
            yield chunk

    async def aclose(self) -> None:
        if isinstance(self._stream, httpx2.AsyncByteStream):
            await self._stream.aclose()
