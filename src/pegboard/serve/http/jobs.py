"""Work that goes on while nobody waits for it: of each name one at a time, whoever began it."""

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from pegboard.errors import PegboardError
from pegboard.serve.threads import Threads

log = logging.getLogger(__name__)

R = TypeVar("R")


class Jobs:
    """Used in the event loop alone. Under one name goes one kind of work."""

    def __init__(self, threads: Threads) -> None:
        self._threads = threads
        self._going: dict[str, asyncio.Task[Any]] = {}

    def begin(self, name: str, work: Callable[[], R]) -> asyncio.Task[R]:
        """Unless it is going on already: then it is that which is waited for."""
        if (going := self._going.get(name)) is not None:
            return going
        task = asyncio.create_task(self._threads.run_to_end(work))
        self._going[name] = task
        task.add_done_callback(partial(self._ended, name))
        return task

    async def alone(self, name: str, work: Callable[[], R]) -> R:
        """For whoever wants to know of what is there now: begun after what is going on has ended.

        It is finished even if nobody waits for it any more.
        """
        while (going := self._going.get(name)) is not None:
            await asyncio.wait([going])
        return await asyncio.shield(self.begin(name, work))

    def _ended(self, name: str, task: "asyncio.Task[Any]") -> None:
        """Nobody may be there any more to be told that it went wrong."""
        del self._going[name]
        error = None if task.cancelled() else task.exception()
        if isinstance(error, PegboardError):
            log.warning("%s was not done: %s", name, error.message)
        elif error is not None:
            log.error("%s failed in a way that is not known", name, exc_info=error)
