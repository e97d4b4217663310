"""One server's life: started when it is first asked, started again when it died."""

import asyncio
import json
import logging
import math
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from typing import Any

import anyio
import httpx2
from mcp.shared.exceptions import MCPError

from pegboard.errors import ServerUnavailable
from pegboard.execute.mcp.connection import (
    Connection,
    ConnectionForgotten,
    ConnectionLost,
    Line,
    within,
)
from pegboard.execute.mcp.hiding import Hiding
from pegboard.execute.mcp.pipes import Pipes
from pegboard.execute.mcp.references import expanded, secrets_of
from pegboard.execute.mcp.remote import Remote
from pegboard.execute.mcp.telling import Telling
from pegboard.model.calls import (
    CallResult,
    Health,
    Listing,
    OnProgress,
    Outcome,
    ServerConfig,
    ServerState,
    Transport,
)
from pegboard.text import harmless

log = logging.getLogger(__name__)

FIRST_PAUSE = 1.0
LAST_PAUSE = 60.0
BETWEEN_CHANGES = 1.0
"""A server that says with every answer that its tools changed is not asked without end."""

_GENTLY = 0.6
_AT_ONCE = 1.2

_FAULTS = (
    ServerUnavailable,
    ConnectionLost,
    MCPError,
    httpx2.HTTPError,
    httpx2.InvalidURL,
    anyio.BrokenResourceError,
    anyio.ClosedResourceError,
    OSError,
    ValueError,
    RuntimeError,
    ExceptionGroup,
)
"""What the SDK and its transports raise when a server is not there or not to be understood."""

_SLOW = "give it more time, if it is only slow, with start_timeout in its configuration"
_BY_HAND = "try the server by itself to see what is wrong"


