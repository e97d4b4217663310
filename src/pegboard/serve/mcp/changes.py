"""Tells connected clients when what they were shown of the board is out of date."""

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import anyio
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp_types import (
    NotificationParams,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
)

from pegboard.serve.mcp.table import Context

PAUSE_SECONDS = 1.0
"""Between one notification and the next."""
MOST_LISTENERS = 1_000


class Changes:
    """Follows one board, for all clients of one event loop and for those of others.

    `look` tells what clients are shown; they hear of a change only if it says something else.
    """

    def __init__(self, look: Callable[[], Awaitable[str]]) -> None:
        self._look = look
        self._lock = threading.Lock()
        self._following: set[Following] = set()

    def board_changed(self) -> None:
        """May be called from any thread, and as often as one likes."""
        with self._lock:
            for each in self._following:
                each.ring()

    def end_listening(self) -> None:
        """For the event loop that all of them are in."""
        with self._lock:
            for each in self._following:
                each.listen.close()

    @asynccontextmanager
    async def following(self, _server: object) -> AsyncIterator["Following"]:
        """What a server has open while it serves."""
        following = Following(self._look)
        with self._lock:
            self._following.add(following)
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(following.run)
                yield following
                tasks.cancel_scope.cancel()
        finally:
            with self._lock:
                self._following.discard(following)


class Following:
    def __init__(self, look: Callable[[], Awaitable[str]]) -> None:
        self._look = look
        self._loop = asyncio.get_running_loop()
        self._rung = asyncio.Event()
        self._bus = InMemorySubscriptionBus()
        self._listeners = 0
        self._shown: str | None = None
        self.listen = ListenHandler(self._bus, max_subscriptions=MOST_LISTENERS)

    def ring(self) -> None:
        with suppress(RuntimeError):  # the loop is closed, and nobody listens any more
            self._loop.call_soon_threadsafe(self._rung.set)

    def was_shown(self, text: str) -> None:
        """What a client was shown first; from then on, whoever is connected hears of changes."""
        if self._shown is None:
            self._shown = text

    async def run(self) -> None:
        while True:
            await self._rung.wait()
            self._rung.clear()
            if self._shown is not None and await self._differs():
                await self._bus.publish(ToolsListChanged())
                await anyio.sleep(PAUSE_SECONDS)

    async def _differs(self) -> bool:
        before, self._shown = self._shown, await self._look()
        return self._shown != before

    async def tell(self, context: Context) -> None:
        """Notify a client of the handshake era for as long as it is connected."""
        if self._listeners >= MOST_LISTENERS:
            return
        news = asyncio.Event()
        leave = self._bus.subscribe(lambda event: news.set())
        self._listeners += 1
        try:
            while True:
                await news.wait()
                news.clear()
                await context.session.send_tool_list_changed()
        finally:
            self._listeners -= 1
            leave()


async def initialized(context: Context, _params: NotificationParams) -> None:
    """Runs until the connection ends, and is cancelled then."""
    await context.lifespan_context.tell(context)


async def listen(
    context: Context, params: SubscriptionsListenRequestParams
) -> SubscriptionsListenResult:
    """The same for clients of the later era, which ask for it."""
    result: SubscriptionsListenResult = await context.lifespan_context.listen(context, params)
    return result
