"""Processes that search beside the gateway's own, so that every core does when many ask.

One process can hardly keep more than one core busy, whatever number of threads it has: only one of
them runs Python at a time. So when several searches are at work, others are handed to processes
that do nothing else. Each has the board open by itself, as any other command would. They are
started when there is work for them, and end when there is none.
"""

import logging
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from typing import NamedTuple

from pegboard.app.pegboard import Pegboard
from pegboard.board.find.answering import Ask
from pegboard.board.find.patience import Patience
from pegboard.config.places import Located
from pegboard.model.answers import Answer
from pegboard.model.calls import Caller

log = logging.getLogger(__name__)

CROWD = 3
"""When so many are at work here, another process is of use."""
START_SECONDS = 120.0
PAUSE_SECONDS = 60.0
"""After one that did not start."""
SEARCHER = "pegboard.serve.searcher"
READY = "ready"
MOST = 12
"""Unless more are asked for: beyond that, there are no threads to wait for them."""


class Handed(NamedTuple):
    """A search for another process."""

    caller: Caller
    ask: Ask
    model: str | None
    seconds: float | None
    """How long it may take, as those who asked are told."""
    left: float | None


@contextmanager
def searchers_for(board: Pegboard) -> Iterator[None]:
    """While this lasts, searches of the board are handed on when there are many."""
    found, before = Searchers(board.place, board.settings.serve.searchers), board.share
    board.share = found.find
    try:
        yield
    finally:
        board.share = before
        found.close()


class Searchers:
    """Hands searches on. What cannot be handed on is done here."""

    def __init__(self, place: Located | None, most: int = -1) -> None:
        """Without a place that others can open too, all is done here."""
        self._place = place
        self._most = (most if most >= 0 else min(_cores(), MOST)) if os.name == "posix" else 0
        self._lock = threading.Lock()
        self._free: list[Searcher] = []
        self._all: set[Searcher] = set()
        self._here = 0
        self._starting: threading.Thread | None = None
        self._not_before = 0.0
        self._closed = False

    def find(
        self,
        caller: Caller,
        ask: Ask,
        model: str | None,
        patience: Patience | None,
        here: Callable[[], Answer],
    ) -> Answer:
        if (searcher := self._take()) is not None:
            seconds, left = (patience.seconds, patience.left) if patience else (None, None)
            answer = searcher.answer(Handed(caller, ask, model, seconds, left))
            self._give_back(searcher)
            if answer is not None:
                return answer
        with self._lock:
            self._here += 1
            self._start_if_crowded()
        try:
            return here()
        finally:
            with self._lock:
                self._here -= 1

    def close(self) -> None:
        with self._lock:
            self._closed = True
            starting, every = self._starting, [*self._all]
        for each in every:
            each.close()
        if starting is not None:
            starting.join()

    def _take(self) -> "Searcher | None":
        with self._lock:
            return self._free.pop() if self._here and self._free else None

    def _give_back(self, searcher: "Searcher") -> None:
        with self._lock:
            if searcher.lives and not self._closed:
                self._free.append(searcher)
                return
            self._all.discard(searcher)
        searcher.close()

    def _start_if_crowded(self) -> None:
        place, full = self._place, len(self._all) >= self._most
        if place is None or full or self._here < CROWD or self._starting or self._closed:
            return
        if time.monotonic() < self._not_before:
            return
        self._starting = threading.Thread(target=self._start, args=[place], daemon=True)
        self._starting.start()

    def _start(self, place: Located) -> None:
        """In a thread of its own: searches go on here meanwhile."""
        try:
            searcher = Searcher(place)
            with self._lock:
                self._all.add(searcher)
                closed = self._closed
            if closed or not searcher.ready():
                searcher.close()
            if not searcher.lives and not self._closed:
                self._pause("it ended before it was ready")
            self._give_back(searcher)
        except OSError as error:
            self._pause(error)
        finally:
            with self._lock:
                self._starting = None

    def _pause(self, why: object) -> None:
        self._not_before = time.monotonic() + PAUSE_SECONDS
        log.warning("no further process could be started to search: %s", why)


class Searcher:
    """One of the processes. It answers one search after another."""

    def __init__(self, place: Located) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            # With -P, so that no file in the working folder is taken for a module.
            command = [sys.executable, "-P", "-m", SEARCHER, str(theirs.fileno())]
            try:
                # Of its own session, so that Ctrl-C ends the gateway first, and that ends this.
                self._process = subprocess.Popen(  # noqa: S603 (a module of ours)
                    command,
                    pass_fds=[theirs.fileno()],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    start_new_session=True,
                )
            except OSError:
                ours.close()
                raise
        self._pipe = Connection(ours.detach())
        self._place = place
        self.lives = True

    def ready(self) -> bool:
        """Waits until it has opened the board; false if it does not get there."""
        with suppress(OSError, EOFError):
            self._pipe.send(self._place)
            return self._pipe.poll(START_SECONDS) and bool(self._pipe.recv() == READY)
        return False

    def answer(self, handed: Handed) -> Answer | None:
        """None if it has ended, failed, or was not done in time."""
        with suppress(OSError, EOFError):
            self._pipe.send(handed)
            if self._pipe.poll(handed.left):
                found: Answer | None = self._pipe.recv()
                return found
        self.lives = False
        return None

    def close(self) -> None:
        """At once, whatever it is at: it only reads."""
        self.lives = False
        self._process.kill()
        self._process.wait()
        with suppress(OSError):
            self._pipe.close()


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
