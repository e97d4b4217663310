"""Tools of MCP servers: the call goes through the pooled session of the tool's server."""

import asyncio
import math
from collections.abc import Callable
from concurrent.futures import Future

from pegboard.execute.job import Job
from pegboard.model.calls import CallResult, OnProgress
from pegboard.model.content import Json
from pegboard.model.items import Item

Start = Callable[[Item, Json, float | None, OnProgress | None], "Future[CallResult]"]


class McpExecutor:
    def __init__(self, start: Start) -> None:
        self._start = start

    async def run(self, job: Job) -> CallResult:
        """Where nobody sets a limit, that of the server's configuration holds."""
        seconds = None if math.isinf(job.limits.seconds) else job.limits.seconds
        # Sessions may have to be opened first, which loads the protocol's library.
        begun = asyncio.ensure_future(
            asyncio.to_thread(self._start, job.item, job.arguments, seconds, job.on_progress)
        )
        try:
            call = await asyncio.shield(begun)
        except asyncio.CancelledError:
            begun.add_done_callback(_call_off)
            raise
        return await asyncio.wrap_future(call)

    async def close(self) -> None:
        """The sessions are the board's own, and end with it."""


def _call_off(begun: "asyncio.Future[Future[CallResult]]") -> None:
    """A call that begins although nobody wants it any more."""
    if not begun.cancelled() and begun.exception() is None:
        begun.result().cancel()
