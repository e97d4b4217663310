"""Passes on that the board may have changed, from whichever thread knows it."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress

Listener = Callable[[], None]


class News:
    """Each listener is called in the thread that rings, and so must do next to nothing."""

    def __init__(self) -> None:
        self._listeners: set[Listener] = set()
        self._lock = threading.Lock()

    def ring(self) -> None:
        """May be called from any thread, and as often as one likes."""
        with self._lock:
            for each in self._listeners:
                each()

    def tell(self, listener: Listener) -> None:
        with self._lock:
            self._listeners.add(listener)

    def forget(self, listener: Listener) -> None:
        with self._lock:
            self._listeners.discard(listener)


class Bell:
    """For whoever waits in an event loop. Several rings before it looks are one."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._rung = asyncio.Event()

    def ring(self) -> None:
        with suppress(RuntimeError):  # the loop is closed, and nobody listens any more
            self._loop.call_soon_threadsafe(self._rung.set)

    async def rung(self, seconds: float) -> bool:
        """True when it was rung since the last time; false when nothing is heard for so long."""
        try:
            async with asyncio.timeout(seconds):
                await self._rung.wait()
        except TimeoutError:
            return False
        self._rung.clear()
        return True
