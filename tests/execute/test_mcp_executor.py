import asyncio
import threading
from concurrent.futures import Future

import pytest

from making import make_item
from pegboard.errors import ServerUnavailable
from pegboard.execute.job import Job
from pegboard.execute.mcp.executor import McpExecutor
from pegboard.execute.secrets import Secrets
from pegboard.model.calls import CallResult
from waiting import BOUND, soon

JOB = Job(make_item(), {}, Secrets())


class Beginning:
    """A call that takes until it is let go to begin."""

    def __init__(self, error: Exception | None = None) -> None:
        self.entered, self.go = threading.Event(), threading.Event()
        self.call: Future[CallResult] = Future()
        self._error = error

    def __call__(self, *asked) -> "Future[CallResult]":
        self.entered.set()
        assert self.go.wait(BOUND)
        if self._error:
            raise self._error
        return self.call


async def called_off(beginning: Beginning) -> None:
    running = asyncio.create_task(McpExecutor(beginning).run(JOB))
    await soon(beginning.entered.is_set)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    beginning.go.set()


def test_a_call_that_is_called_off_while_it_begins_does_not_go_on():
    async def run():
        beginning = Beginning()
        await called_off(beginning)
        await soon(beginning.call.cancelled, "that the call was called off")

    asyncio.run(run())


def test_one_that_cannot_begin_and_is_called_off_is_no_trouble():
    async def run():
        troubles = []
        asyncio.get_running_loop().set_exception_handler(lambda loop, said: troubles.append(said))
        await called_off(Beginning(ServerUnavailable("gone")))
        others = asyncio.all_tasks() - {asyncio.current_task()}
        await asyncio.wait(others, timeout=BOUND)
        assert troubles == []

    asyncio.run(run())
