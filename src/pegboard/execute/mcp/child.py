"""A child process in a group of its own, and its three pipes."""

import asyncio
import os
import signal
import sys
from collections import deque
from collections.abc import Callable
from contextlib import suppress

import anyio

LAST_WORDS = 4_096
KEPT = 2 * LAST_WORDS
"""More of stderr than is shown: a secret at the edge must be whole to be recognised and hidden."""

HIGH_WATER = 1 << 20
UNTIL_TERM = 0.3
UNTIL_KILL = 0.5
UNTIL_REAPED = 0.2
LINGER = 0.25
"""What a process wrote just before it ended may arrive after the news of its end."""
_LOOK = 0.01


class Child(asyncio.SubprocessProtocol):
    """Its stdout waits to be read, its stderr never."""

    def __init__(self) -> None:
        self.exited = asyncio.Event()
        self.gone = False
        self._transport: asyncio.SubprocessTransport | None = None
        self._chunks: deque[bytes] = deque()
        self._waiting = 0
        self._ended = False
        self._leaving = False
        self._arrived = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()
        self._stderr = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.SubprocessTransport):
            self._transport = transport

    @property
    def _process(self) -> asyncio.SubprocessTransport:
        if self._transport is None:
            raise RuntimeError("the process has not been started")
        return self._transport

    @property
    def returncode(self) -> int | None:
        return self._process.get_returncode()

    def last_words(self) -> str:
        return bytes(self._stderr[-KEPT:]).decode("utf-8", "replace").strip()

    async def read(self) -> bytes:
        """The next piece of stdout; nothing at its end."""
        while not self._chunks:
            if self._ended:
                return b""
            self._arrived.clear()
            await self._arrived.wait()
        chunk = self._chunks.popleft()
        self._waiting -= len(chunk)
        if self._waiting < HIGH_WATER:
            self._let_stdout(go_on=True)
        return chunk

    async def write(self, data: bytes) -> bool:
        """Whether stdin took it; waits while the process does not read."""
        stdin = self._process.get_pipe_transport(0)
        if not isinstance(stdin, asyncio.WriteTransport) or stdin.is_closing():
            return False
        stdin.write(data)
        await self._writable.wait()
        return not stdin.is_closing()

    async def stop(self) -> None:
        """All of the group, within about a second, whatever it does."""
        self._leaving = True
        self._let_stdout(go_on=True)
        if (stdin := self._process.get_pipe_transport(0)) is not None:
            stdin.close()
        await self._until(self.exited.is_set, UNTIL_TERM)
        if self._alive():
            self.signal(hard=False)
            await self._until(lambda: not self._alive(), UNTIL_KILL)
        if self._alive():
            self.signal(hard=True)
        await self._until(self.exited.is_set, UNTIL_REAPED)
        self.gone = True
        with suppress(PermissionError, ProcessLookupError):
            self._process.close()

    async def _until(self, condition: Callable[[], bool], seconds: float) -> None:
        with anyio.move_on_after(seconds):
            while not condition():
                await anyio.sleep(_LOOK)

    def _alive(self) -> bool:
        """Whether any process of the group is left, the server or a child of it."""
        if sys.platform == "win32":
            return not self.exited.is_set()
        try:
            os.killpg(self._process.get_pid(), 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True

    def signal(self, *, hard: bool) -> None:
        with suppress(ProcessLookupError, PermissionError):
            if sys.platform == "win32":
                self._process.kill()
            else:
                os.killpg(self._process.get_pid(), signal.SIGKILL if hard else signal.SIGTERM)

    def _let_stdout(self, *, go_on: bool) -> None:
        stdout = self._transport.get_pipe_transport(1) if self._transport else None
        if isinstance(stdout, asyncio.ReadTransport) and not stdout.is_closing():
            if go_on:
                stdout.resume_reading()
            else:
                stdout.pause_reading()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self._stderr += data
            if len(self._stderr) > 2 * KEPT:
                del self._stderr[:-KEPT]
        elif not self._leaving:
            self._chunks.append(data)
            self._waiting += len(data)
            self._arrived.set()
            if self._waiting >= HIGH_WATER:
                self._let_stdout(go_on=False)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 1:
            self._end()
        elif fd == 0:
            self._writable.set()

    def process_exited(self) -> None:
        self.exited.set()
        # A child of the server may hold its stdout open for ever.
        asyncio.get_running_loop().call_later(LINGER, self._end)

    def _end(self) -> None:
        self._ended = True
        self._arrived.set()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()
