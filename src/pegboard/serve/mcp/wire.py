"""Messages over two file descriptors, one JSON object a line.

Reading and writing are done in threads that end with the process: a read cannot be called off, and
a client that does not read must not keep us.
"""

import asyncio
import logging
import os
import queue
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import (
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

log = logging.getLogger(__name__)

CHUNK = 1 << 16
LINES_AHEAD = 16
"""How many lines may be read before the first of them is taken."""
ENDLESS = "subscriptions/listen"
"""A request that is answered only when the connection ends."""


class Wire:
    def __init__(self, incoming: int, outgoing: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._room = threading.Semaphore(LINES_AHEAD)
        self._outbox: queue.SimpleQueue[tuple[bytes, Future[None]]] = queue.SimpleQueue()
        self._unanswered: set[RequestId] = set()
        self._all_answered = asyncio.Event()
        self._all_answered.set()
        for work, fd in ((self._read, incoming), (self._write, outgoing)):
            threading.Thread(target=work, args=(fd,), daemon=True).start()

    async def receive(self, into: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        """Pass on what comes in until there is no more; the stream stays open."""
        while (line := await self._lines.get()) is not None:
            self._room.release()
            try:
                message = jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValidationError:
                log.warning("a line on standard input is no JSON-RPC message; passed over")
                continue
            self._came(message)
            try:
                await into.send(SessionMessage(message))
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                return

    async def send(self, out: MemoryObjectReceiveStream[SessionMessage]) -> None:
        """Write until the stream ends; raises `OSError` if nobody reads any more."""
        async with out:
            async for each in out:
                line = each.message.model_dump_json(by_alias=True, exclude_unset=True)
                written: Future[None] = Future()
                self._outbox.put((line.encode() + b"\n", written))
                await asyncio.wrap_future(written)
                self._went(each.message)

    async def answered(self, seconds: float) -> None:
        """Wait until every request that came in has its answer, but not for long."""
        with anyio.move_on_after(seconds):
            await self._all_answered.wait()

    def _came(self, message: JSONRPCMessage) -> None:
        match message:
            case JSONRPCRequest(method=method) if method != ENDLESS:
                self._unanswered.add(message.id)
                self._all_answered.clear()
            case JSONRPCNotification(method="notifications/cancelled"):
                self._settled((message.params or {}).get("requestId"))

    def _went(self, message: JSONRPCMessage) -> None:
        if isinstance(message, JSONRPCResponse | JSONRPCError):
            self._settled(message.id)

    def _settled(self, request: object) -> None:
        if isinstance(request, str | int):
            self._unanswered.discard(request)
        if not self._unanswered:
            self._all_answered.set()

    def _read(self, fd: int) -> None:
        try:
            for line in lines_of(lambda: os.read(fd, CHUNK)):
                self._room.acquire()
                self._loop.call_soon_threadsafe(self._lines.put_nowait, line)
            self._loop.call_soon_threadsafe(self._lines.put_nowait, None)
        except RuntimeError:  # the loop is closed: nobody is served any more
            return

    def _write(self, fd: int) -> None:
        while True:
            line, written = self._outbox.get()
            if not written.set_running_or_notify_cancel():
                continue
            try:
                rest = memoryview(line)
                while rest:
                    rest = rest[os.write(fd, rest) :]
            except OSError as error:
                written.set_exception(error)
            else:
                written.set_result(None)


def lines_of(read: Callable[[], bytes]) -> Iterator[bytes]:
    """Lines as they are complete; what has no end when the input ends is dropped."""
    parts: list[bytes] = []
    while chunk := _chunk(read):
        *lines, rest = chunk.split(b"\n")
        for line in lines:
            whole = b"".join([*parts, line])
            parts.clear()
            if whole.strip():
                yield whole
        if rest:
            parts.append(rest)


def _chunk(read: Callable[[], bytes]) -> bytes:
    """An input that fails is one that has ended."""
    try:
        return read()
    except OSError as error:
        log.warning("standard input failed: %s", error)
        return b""