class _Attempt:
    """One start, for all who wait for it."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.settled = asyncio.Event()
        self.connection: Connection | None = None
        self.fault: ServerUnavailable | None = None


class Session:
    """All but `state`, `live` and `kill` is for the thread of the event loop."""

    def __init__(
        self,
        config: ServerConfig,
        environ: Mapping[str, str],
        slots: asyncio.Semaphore,
        telling: Telling,
        hiding: Hiding,
    ) -> None:
        self.config = config
        self.state = ServerState(config.name)
        self._environ = environ
        self._slots = slots
        self._telling = telling
        self._hiding = hiding
        self._line: Line | None = None
        self._attempt = _Attempt()
        self._tried = False
        self._stopping = False
        self._scope: anyio.CancelScope | None = None
        self._life: asyncio.Task[None] | None = None

    @property
    def live(self) -> bool:
        return self.state.health is Health.LIVE

    @property
    def stopped(self) -> bool:
        return self._stopping and (self._life is None or self._life.done())

    async def listing(self) -> Listing:
        """Raises `ServerUnavailable`."""
        for last in (False, True):
            connection = await self._connected()
            try:
                return connection.take_first() or await self._listed(connection)
            except ConnectionLost as lost:
                why = await self._after(connection)
                if last or not isinstance(lost, ConnectionForgotten):
                    raise why from None
        raise AssertionError("the second round returns or raises")

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        seconds: float | None,
        on_progress: OnProgress | None,
    ) -> CallResult:
        began = time.monotonic()
        limit = self.config.call_seconds if seconds is None else seconds
        result = await self._call(tool, arguments, limit, on_progress)
        return result._replace(seconds=time.monotonic() - began)

    async def stop(self) -> None:
        """The server is asked to end, then made to."""
        self._stopping = True
        self._attempt.asked.set()
        if self._life is None:
            self._settle(self._attempt, self._unavailable("it was closed"))
            return
        if (connection := self._attempt.connection) is not None:
            connection.end()
            await asyncio.wait({self._life}, timeout=_GENTLY)
        if self._scope is not None:
            self._scope.cancel()
        await asyncio.wait({self._life}, timeout=_AT_ONCE)

    def kill(self) -> None:
        if self._line is not None:
            self._line.kill()

    async def _connected(self) -> Connection:
        attempt = self._attempt
        if self._stopping:
            raise self._unavailable("it was closed")
        if self._life is None:
            self._life = asyncio.create_task(self._keep_alive())
            self._life.add_done_callback(self._died)
        attempt.asked.set()
        await attempt.settled.wait()
        if attempt.connection is None:
            raise attempt.fault or self._unavailable("it ended")
        return attempt.connection

    async def _listed(self, connection: Connection) -> Listing:
        try:
            listing = await within(self.config.start_seconds, connection.walk())
        except TimeoutError:
            connection.end()
            raise self._unavailable(
                f"it did not list its tools within {self.config.start_seconds:g} s", _SLOW
            ) from None
        except ServerUnavailable as error:
            raise self._unavailable(error.message, error.hint) from None
        except MCPError as error:
            raise self._unavailable(f"it did not list its tools: {error.message}") from None
        if not connection.wire.ended.is_set():
            self._say(Health.LIVE, tools=len(listing.tools))
        return listing

    async def _call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        seconds: float,
        on_progress: OnProgress | None,
        *,
        last: bool = False,
    ) -> CallResult:
        name = self.config.name
        if wrong := _unsendable(arguments):
            return CallResult(Outcome.INVALID_ARGUMENTS, error=f"the arguments {wrong}")
        end = time.monotonic() + seconds
        connection = await self._connected_within(seconds)
        if isinstance(connection, CallResult):
            return connection
        try:
            if connection.stale or tool not in connection.names:
                late = f"MCP server {name!r} did not list its tools within {seconds:g} s"
                await within(_left(end), self._listed(connection))
            if tool not in connection.names:
                said = f"MCP server {name!r} does not offer {tool!r} now"
                return CallResult(Outcome.UNAVAILABLE, error=said)
            late = f"{tool!r} on MCP server {name!r} did not answer within {seconds:g} s"
            late += " and was cancelled"
            return await connection.call(tool, arguments, _left(end), on_progress)
        except ServerUnavailable as error:
            return CallResult(Outcome.UNAVAILABLE, error=str(error))
        except TimeoutError:
            return CallResult(Outcome.TIMEOUT, error=late)
        except ConnectionLost as lost:
            why = await self._after(connection)
            if last or not isinstance(lost, ConnectionForgotten):
                return CallResult(Outcome.UNAVAILABLE, error=str(why))
            return await self._call(tool, arguments, _left(end), on_progress, last=True)
        except MCPError as error:
            unsaid = error.message == "Server returned an error response"
            said = (unsaid and connection.line.fault()) or error.message
            return CallResult(Outcome.FAILED, error=harmless(self._hiding.hide(said)))

    async def _connected_within(self, seconds: float) -> Connection | CallResult:
        """A call's time runs while its server starts."""
        try:
            return await within(seconds, self._connected())
        except ServerUnavailable as error:
            return CallResult(Outcome.UNAVAILABLE, error=str(error))
        except TimeoutError:
            said = f"MCP server {self.config.name!r} did not start within {seconds:g} s"
            return CallResult(Outcome.TIMEOUT, error=said)

    async def _after(self, connection: Connection) -> ServerUnavailable:
        """Why the connection was lost, which is known only when all of it has ended."""
        connection.end()
        with suppress(TimeoutError):
            await asyncio.wait_for(connection.over.wait(), _AT_ONCE)
        return connection.fault or self._unavailable("the connection ended")

    async def _keep_alive(self) -> None:
        pause = FIRST_PAUSE
        while not self._stopping:
            began = time.monotonic()
            await self._one_life()
            if self._stopping:
                return
            if time.monotonic() - began > LAST_PAUSE:
                pause = FIRST_PAUSE
            try:
                await asyncio.wait_for(self._attempt.asked.wait(), pause)
            except TimeoutError:
                pause = min(2 * pause, LAST_PAUSE)

    async def _one_life(self) -> None:
        attempt = self._attempt
        fault = self._unavailable("it ended")
        try:
            with anyio.CancelScope() as scope:
                self._scope = scope
                fault = await self._hold(attempt, scope)
            if scope.cancelled_caught:
                said = f"it did not answer within {self.config.start_seconds:g} s"
                fault = self._unavailable(self._because(said), _SLOW)
        except _FAULTS as error:
            log.debug("%s ended", self.config.name, exc_info=True)
            fault = self._explained(error)
        finally:
            if self._stopping:
                fault = self._unavailable("it was closed")
            self._settle(attempt, fault)
        if not self._stopping:
            self._say(Health.DOWN, str(fault))

    async def _hold(self, attempt: _Attempt, scope: anyio.CancelScope) -> ServerUnavailable:
        """Start the server and stay until it ends; returns why it did."""
        async with AsyncExitStack() as slot:
            await slot.enter_async_context(self._slots)
            scope.deadline = anyio.current_time() + self.config.start_seconds
            line = self._line = self._choose_line()
            async with line.open() as streams:
                connection = Connection(self.config, line, streams)
                async with connection.session:
                    try:
                        await connection.greet()
                        connection.first = await connection.walk()
                        scope.deadline = math.inf
                        await slot.aclose()
                        self._open_for_all(attempt, connection)
                        await self._stay(connection)
                    except _FAULTS as error:
                        return self._explained(error)
                    finally:
                        self._replace(attempt)
                        line.hang_up()
            return self._unavailable(self._because(""), _BY_HAND)

    async def _stay(self, connection: Connection) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(connection.listen)
            tasks.start_soon(connection.feel_pulse)
            tasks.start_soon(self._tell_changes, connection)
            await connection.wire.ended.wait()
            tasks.cancel_scope.cancel()

    async def _tell_changes(self, connection: Connection) -> None:
        while True:
            await connection.changed.wait()
            connection.changed.clear()
            self._telling.changed(self.config.name)
            await anyio.sleep(BETWEEN_CHANGES)

    def _choose_line(self) -> Line:
        config = expanded(self.config, self._environ)
        self._hiding.learn(secrets_of(self.config, self._environ))
        if config.transport is Transport.STDIO:
            return Pipes(config, self._environ, self._hiding.hide)
        return Remote(config, self._hiding.hide)

    def _open_for_all(self, attempt: _Attempt, connection: Connection) -> None:
        attempt.connection = connection
        self._settle(attempt)
        self._say(Health.LIVE, tools=len(connection.first.tools) if connection.first else 0)
        if self._tried:
            self._telling.changed(self.config.name)
        self._tried = True

    def _settle(self, attempt: _Attempt, fault: ServerUnavailable | None = None) -> None:
        """Those who wait go on, and with a fault nothing more comes of this attempt."""
        if fault is not None:
            self._tried = True
            attempt.fault = fault
            if attempt.connection is not None:
                attempt.connection.fault = fault
                attempt.connection.over.set()
            self._replace(attempt)
        attempt.settled.set()

    def _replace(self, attempt: _Attempt) -> None:
        """Whoever asks from now on waits for the next start."""
        if self._attempt is attempt:
            self._attempt = _Attempt()

    def _died(self, life: "asyncio.Task[None]") -> None:
        """Nobody may wait for a life that has ended, least of all for one that ended in a bug."""
        self._settle(self._attempt, self._unavailable("it was closed"))
        if not life.cancelled() and (error := life.exception()) is not None:
            log.error("the session of %s broke", self.config.name, exc_info=error)
            self._say(Health.DOWN, f"{type(error).__name__} in Pegboard itself; see its log")
            self._life = None

    def _say(self, health: Health, error: str = "", tools: int | None = None) -> None:
        kept = self.state.tools if tools is None else tools
        self.state = ServerState(self.config.name, health, error, kept, time.time())
        self._telling.state(self.state)

    def _explained(self, error: BaseException) -> ServerUnavailable:
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        if isinstance(error, ServerUnavailable):
            return self._unavailable(error.message, error.hint)
        said = str(error) or type(error).__name__
        if isinstance(error, ConnectionLost) or said == "Connection closed":
            said = ""
        elif isinstance(error, MCPError):
            said = f"it refused: {said}"
        elif said == "All connection attempts failed":
            said = f"nothing answers at {self.config.url}"
        return self._unavailable(self._because(said), _BY_HAND)

    def _because(self, reason: str) -> str:
        known = self._line.fault() if self._line else ""
        return "; ".join(part for part in (reason, known) if part) or "the connection ended"

    def _unavailable(self, reason: str, hint: str = "") -> ServerUnavailable:
        message = harmless(self._hiding.hide(f"MCP server {self.config.name!r}: {reason}"))
        return ServerUnavailable(message, hint)


def _left(end: float) -> float:
    return max(end - time.monotonic(), 0.0)


def _unsendable(arguments: Mapping[str, Any]) -> str:
    """Why these are not JSON, which would otherwise end the session for all other calls."""
    try:
        json.dumps(arguments, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        return f"cannot be written as JSON: {str(error)[:200]}"
    return ""
