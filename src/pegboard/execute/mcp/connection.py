"""A server that answers: how it is greeted, what it lists, and calls to its tools."""

import asyncio
import json
import logging
from collections.abc import Coroutine, Mapping
from contextlib import AbstractAsyncContextManager
from importlib.metadata import version
from typing import Any, Protocol, TypeVar

import anyio
from mcp.client._transport import TransportStreams
from mcp.client.session import ClientSession, IncomingMessage
from mcp.client.subscriptions import SubscriptionLost, listen
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CONNECTION_CLOSED,
    METHOD_NOT_FOUND,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    Implementation,
    PaginatedRequestParams,
    ToolListChangedNotification,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from pegboard.errors import ServerUnavailable
from pegboard.execute.mcp.pipes import Pipes
from pegboard.execute.mcp.progress import Relay
from pegboard.execute.mcp.wire import FaithfulDispatcher
from pegboard.model.calls import CallResult, Listing, OnProgress, Outcome, ServerConfig

log = logging.getLogger(__name__)

MAX_BLOCKS = 10_000
RESERVED = "io.modelcontextprotocol/"

MAX_PAGES = 100
MAX_TOOLS = 10_000
MAX_LISTED = 64 << 20
"""Characters of JSON in all pages together."""

RELISTEN = 60.0
PULSE = 30.0
UNTIL_DEAD = 10.0

_WHO = Implementation(name="pegboard", version=version("pegboard"))

T = TypeVar("T")


class Line(Protocol):
    """A way to a server. It is opened once."""

    expired: bool
    """Whether the server has forgotten this session, as after a restart."""

    def open(self) -> AbstractAsyncContextManager[TransportStreams]: ...

    def hang_up(self) -> None: ...

    def kill(self) -> None: ...

    def fault(self) -> str:
        """What the line knows about why it ended, or does not answer."""
        ...


class ConnectionLost(Exception):
    """The server went away before it answered."""


class ConnectionForgotten(ConnectionLost):
    """The server does not know this session any more, and so has not done what was asked."""


class Connection:
    def __init__(self, config: ServerConfig, line: Line, streams: TransportStreams) -> None:
        self.config = config
        self.line = line
        self.wire = FaithfulDispatcher(*streams)
        self.session = ClientSession(
            dispatcher=self.wire, message_handler=self._hear, client_info=_WHO
        )
        self.names: frozenset[str] = frozenset()
        """The tools that can be called now, unless `stale`."""
        self.stale = False
        self.changed = asyncio.Event()
        self.first: Listing | None = None
        self.over = asyncio.Event()
        self.fault: ServerUnavailable | None = None
        """Why it ended, when it is over."""
        self._walking = asyncio.Lock()

    def end(self) -> None:
        self.wire.ended.set()

    async def _hear(self, message: IncomingMessage) -> None:
        if isinstance(message, ToolListChangedNotification):
            self.stale = True
            self.changed.set()

    def take_first(self) -> Listing | None:
        """The list from the start, once, and only while it holds."""
        first, self.first = self.first, None
        return None if self.stale else first

    async def greet(self) -> None:
        """The older handshake first, the newer one for a server that refuses it.

        The other way round, as the SDK does it, a server that ignores what it does not know costs
        ten seconds, and one that ends when its first message is not `initialize` is lost.
        """
        try:
            await self.session.initialize()
        except MCPError as refused:
            if self.wire.ended.is_set():
                raise
            try:
                await self.session.discover()
            except (MCPError, RuntimeError, ValueError):
                raise refused from None

    async def walk(self) -> Listing:
        """All pages of the list, as the server wrote them."""
        async with self._walking:
            self.stale = False
            self.first = None
            try:
                tools = await self._pages()
            except BaseException:
                self.stale = True
                raise
            self.names = frozenset(
                name for tool in tools if isinstance(name := tool.get("name"), str)
            )
            info = self.session.server_info
            return Listing(tuple(tools), f"{info.name} {info.version}".strip() if info else "")

    async def _pages(self) -> list[dict[str, Any]]:
        tools: list[dict[str, Any]] = []
        cursors: set[str] = set()
        cursor: str | None = None
        size = 0
        for _ in range(MAX_PAGES):
            page = await self._page(cursor)
            size += len(json.dumps(page))
            tools += _tools_on(page, self.config.name)
            if len(tools) > MAX_TOOLS or size > MAX_LISTED:
                raise ServerUnavailable(
                    f"it lists more than {MAX_TOOLS:,} tools or {MAX_LISTED >> 20} MB",
                    "let the server offer fewer tools",
                )
            cursor = page.get("nextCursor")
            if not isinstance(cursor, str) or not cursor:
                return tools
            if cursor in cursors:
                raise ServerUnavailable(
                    "its list of tools never ends: it gave the same cursor twice",
                    "tell whoever makes the server",
                )
            cursors.add(cursor)
        raise ServerUnavailable(
            f"its list of tools has more than {MAX_PAGES} pages", "tell whoever makes the server"
        )

    async def _page(self, cursor: str | None) -> dict[str, Any]:
        try:
            result = await self.session.list_tools(params=PaginatedRequestParams(cursor=cursor))
        except MCPError as error:
            offered = self.session.server_capabilities
            if error.code == METHOD_NOT_FOUND and offered is not None and offered.tools is None:
                return {"tools": []}
            raise self._judged(error) from error
        return self.wire.take(result)

    async def listen(self) -> None:
        """Keep the newer protocol's stream of changes open; they arrive with all other messages."""
        offered = self.session.server_capabilities
        if (
            self.session.protocol_version not in MODERN_PROTOCOL_VERSIONS
            or offered is None
            or offered.tools is None
            or not offered.tools.list_changed
        ):
            return
        while True:
            try:
                async with listen(self.session, tools_list_changed=True) as changes:
                    async for _ in changes:
                        pass
            except (MCPError, SubscriptionLost) as error:
                log.debug("%s: no news of changes: %s", self.config.name, error)
            await anyio.sleep(RELISTEN)

    async def feel_pulse(self) -> None:
        """A server that is reached anew with each request can go without a word."""
        if isinstance(self.line, Pipes):
            return
        while True:
            await anyio.sleep(PULSE)
            try:
                await within(UNTIL_DEAD, self.session.send_ping())
            except TimeoutError:
                self.end()
            except MCPError as error:
                if isinstance(self._judged(error), ConnectionLost):
                    self.end()
            except ValueError:
                log.debug("%s has a strange pulse, but it has one", self.config.name)

    async def call(
        self, tool: str, arguments: Mapping[str, Any], seconds: float, listener: OnProgress | None
    ) -> CallResult:
        """Raises `TimeoutError`, `ConnectionLost` and, for a server's refusal, `MCPError`."""
        relay = Relay(listener) if listener else None
        try:
            written = await within(seconds, self._ask(tool, dict(arguments), relay))
            if relay is not None:
                await relay.told()
        except MCPError as error:
            raise self._judged(error) from error
        finally:
            if relay is not None:
                relay.close()
        return answer(written)

    async def _ask(
        self, tool: str, arguments: dict[str, Any], relay: Relay | None
    ) -> dict[str, Any]:
        params = CallToolRequestParams(name=tool, arguments=arguments)
        result = await self.session.send_request(
            CallToolRequest(params=params), CallToolResult, progress_callback=relay
        )
        return self.wire.take(result)

    def _judged(self, error: MCPError) -> MCPError | ConnectionLost:
        if self.line.expired:
            return ConnectionForgotten(error.message)
        # Servers use the same code for errors of their own, so what the SDK says decides.
        lost = error.message.startswith(("Connection closed", "SSE stream"))
        return ConnectionLost(error.message) if lost and error.code == CONNECTION_CLOSED else error


