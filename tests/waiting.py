"""How tests wait: until something has happened, and not for ever. Nothing else in them pauses.

What tells of itself is waited for in its own way: an event, the end of a process, a line that is
read. These are for what only a look can tell.
"""

import asyncio
import inspect
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

BOUND = 60.0
BETWEEN_LOOKS = 0.01
SLOWER = 6 if sys.gettrace() else 1
"""How many times longer it takes to compute something while coverage is measured."""
LIMITS = (0.2, 1.0, 5.0, 25.0)
"""Seconds: the first is enough on a machine that has nothing else to do."""


def until(happened: Callable[[], Any], what: str = "it", bound: float = BOUND) -> Any:
    """What it gives, as soon as that is something."""
    deadline, pause = time.monotonic() + bound, threading.Event()
    while not (found := happened()):
        assert time.monotonic() < deadline, f"{what} did not happen within {bound:g} s"
        pause.wait(BETWEEN_LOOKS)
    return found


async def soon(happened: Callable[[], Any], what: str = "it", bound: float = BOUND) -> Any:
    """The same, while others go on in this thread; what it gives may have to be awaited."""
    deadline = time.monotonic() + bound
    while not (found := await _known(happened())):
        assert time.monotonic() < deadline, f"{what} did not happen within {bound:g} s"
        await asyncio.sleep(BETWEEN_LOOKS)
    return found


async def _known(given: Any) -> Any:
    return await given if inspect.isawaitable(given) else given


def in_the_time_it_takes(attempt: Callable[[float], Any]) -> Any:
    """What it gives, as soon as that is something, with a limit in seconds that ran out.

    For what has to happen before a limit runs out: on a busy machine, that takes longer.
    """
    for seconds in LIMITS:
        if found := attempt(seconds):
            return found
    raise AssertionError(f"it did not happen within a limit of {LIMITS[-1]:g} s")
