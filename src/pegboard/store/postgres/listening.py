"""What other processes say about a board: one connection that listens, for the whole process."""

import logging
import selectors
import socket
import threading
import time

import psycopg
from psycopg import errors, sql

from pegboard.store.postgres.opening import conninfo

log = logging.getLogger(__name__)

TASKS = "pegboard_tasks"
"""Something was queued."""
CHANGES = "pegboard_changes"
"""Items, servers or statistics are not what they were."""
SLICE = 0.25
"""Seconds after which a waiting thread sees that it is to stop."""
RETRY_SECONDS = 1.0
STANDBY_SECONDS = 5.0
"""How often a standby is asked whether it has become a primary."""


class Listening:
    """Counts what is heard on each channel. Begins when somebody first wants to know."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._heard = dict.fromkeys((TASKS, CHANGES), 0)
        self._news = threading.Condition()
        self._local = threading.local()
        self._thread: threading.Thread | None = None
        self._closed = threading.Event()
        self._bell, self._rung = socket.socketpair()
        self.deaf = True
        """Whether something may have been said that was not heard."""
        self.standby = False
        """Whether nobody can listen here, because this server only follows another one."""

    def count(self, channel: str) -> int:
        """Another number once something was said; begins to listen if nobody did."""
        self._begin()
        with self._news:
            return self._heard[channel]

    def wait(self, channel: str, stop: threading.Event, seconds: float) -> bool:
        """Until something is said that this thread has not heard of, until told, or so long."""
        self._begin()
        deadline = time.monotonic() + seconds
        seen: dict[str, int] = self._local.__dict__.setdefault("seen", {})
        with self._news:
            while self._heard[channel] == seen.get(channel) and not stop.is_set():
                left = deadline - time.monotonic()
                if left <= 0 or self._closed.is_set():
                    break
                self._news.wait(min(left, SLICE))
            news = self._heard[channel] != seen.get(channel)
            seen[channel] = self._heard[channel]
        return news

    def close(self) -> None:
        if self._closed.is_set():
            return
        self._closed.set()
        self._bell.close()
        if self._thread is not None:
            self._thread.join(timeout=5.0)
        self._rung.close()

    def _begin(self) -> None:
        with self._news:
            if self._thread is None and not self._closed.is_set():
                self._thread = threading.Thread(
                    target=self._listen, name="pegboard-listen", daemon=True
                )
                self._thread.start()

    def _listen(self) -> None:
        while not self._closed.is_set():
            try:
                self._hear()
            except errors.ReadOnlySqlTransaction:
                self.deaf = self.standby = True
                self._closed.wait(STANDBY_SECONDS)
            except psycopg.Error as error:
                if not self.deaf:
                    log.warning("the line to the board's news is cut (%s)", type(error).__name__)
                self.deaf, self.standby = True, False
                self._closed.wait(RETRY_SECONDS)

    def _hear(self) -> None:
        with (
            psycopg.connect(conninfo(self._url), autocommit=True) as connection,
            selectors.DefaultSelector() as either,
        ):
            either.register(connection, selectors.EVENT_READ)
            either.register(self._rung, selectors.EVENT_READ)
            for channel in self._heard:
                connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(channel)))
            self._tell(*self._heard)  # whatever was said before is not known
            self.deaf = self.standby = False
            while not self._closed.is_set():
                either.select()
                for notice in connection.notifies(timeout=0):
                    self._tell(notice.channel)

    def _tell(self, *channels: str) -> None:
        with self._news:
            for channel in channels:
                self._heard[channel] += 1
            self._news.notify_all()