async def within(seconds: float, work: Coroutine[Any, Any, T]) -> T:
    """Raises `TimeoutError` at once: work that is given up still tells the server, by itself."""
    task = asyncio.create_task(work)
    try:
        await asyncio.wait({task}, timeout=seconds)
        if not task.done():
            raise TimeoutError
        return task.result()
    finally:
        if not task.done():
            _LETTING_GO.add(task)
            task.add_done_callback(_let_go)
            task.cancel()


_LETTING_GO: set[asyncio.Task[Any]] = set()
"""The event loop itself holds tasks only weakly."""


def _let_go(task: "asyncio.Task[Any]") -> None:
    _LETTING_GO.discard(task)
    if not task.cancelled() and (error := task.exception()) is not None:
        log.debug("given up, and then it failed: %s", error)


def _tools_on(page: Mapping[str, Any], server: str) -> list[dict[str, Any]]:
    listed = page.get("tools")
    if not isinstance(listed, list):
        raise ServerUnavailable(
            "its answer to tools/list has no list of tools", "tell whoever makes the server"
        )
    tools = [tool for tool in listed if isinstance(tool, dict)]
    if len(tools) < len(listed):
        log.warning("%s lists %d things that are no tools", server, len(listed) - len(tools))
    return tools


def answer(written: Mapping[str, Any]) -> CallResult:
    """A result as the server wrote it, in our words."""
    if written.get("resultType") == "input_required":
        return CallResult(
            Outcome.FAILED, error="the tool asks a person for more, which Pegboard cannot pass on"
        )
    content = written.get("content")
    if not isinstance(content, list) or not all(isinstance(each, dict) for each in content):
        return CallResult(Outcome.FAILED, error="the server's answer has no list of content")
    if len(content) > MAX_BLOCKS:
        said = f"the result has {len(content):,} parts; at most {MAX_BLOCKS:,} are passed on"
        return CallResult(Outcome.FAILED, error=said)
    structured = written.get("structuredContent")
    if structured is not None and not isinstance(structured, dict):
        structured = {"result": structured}
    failed = written.get("isError") is True
    return CallResult(
        Outcome.FAILED if failed else Outcome.OK,
        tuple(content),
        structured,
        "the tool failed and did not say why" if failed and not content else "",
        meta=_meta_of(written),
    )


def _meta_of(written: Mapping[str, Any]) -> dict[str, Any] | None:
    """Without the protocol's own part, which is about the connection to this server."""
    meta = written.get("_meta")
    if not isinstance(meta, dict):
        return None
    own = {key: value for key, value in meta.items() if not key.startswith(RESERVED)}
    return own or None
