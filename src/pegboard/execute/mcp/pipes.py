"""Servers that are child processes, spoken to by lines of JSON on stdin and stdout.

Instead of the SDK's own `stdio_client`, which reads a line of any length into memory, waits four
seconds for a server that does not stop, and hands stderr on.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client._transport import TransportStreams
from mcp.client.stdio import DEFAULT_INHERITED_ENV_VARS
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCMessage, jsonrpc_message_adapter

from pegboard.errors import ServerUnavailable
from pegboard.execute.mcp.child import KEPT, LAST_WORDS, LINGER, Child
from pegboard.model.calls import ServerConfig

log = logging.getLogger(__name__)

MAX_LINE = 32 << 20
MAX_JUNK = 1_000
"""Lines in a row that are no messages, such as a banner, before the server is given up."""

Hide = Callable[[str], str]


class Pipes:
    def __init__(self, config: ServerConfig, environ: Mapping[str, str], hide: Hide) -> None:
        self.config = config
        self._environ = inherited(environ) | dict(config.env)
        self._hide = hide
        self._child: Child | None = None
        self._outbox: MemoryObjectReceiveStream[SessionMessage] | None = None
        self._fault = ""
        self._junk = 0
        self.expired = False

    @asynccontextmanager
    async def open(self) -> AsyncIterator[TransportStreams]:
        child = self._child = await self._start()
        # No waiting before the `try`: a cancellation there would leave the process behind.
        inbox, messages = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        outgoing, outbox = anyio.create_memory_object_stream[SessionMessage](0)
        self._outbox = outbox
        try:
            async with inbox, messages, outgoing, outbox, anyio.create_task_group() as pumps:
                pumps.start_soon(self._receive, child, inbox)
                pumps.start_soon(self._send, child, outbox, inbox)
                try:
                    yield messages, outgoing
                finally:
                    pumps.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True):
                await child.stop()

    def hang_up(self) -> None:
        """Whatever still wants to write fails at once instead of waiting for a server."""
        if self._outbox is not None:
            self._outbox.close()

    def kill(self) -> None:
        """The last resort, from any thread."""
        if self._child is not None and not self._child.gone:
            self._child.signal(hard=True)

    def fault(self) -> str:
        """Why it ended by itself, and its last words; what it wrote so far if it has not."""
        said = self._hide(self._child.last_words()) if self._child else ""
        parts = (
            self._fault,
            f"what it printed last is no MCP message (lines: {self._junk})" if self._junk else "",
            f"its last words on stderr: {said[-LAST_WORDS:]}" if said else "",
        )
        return "; ".join(part for part in parts if part)

    async def _start(self) -> Child:
        config = self.config
        loop = asyncio.get_running_loop()
        try:
            _, child = await loop.subprocess_exec(
                Child,
                config.command,
                *config.args,
                env=self._environ,
                cwd=config.cwd or None,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise self._unstartable(error) from None
        return child

    def _unstartable(self, error: OSError | ValueError) -> ServerUnavailable:
        command, cwd = self._hide(self.config.command), self._hide(self.config.cwd)
        if self.config.cwd and not Path(self.config.cwd).is_dir():
            return ServerUnavailable(
                f"its folder {cwd!r} does not exist", "make the folder or change the server's cwd"
            )
        if isinstance(error, FileNotFoundError):
            return ServerUnavailable(
                f"there is no command {command!r}",
                "install it, or give its whole path as the server's command",
            )
        reason = error.strerror if isinstance(error, OSError) else str(error)
        return ServerUnavailable(
            f"{command!r} cannot be run: {self._hide(reason or '')}",
            "correct the server's command and arguments",
        )

    async def _receive(
        self, child: Child, inbox: MemoryObjectSendStream[SessionMessage | Exception]
    ) -> None:
        with inbox, suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            try:
                await self._hand_on(child, inbox)
            except _Hopeless as hopeless:
                self._fault = str(hopeless)
            else:
                self._fault = await self._last_of(child)

    async def _hand_on(
        self, child: Child, inbox: MemoryObjectSendStream[SessionMessage | Exception]
    ) -> None:
        lines = _Lines()
        while chunk := await child.read():
            for line in lines.of(chunk):
                message = _message(line)
                if message is not None:
                    self._junk = 0
                    await inbox.send(SessionMessage(message))
                else:
                    self._pass_over(line)

    def _pass_over(self, line: bytes) -> None:
        self._junk += 1
        if log.isEnabledFor(logging.DEBUG):
            shown = self._hide(line[:KEPT].decode("utf-8", "replace"))[:200]
            log.debug("%s: not a message: %s", self.config.name, shown)
        if self._junk >= MAX_JUNK:
            raise _Hopeless(f"it printed {MAX_JUNK:,} lines in a row that are not MCP messages")

    async def _last_of(self, child: Child) -> str:
        with anyio.move_on_after(LINGER):
            await child.exited.wait()
        command = self._hide(self.config.command)
        if child.returncode is None:
            return f"{command!r} closed its output"
        if child.returncode < 0:
            return f"{command!r} was ended by signal {-child.returncode}"
        return f"{command!r} ended with exit code {child.returncode}"

    async def _send(
        self,
        child: Child,
        outbox: MemoryObjectReceiveStream[SessionMessage],
        inbox: MemoryObjectSendStream[SessionMessage | Exception],
    ) -> None:
        with suppress(anyio.ClosedResourceError):
            async for each in outbox:
                line = each.message.model_dump_json(by_alias=True, exclude_unset=True)
                if not await child.write(line.encode() + b"\n"):
                    # Give the reader the time to learn why, then end the session in any case.
                    await anyio.sleep(2 * LINGER)
                    self._fault = self._fault or "it closed its input"
                    inbox.close()
                    return


def inherited(environ: Mapping[str, str]) -> dict[str, str]:
    """The few variables that every server is given; `()` begins a shell's function."""
    return {
        name: environ[name]
        for name in DEFAULT_INHERITED_ENV_VARS
        if name in environ and not environ[name].startswith("()")
    }


class _Hopeless(Exception):
    """The server writes what cannot be read."""


class _Lines:
    """Puts chunks together to lines, copying each byte once."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def of(self, chunk: bytes) -> Iterator[bytes]:
        first, *others = chunk.split(b"\n")
        self._add(first)
        for each in others:
            yield b"".join(self._parts)
            self._parts, self._size = [], 0
            self._add(each)

    def _add(self, part: bytes) -> None:
        self._parts.append(part)
        self._size += len(part)
        if self._size > MAX_LINE:
            raise _Hopeless(f"it sent a line of more than {MAX_LINE >> 20} MB")


def _message(line: bytes) -> JSONRPCMessage | None:
    try:
        return jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        return None
