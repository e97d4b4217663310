"""The gateway as a process: it listens, serves, and ends in order."""

import asyncio
import errno
import logging
import math
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, cast

import uvicorn

from pegboard.errors import UsageError
from pegboard.serve.http.connections import Watch, room_for_connections
from pegboard.serve.http.gateway import Gateway
from pegboard.serve.process.assembled import assembled

log = logging.getLogger(__name__)

BACKLOG = 1024
KEEP_ALIVE_SECONDS = 75
"""Longer than proxies keep a connection that they use again (nginx: 60)."""
LONGEST_HEAD = 96 << 10
"""Bytes of a request before its body; less than that is answered in words (limits.py)."""
END_SECONDS = 0.5
"""For threads to come back when everything has ended."""
SIGNALS = (signal.SIGINT, signal.SIGTERM)
_WHY = {
    errno.EADDRINUSE: (
        "port {port} of {host} is taken",
        "stop what listens there, or choose another with --port; 0 takes a free one",
    ),
    errno.EACCES: (
        "port {port} is not for this user",
        "choose one from 1024 on with --port, and put a proxy in front",
    ),
    errno.EADDRNOTAVAIL: (
        "{host} is no address of this machine",
        "127.0.0.1 is for this machine alone, 0.0.0.0 for all that reach it",
    ),
}


def listening(host: str, port: int) -> socket.socket:
    """Taken at once, so that a port that is not free is told before anything is begun."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        found = socket.create_server((host, port), family=family, backlog=BACKLOG)
        # Else an answer on a connection that is kept waits 40 ms for the client to have heard the
        # one before. Connections have it from here; asyncio does not know that this is TCP.
        found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return found
    except OSError as error:
        said, hint = _WHY.get(
            error.errno or 0, ("it cannot listen on {host}, port {port}: {error}", "see serve.host")
        )
        shown = error.strerror or str(error)
        raise UsageError(said.format(host=host, port=port, error=shown), hint) from error


def url_of(sock: socket.socket, host: str) -> str:
    """Where it is reached; from this machine, if it listens on all addresses."""
    port = sock.getsockname()[1]
    here = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(host, host)  # noqa: S104
    return f"http://[{here}]:{port}" if ":" in here else f"http://{here}:{port}"


def run_http(
    gateway: Gateway, sock: socket.socket, on_ready: Callable[[], None], *, logged: bool = False
) -> None:
    """Serve until SIGTERM or SIGINT comes; requests that are being worked on are finished.

    That takes `serve.stop_seconds` at most, or until a second signal insists. Close the board
    next, and then call `end_process`.
    """
    asyncio.run(serve_http(Serving(gateway, on_ready, logged=logged), sock))
    if not gateway.threads.rest(END_SECONDS):
        log.warning("a request was still being worked on and was given up")


async def serve_http(server: "Serving", sock: socket.socket) -> None:
    watch = Watch(room_for_connections())
    connections = cast("set[Any]", server.server_state.connections)
    watching = asyncio.create_task(watch.run(connections))
    try:
        await server.serve(sockets=[sock])
    finally:
        watching.cancel()
        await server.gateway.close()


class Serving(uvicorn.Server):
    """Streams end as soon as it is to stop: they would never end by themselves."""

    def __init__(self, gateway: Gateway, on_ready: Callable[[], None], *, logged: bool) -> None:
        config = uvicorn.Config(
            assembled(gateway, logged=logged),
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="error",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=math.ceil(gateway.board.settings.serve.stop_seconds),
            h11_max_incomplete_event_size=LONGEST_HEAD,
        )
        super().__init__(config)
        logging.getLogger("uvicorn.error").addFilter(_not_called_off)
        self.gateway = gateway
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.gateway.stop()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """As uvicorn does, but a signal that was heeded is not raised again: it ends well."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """The second time, whichever it is, nothing more is waited for."""
        self.force_exit = self.should_exit
        self.should_exit = True


def _not_called_off(record: logging.LogRecord) -> bool:
    """A request that is called off because we stop is no error, though uvicorn takes it for one."""
    return not (record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError))
