"""The program of an engine on this host: told what to do, and ended when it takes too long."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import anyio

from pegboard.errors import NotExecutable

GRACE = 0.2
"""Between asking it to end and ending it."""
UNTIL_REAPED = 1.0
LINGER = 0.25
"""What it wrote just before it ended may arrive after the news of its end."""

UNTIL_MADE = 2.0

STDOUT, STDERR = 1, 2
Made = TypeVar("Made")
Hear = Callable[[int, bytes], None]


class Program(asyncio.SubprocessProtocol):
    def __init__(self, hear: Hear) -> None:
        self._hear = hear
        self._open = {STDOUT, STDERR}
        self._exited = asyncio.Event()
        self._over = asyncio.Event()
        self._transport: asyncio.SubprocessTransport | None = None

    @property
    def over(self) -> bool:
        return self._over.is_set()

    async def ended(self) -> int:
        """Its exit code, when everything that it wrote was heard."""
        await self._over.wait()
        code = self._transport.get_returncode() if self._transport else None
        return -1 if code is None else code

    async def end(self) -> None:
        """With all processes of its group."""
        for number, seconds in ((signal.SIGTERM, GRACE), (signal.SIGKILL, UNTIL_REAPED)):
            if not self._exited.is_set():
                self._signal(number)
                with anyio.move_on_after(seconds):
                    await self._exited.wait()
        if self._transport is not None:
            with suppress(ProcessLookupError, PermissionError):
                self._transport.close()

    def _signal(self, number: signal.Signals) -> None:
        if self._transport is None:
            return
        with suppress(ProcessLookupError, PermissionError):
            if sys.platform == "win32":
                self._transport.kill()
            else:
                os.killpg(self._transport.get_pid(), number)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.SubprocessTransport):
            self._transport = transport

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._hear(fd, data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        self._open.discard(fd)
        if self._exited.is_set() and not self._open:
            self._over.set()

    def process_exited(self) -> None:
        self._exited.set()
        if self._open:
            asyncio.get_running_loop().call_later(LINGER, self._over.set)
        else:
            self._over.set()


@asynccontextmanager
async def started(
    argv: Sequence[str], environ: Mapping[str, str], hear: Hear, folder: Path | None = None
) -> AsyncIterator[Program]:
    """Nothing of it runs afterwards. Raises `NotExecutable`."""
    program = Program(hear)
    try:
        try:
            await asyncio.get_running_loop().subprocess_exec(
                lambda: program,
                *argv,
                env=environ,
                cwd=folder,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise NotExecutable(f"{argv[0]} cannot be started: {error.strerror}") from error
        yield program
    finally:
        with anyio.CancelScope(shield=True):
            await program.end()


class Answer(NamedTuple):
    code: int | None
    """None if it did not answer in time."""
    said: str
    complained: str

    @property
    def reason(self) -> str:
        return " ".join(self.complained.split()) or f"it ended with exit code {self.code}"


async def ask(argv: Sequence[str], environ: Mapping[str, str], seconds: float) -> Answer:
    """What it says to a question that has a short answer. Raises `NotExecutable`."""
    heard = {STDOUT: bytearray(), STDERR: bytearray()}
    async with started(argv, environ, lambda fd, data: heard[fd].extend(data)) as program:
        try:
            async with asyncio.timeout(seconds):
                code = await program.ended()
        except TimeoutError:
            return Answer(None, "", f"it did not answer within {seconds:g} seconds")
    said, complained = (bytes(each).decode("utf-8", "replace").strip() for each in heard.values())
    return Answer(code, said, complained)


async def whole(step: Coroutine[Any, Any, Made]) -> Made:
    """Cancelled only when it is done: what was half made could not be found to be removed."""
    making = asyncio.create_task(step)
    try:
        return await asyncio.shield(making)
    except asyncio.CancelledError:
        with anyio.CancelScope(shield=True):
            await asyncio.wait({making}, timeout=UNTIL_MADE)
            making.cancel()
            await asyncio.gather(making, return_exceptions=True)
        raise
