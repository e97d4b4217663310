"""How long a search may take, and what becomes of what it no longer waits for."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, ParamSpec, TypeVar

from pegboard.model.answers import Answer

P = ParamSpec("P")
R = TypeVar("R")

MOST_LATE = 4
"""When so many that nobody waits for are still at work, no more is begun."""

CLOSE_SECONDS = 1.0
SOON_SECONDS = 0.05
"""A wait that is over by then is none."""

elsewhere: ContextVar[Callable[[], AbstractContextManager[None]]] = ContextVar(
    "elsewhere", default=nullcontext
)
"""What a thread is inside of while it waits long: whoever has few of them may begin another one."""


class Overdue(Exception):
    """What was begun before has not come back yet."""


class Beside(Executor):
    """Threads that work beside those of the searches.

    A model that hangs keeps its thread, so for each that nobody waits for there is another one.
    When too many have been waited for in vain, no more is begun: searches go on without, at once.
    The end of the process waits for none of them: what hangs would hold it up for as long.
    """

    def __init__(self, threads: int, most_late: int = MOST_LATE) -> None:
        self._most = threads
        self._most_late = most_late
        self._late = self._open = self._threads = self._idle = 0
        self._closing = False
        self._work: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        self._change = threading.Condition()

    @property
    def late(self) -> int:
        """How many are at work that nobody waits for."""
        return self._late

    def begin(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> "Future[R]":
        """As `submit`; raises `Overdue` if too many have not come back."""
        if self._late >= self._most_late:
            raise Overdue
        return self.submit(work, *args, **kwargs)

    def give_up(self, begun: "Future[R]") -> None:
        """Nobody waits for this any more."""
        if begun.cancel():
            return
        self._count(1)
        begun.add_done_callback(lambda _: self._count(-1))

    def _count(self, more: int) -> None:
        with self._change:
            self._late += more
            self._most += more

    def submit(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> "Future[R]":
        begun: Future[R] = Future()
        with self._change:
            if self._closing:
                raise RuntimeError("this board is closed")
            self._open += 1
            self._work.put((begun, partial(fn, *args, **kwargs)))
            begins = not self._idle and self._threads < self._most
            self._idle -= bool(self._idle)
            self._threads += begins
        begun.add_done_callback(self._closed)
        if begins:
            threading.Thread(target=self._go_on, name="pegboard-search", daemon=True).start()
        return begun

    def _go_on(self) -> None:
        while (next_one := self._work.get()) is not None:
            settle(*next_one)
            del next_one  # and with it what it brought back: nobody may want it any more
            with self._change:
                self._idle += self._work.empty()

    def _closed(self, _: object) -> None:
        with self._change:
            self._open -= 1
            self._change.notify_all()

    def close(self) -> None:
        """Waits for what is at work, unless that hangs."""
        with self._change:
            self._closing = True
        while (waiting := self._left_over()) is not None:
            waiting.cancel()
        for _ in range(self._threads):
            self._work.put(None)
        with self._change:
            self._change.wait_for(lambda: not self._open, CLOSE_SECONDS)

    def _left_over(self) -> "Future[Any] | None":
        try:
            found = self._work.get_nowait()
        except Empty:
            return None
        return found[0] if found else None


def settle(begun: "Future[R]", work: Callable[[], R]) -> None:
    """Do the work, and let whoever waits for it have what comes of that, an error too."""
    if not begun.set_running_or_notify_cancel():
        return
    try:
        result = work()
    except Exception as error:  # noqa: BLE001 (whoever waits for it gets it)
        begun.set_exception(error)
    else:
        begun.set_result(result)


class Patience:
    """Ends at one moment. Asked from another thread, it tells what has been found so far."""

    def __init__(self, seconds: float, left: float | None = None) -> None:
        self.seconds = seconds
        self._deadline = time.monotonic() + (seconds if left is None else left)
        self.so_far: Callable[[], Answer] | None = None
        """Set by the search as soon as there is something to tell."""

    @property
    def left(self) -> float:
        return max(self._deadline - time.monotonic(), 0.0)

    def wait(self, wait: Callable[[float], R]) -> R:
        """What comes of a wait that takes its seconds; raises `TimeoutError` at the end of them."""
        try:
            return wait(min(self.left, SOON_SECONDS))
        except TimeoutError:
            with elsewhere.get()():
                return wait(self.left)
