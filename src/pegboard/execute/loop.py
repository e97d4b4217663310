"""The event loop that tools are run in, in a thread of its own, behind a plain face."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")

END_SECONDS = 3.0
"""So long the end waits for what was called off; each part of it takes a second at most."""


class Loop:
    """Started with the first thing to do."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._loop: Future[asyncio.AbstractEventLoop] = Future()
        self._end = asyncio.Event()
        self._closed = False
        self._last: Callable[[], Awaitable[None]] | None = None

    def submit(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        """Cancelling the future cancels the work; `close` waits until it has cleaned up."""
        with self._lock:
            if self._closed:
                work.close()
                raise RuntimeError("the loop is closed")
            if self._thread is None:
                # A daemon: a program that forgets to close must still be able to end.
                self._thread = threading.Thread(
                    target=lambda: asyncio.run(self._run()), name="pegboard-run", daemon=True
                )
                self._thread.start()
            return asyncio.run_coroutine_threadsafe(work, self._loop.result())

    def close(self, last: Callable[[], Awaitable[None]] | None = None) -> None:
        """End everything that runs, wait for it, and then do what is to be done last."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._last = last
            thread = self._thread
        if thread is not None:
            self._loop.result().call_soon_threadsafe(self._end.set)
            thread.join(END_SECONDS)

    async def _run(self) -> None:
        self._loop.set_result(asyncio.get_running_loop())
        await self._end.wait()
        rest = asyncio.all_tasks() - {asyncio.current_task()}
        for task in rest:
            task.cancel()
        if rest:
            await asyncio.wait(rest, timeout=END_SECONDS)
        if self._last is not None:
            await self._last()
