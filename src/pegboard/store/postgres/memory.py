"""What a process remembers of a board between searches, and for how long."""

import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from pegboard.store.postgres.listening import CHANGES, Listening

T = TypeVar("T")

STALE_AFTER = 1.0
"""Seconds. What others write is mostly heard of at once; this holds even if it is not."""
ON_A_STANDBY = 0.5
"""Seconds. There nobody is told anything, and what it has is late by a little already."""
MOST = 10_000
MOST_BESIDE = 500
"""Where many remember beside one another."""


class Writes:
    """What a process has committed itself, counted for all who remember."""

    def __init__(self) -> None:
        self.counted = 0
        self._lock = threading.Lock()

    def count(self) -> None:
        with self._lock:
            self.counted += 1


class Memory:
    """Forgets everything once this process or another has written to the board.

    While the line to those who write is cut, it remembers nothing; a standby has no such line.
    """

    def __init__(self, listening: Listening, *, beside: "Memory | None" = None) -> None:
        self._listening = listening
        self._lock = threading.Lock()
        self._moment: tuple[int, int] = (-1, -1)
        self._since = 0.0
        self._kept: dict[str, Any] = {}
        self._writes: Writes = beside._writes if beside else Writes()
        self._most = MOST if beside is None else MOST_BESIDE

    def wrote(self) -> None:
        """This process has just committed something."""
        self._writes.count()

    def apart(self) -> "Memory":
        """Another one, for somebody who sees other rows. They forget at the same moment."""
        return Memory(self._listening, beside=self)

    def recall(self, name: str, read: Callable[[], T]) -> T:
        """What was read before, or is read now.

        It is kept with what was known when the reading began: what is said meanwhile ends that.
        """
        kept = self._current()
        if name not in kept:
            kept[name] = read()
        found: T = kept[name]
        return found

    def table(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = self._current().setdefault(name, {})
        if len(found) > self._most:
            found.clear()
        return found

    def _current(self) -> dict[str, Any]:
        heard = self._listening.count(CHANGES)
        if self._listening.deaf and not self._listening.standby:
            return {}
        longest = ON_A_STANDBY if self._listening.deaf else STALE_AFTER
        now = time.monotonic()
        with self._lock:
            moment = (heard, self._writes.counted)
            if moment != self._moment or now - self._since > longest:
                self._moment, self._since, self._kept = moment, now, {}
            return self._kept
