"""A call is waited for as long as somebody waits."""

import asyncio
from typing import Any

from starlette.requests import Request

from pegboard.model.calls import CallResult, Outcome


async def unless_gone(request: Request, started: "asyncio.Future[CallResult]") -> CallResult:
    """How the call ended; it is ended here if whoever asked has gone away."""
    gone = asyncio.ensure_future(_gone(request))
    try:
        both: list[asyncio.Future[Any]] = [started, gone]
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        if not started.done():
            started.cancel()
        return await started
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            started.cancel()
            raise
        return CallResult(Outcome.KILLED, error="the call was cancelled")
    finally:
        gone.cancel()


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
