"""Connections that only cost: those that never say what they want, and those that do not read.

uvicorn itself ends connections that are idle after an answer. It waits for ever for a first
request, for the rest of a half-sent one, and for whoever does not take what is sent.
"""

import asyncio
import logging
import time
from collections.abc import Collection, Sequence
from typing import Protocol

log = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
ASK_SECONDS = 20.0
"""For a request to be there, from the first byte to the end of its headers."""
STALL_SECONDS = 30.0
"""So long a client may take nothing of what waits for it."""
READ_SECONDS = 300.0
"""So long it may take to read an answer that is complete."""
MOST = 10_000
"""Connections at a time."""
MOST_FILES = 16_384
SPARE = 256
"""Files that stay free for the board, its tools and its servers when connections use up all."""


class Cycle(Protocol):
    """A request and its answer, as uvicorn has them."""

    response_complete: bool


class Connection(Protocol):
    """uvicorn's, as far as it is looked at here."""

    cycle: Cycle | None
    transport: asyncio.Transport
    timeout_keep_alive_task: asyncio.TimerHandle | None
    """Runs from the end of an answer to the first byte of the next request."""


class Seen:
    """How a connection stood, and since when."""

    __slots__ = ("buffered", "cycle", "done_since", "since")

    def __init__(self, now: float, cycle: Cycle | None, buffered: int) -> None:
        self.since = now
        self.cycle = cycle
        self.buffered = buffered
        self.done_since: float | None = None


class Watch:
    """Looks at all connections now and then; there is nothing to do when a request comes."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._seen: dict[Connection, Seen] = {}
        self.ended = 0
        """Connections that were cut."""

    async def run(self, connections: Collection[Connection]) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            self.look(list(connections), time.monotonic())

    def look(self, connections: Sequence[Connection], now: float) -> None:
        before, self._seen = self._seen, {}
        idle: list[tuple[float, Connection]] = []
        for each in connections:
            if each.transport.is_closing() and not _buffered(each):
                continue
            seen = self._seen[each] = _looked(each, before.get(each), now)
            if _stuck(seen, now):
                self._cut(each)
            elif not _busy(seen):
                idle.append((seen.since, each))
        self._make_room(len(connections), idle)

    def _make_room(self, number: int, idle: list[tuple[float, Connection]]) -> None:
        """Whoever waits longest without a request goes first."""
        if (over := number - self._most) <= 0:
            return
        log.warning("%d connections are open; those that ask nothing are ended", number)
        for _, each in sorted(idle, key=lambda pair: pair[0])[:over]:
            self._cut(each)

    def _cut(self, connection: Connection) -> None:
        self.ended += 1
        connection.transport.abort()


def _looked(connection: Connection, before: Seen | None, now: float) -> Seen:
    cycle, buffered = connection.cycle, _buffered(connection)
    if before is None or before.cycle is not cycle:
        return Seen(now, cycle, buffered)
    ours = cycle is not None and not cycle.response_complete
    kept = connection.timeout_keep_alive_task is not None
    if before.buffered != buffered or (not buffered and (ours or kept)):
        before.since = now  # it moves, or we are at work, or uvicorn ends it when it is time
    before.buffered = buffered
    if cycle and cycle.response_complete and before.done_since is None:
        before.done_since = now
    return before


def _stuck(seen: Seen, now: float) -> bool:
    if seen.buffered:
        slow = seen.done_since is not None and now - seen.done_since > READ_SECONDS
        return slow or now - seen.since > STALL_SECONDS
    return not _busy(seen) and now - seen.since > ASK_SECONDS


def _busy(seen: Seen) -> bool:
    return seen.cycle is not None and not seen.cycle.response_complete


def _buffered(connection: Connection) -> int:
    return connection.transport.get_write_buffer_size()


def room_for_connections() -> int:
    """How many can be open at a time; the bound of the system is raised as far as it may be."""
    try:
        import resource  # not on Windows
    except ImportError:
        return MOST
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = min(hard, MOST_FILES) if hard != resource.RLIM_INFINITY else MOST_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    return max(min(MOST, soft - SPARE), 1)
