"""Threads in which the board is asked, so that no event loop waits for it."""

import asyncio
import os
import threading
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Generic, TypeVar

import anyio
import anyio.to_thread

from pegboard.board.find.patience import elsewhere
from pegboard.errors import BoardBusy, TooMany
from pegboard.model.calls import Caller

R = TypeVar("R")

THREADS = min((os.cpu_count() or 2) + 2, 16)
"""More that run at once would only wait for one another, and the event loop for them."""
WAITING = 32
"""Threads that wait for servers."""
MOST_ELSEWHERE = 64
"""Searches that wait for a model while others go on."""
TRIALS = 8
"""Tools that are tried at the same time before they are kept."""
MOST_TRIALS_OF_ONE = 2
MOST_LEFT = 32
"""When so many that were given up are still at work, the board does not answer, and is let be."""


class Threads:
    """Where the board is asked, so that the event loop never waits for it."""

    def __init__(self) -> None:
        self._limiter = anyio.CapacityLimiter(THREADS)
        self._waiting = anyio.CapacityLimiter(WAITING)
        self._searching = anyio.CapacityLimiter(THREADS)
        self._trials = anyio.CapacityLimiter(TRIALS)
        self._trying: Counter[Caller] = Counter()
        self._running = 0
        self._left = 0
        self._elsewhere = 0
        """How many searches wait for a model."""
        self._loop: asyncio.AbstractEventLoop
        self._change = threading.Condition()

    async def run(self, work: Callable[[], R]) -> R:
        """Given up, but not stopped, if the caller is cancelled."""
        return await self._run(work, abandon=True, limiter=self._limiter)

    async def run_slow(self, work: Callable[[], R]) -> R:
        """As `run`, for what may wait for a server: nobody else waits with it."""
        return await self._run(work, abandon=True, limiter=self._waiting)

    async def run_search(self, work: Callable[[], R]) -> R:
        """As `run`, for what may wait for a model: while one does, another may begin."""
        self._loop = asyncio.get_running_loop()
        elsewhere.set(self._while_waiting)
        return await self._run(work, abandon=True, limiter=self._searching)

    @contextmanager
    def _while_waiting(self) -> Iterator[None]:
        """In the thread of a search that waits."""
        loop = self._loop
        with suppress(RuntimeError):  # the loop is closed, and nobody begins any more
            loop.call_soon_threadsafe(self._make_room, 1)
        try:
            yield
        finally:
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(self._make_room, -1)

    def _make_room(self, more: int) -> None:
        """In the event loop."""
        self._elsewhere += more
        self._searching.total_tokens = THREADS + min(self._elsewhere, MOST_ELSEWHERE)

    async def run_to_end(self, work: Callable[[], R]) -> R:
        """Finished even if the caller is cancelled meanwhile."""
        return await _to_end(self._run(work, abandon=False, limiter=self._waiting))

    async def run_trial(self, whose: Caller, work: Callable[[], R]) -> R:
        """As `run_to_end`, for what runs a tool and waits for it: nobody else waits with it."""
        if self._trying[whose] >= MOST_TRIALS_OF_ONE:
            raise TooMany(
                f"{self._trying[whose]} tools that you make are being tried just now",
                "wait until that is done, or make it without try_with",
            )
        self._trying[whose] += 1  # at once: the next one may come before this one has begun
        return await _to_end(self._try(whose, work))

    async def _try(self, whose: Caller, work: Callable[[], R]) -> R:
        try:
            return await self._run(work, abandon=False, limiter=self._trials)
        finally:
            self._trying[whose] -= 1
            self._trying += Counter()  # leaves out those who have none

    async def _run(
        self, work: Callable[[], R], *, abandon: bool, limiter: anyio.CapacityLimiter
    ) -> R:
        if self._left >= MOST_LEFT:
            raise BoardBusy(
                f"{self._left} requests that were given up are still waiting for the board",
                "try again in a while; see what holds it up",
            )
        mine = _Work(work)
        try:
            return await anyio.to_thread.run_sync(
                self._counted, mine, abandon_on_cancel=abandon, limiter=limiter
            )
        finally:
            self._settle(mine)

    def _counted(self, mine: "_Work[R]") -> R:
        with self._change:
            self._running += 1
            mine.begun = True
        try:
            return mine.work()
        finally:
            with self._change:
                self._running -= 1
                self._left -= mine.left
                mine.begun = mine.left = False
                self._change.notify_all()

    def _settle(self, mine: "_Work[R]") -> None:
        """Nobody waits for it any more; if it is still at work, that is remembered."""
        with self._change:
            if mine.begun:
                mine.left = True
                self._left += 1

    def rest(self, seconds: float) -> bool:
        """Wait until nothing runs any more; false if something still does after so long."""
        with self._change:
            return self._change.wait_for(lambda: not self._running, seconds)


async def _to_end(work: Coroutine[Any, Any, R]) -> R:
    """In a task of its own, which nobody cancels: thread and limiter end together."""
    task = asyncio.ensure_future(work)
    # Should nobody wait for it any more, nobody wants to know how it failed either.
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    # Anyio's own way to cancel waits until it is done: what was begun must be known to be ended.
    with anyio.CancelScope(shield=True):
        await asyncio.wait([task])
    return task.result()


class _Work(Generic[R]):
    __slots__ = ("begun", "left", "work")

    def __init__(self, work: Callable[[], R]) -> None:
        self.work = work
        self.begun = False
        self.left = False
