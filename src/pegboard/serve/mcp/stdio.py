"""A face over standard input and output, for a client that starts Pegboard as its child."""

import asyncio
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage

from pegboard.errors import UsageError
from pegboard.serve.mcp.face import Face
from pegboard.serve.mcp.wire import Wire

log = logging.getLogger(__name__)

ANSWER_SECONDS = 0.5
"""For answers that were being worked on when the input ended."""
END_SECONDS = 0.5
"""For the server to end after that; then for its threads."""

Incoming = MemoryObjectSendStream[SessionMessage | Exception]
Outgoing = MemoryObjectReceiveStream[SessionMessage]
Serve = Callable[
    [MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]],
    Awaitable[None],
]
"""Answers what it receives with what it sends."""


def run_stdio(face: Face) -> None:
    """Serve until the input ends or SIGTERM or SIGINT comes; at most 1.5 seconds longer.

    Close the board next, and then call `end_process`.
    """
    anyio.run(serve_stdio, face)
    if not face.threads.rest(END_SECONDS):
        log.warning("a request was still being worked on and was given up")


def end_process() -> None:
    """The last thing to do, with the board closed: whatever thread is stuck cannot hold us up."""
    end = time.monotonic() + END_SECONDS
    here = threading.current_thread()
    for each in threading.enumerate():
        if each is not here and not each.daemon:
            each.join(max(end - time.monotonic(), 0))
            if each.is_alive():
                with suppress(OSError, ValueError, AttributeError):
                    sys.stderr.flush()
                os._exit(0)
    sys.exit(0)


async def serve_stdio(face: Face) -> None:
    options = face.server.create_initialization_options()
    await over_stdio(partial(face.server.run, initialization_options=options))


async def over_stdio(serve: Serve) -> None:
    """Let something serve a client over standard input and output, until either ends."""
    into, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write, out = anyio.create_memory_object_stream[SessionMessage](0)
    with _private_streams() as (incoming, outgoing):
        wire = Wire(incoming, outgoing)
        async with anyio.create_task_group() as all_of_it:
            stop = all_of_it.cancel_scope.cancel
            all_of_it.start_soon(_receive, wire, into, stop)
            with _told_by_signals(stop):
                async with anyio.create_task_group() as serving:
                    serving.start_soon(_send, wire, out, stop)
                    await serve(read, write)
                stop()


async def _receive(wire: Wire, into: Incoming, stop: Callable[[], None]) -> None:
    async with into:
        await wire.receive(into)
        await wire.answered(ANSWER_SECONDS)
    await anyio.sleep(END_SECONDS)
    stop()


async def _send(wire: Wire, out: Outgoing, stop: Callable[[], None]) -> None:
    try:
        await wire.send(out)
    except OSError as error:
        log.info("the client is gone: %s", error)
        stop()


@contextmanager
def _private_streams() -> Iterator[tuple[int, int]]:
    """Standard input and output for nobody but us.

    Meanwhile whatever else is printed goes to standard error, and children find no input. The
    descriptors stay open afterwards, because a thread may still be waiting on them.
    """
    try:
        incoming, outgoing = os.dup(0), os.dup(1)
    except OSError as error:
        raise UsageError(
            f"standard input or output cannot be used: {error.strerror}",
            "pegboard mcp is started by an MCP client",
        ) from error
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # there is no standard error
        os.dup2(nowhere, 1)
    os.close(nowhere)
    try:
        yield incoming, outgoing
    finally:
        with suppress(OSError, ValueError, AttributeError):  # it may be closed, or not be there
            sys.stdout.flush()
        os.dup2(incoming, 0)
        os.dup2(outgoing, 1)


@contextmanager
def _told_by_signals(stop: Callable[[], None]) -> Iterator[None]:
    """Only the main thread hears signals.

    The loop listens for them itself where it can: one that came just before it began to wait would
    otherwise be noticed only when something else wakes it.
    """
    loop = asyncio.get_running_loop()
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in before:
        try:
            loop.add_signal_handler(number, stop)
        except NotImplementedError:  # on Windows
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(stop))
    try:
        yield
    finally:
        for number, handler in before.items():
            with suppress(NotImplementedError):
                loop.remove_signal_handler(number)
            signal.signal(number, handler)
