"""An end to a download, also from a server that sends a little every now and then."""

import socket
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Self

CONNECTED = ("connection.connect_tcp.complete", "connection.start_tls.complete")


class Deadline:
    """Shuts the connections that it was told of when the time is up.

    A timeout alone is for one read, and begins anew with every byte that comes.
    """

    def __init__(self, seconds: float, sockets: list[socket.socket] | None = None) -> None:
        """`sockets` are those of a client that is asked several times and keeps its connections."""
        self._end = time.monotonic() + seconds
        self._sockets = [] if sockets is None else sockets
        self._timer = threading.Timer(seconds, self._shut)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()

    @property
    def passed(self) -> bool:
        return time.monotonic() >= self._end

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """For the extension of that name of the HTTP client's requests."""
        if event in CONNECTED:
            self._sockets.append(info["return_value"].get_extra_info("socket"))
            if self.passed:
                self._shut()

    def _shut(self) -> None:
        for each in self._sockets:
            with suppress(OSError):  # it is closed by now, or another one speaks for it
                each.shutdown(socket.SHUT_RDWR)
