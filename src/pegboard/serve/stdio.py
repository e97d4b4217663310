"""A face over standard input and output, for a client that starts Pegboard as its child.

Whatever else writes to standard output meanwhile goes to standard error, and children read nothing.
Reading and writing are done in threads that end with the process: a read cannot be called off, and
a client that does not read must not keep us.
"""

import asyncio
import logging
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from types import FrameType

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.lowlevel.server import NotificationOptions
from mcp.shared.message import SessionMessage
from mcp_types import (
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from pegboard.serve.face import Face

log = logging.getLogger(__name__)

CHUNK = 1 << 16
ANSWER_SECONDS = 0.5
"""How long answers may take that were still being worked on when the input ended."""
END_SECONDS = 0.5
"""How long the server may take after that, and its threads after it."""

ReadSend = MemoryObjectSendStream[SessionMessage | Exception]
WriteReceive = MemoryObjectReceiveStream[SessionMessage]


def run_stdio(face: Face) -> bool:
    """Serve until the input ends or a signal comes; false if something still asks the board then.

    Close the board next, then call `end_process`.
    """
    anyio.run(serve_stdio, face)
    return face.threads.rest(END_SECONDS)


def end_process(code: int = 0) -> None:
    """The last thing to do, when the board is closed: no thread that is stuck can hold us up."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    here = threading.current_thread()
    if any(not each.daemon and each is not here for each in threading.enumerate()):
        os._exit(code)
    sys.exit(code)
