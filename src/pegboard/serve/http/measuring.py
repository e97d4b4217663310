"""What is counted while the gateway serves, and the log of its requests."""

import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator
from http import HTTPMethod
from pathlib import Path

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pegboard.board.maintain.status import Status
from pegboard.gate.characters import visible
from pegboard.model.answers import Answer
from pegboard.model.calls import CallResult
from pegboard.model.items import Item
from pegboard.serve.http import metrics
from pegboard.serve.http.metrics import Counter, Family, Histogram, gauge, gauges

log = logging.getLogger("pegboard.requests")

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
METHODS = frozenset(HTTPMethod)
NO_ROUTE = "none"
LONGEST_PATH = 200
CALLER = "pegboard.caller"
"""In the scope of a request, as soon as it is known who sent it."""

Gauges = Callable[[], Iterable[Family]]


class Measures:
    """Threads may count at the same time."""

    def __init__(self) -> None:
        self.requests = Counter(
            "pegboard_http_requests_total",
            "Requests by route, method and status of the answer.",
            ("route", "method", "status"),
        )
        self.seconds = Histogram(
            "pegboard_http_request_seconds",
            "From the head of a request to the head of its answer.",
            "route",
            SECONDS,
        )
        self.refusals = Counter(
            "pegboard_http_refused_total",
            "Requests that were refused before they were looked at, by code.",
            ("code",),
        )
        self.searches = Counter("pegboard_searches_total", "Searches by mode.", ("mode",))
        self.late = Counter(
            "pegboard_search_late_legs_total", "Legs that searches waited for in vain.", ("leg",)
        )
        self.calls = Counter(
            "pegboard_calls_total",
            "Calls of tools that ended, by type and outcome.",
            ("type", "outcome"),
        )
        self.publishes = Counter(
            "pegboard_publishes_total",
            "Releases that were to be published, by what became of them.",
            ("state",),
        )
        self.downloads = Counter("pegboard_downloads_total", "Bundles that were taken away.")
        self._gauges: list[Gauges] = []

    def also(self, more: Gauges) -> None:
        """Numbers that are looked up when they are asked for."""
        self._gauges.append(more)

    def searched(self, mode: str, answer: Answer) -> None:
        self.searches.add(mode)
        for leg in answer.late:
            self.late.add(leg)

    def called(self, item: Item, result: CallResult) -> None:
        kind = item.tool_type.value if item.tool_type else item.kind.value
        self.calls.add(kind, result.outcome.value)

    def answered(self, route: str, method: str, status: int, seconds: float) -> None:
        self.requests.add(route, method if method in METHODS else "other", str(status))
        self.seconds.observe(route, seconds)

    def families(self) -> Iterator[Family]:
        board = (self.searches, self.late, self.calls, self.publishes, self.downloads)
        for each in (self.requests, self.refusals, *board):
            yield each.family()
        yield self.seconds.family()
        for more in self._gauges:
            yield from more()
        yield from process()


def of_board(status: Status, now: float) -> Iterator[Family]:
    counts = status.embeddings._asdict()
    total = counts.pop("total")
    yield gauge("pegboard_items", "Active items on the board.", total)
    yield gauges(
        "pegboard_embeddings", "Active items by the state of their vector.", "status", counts
    )
    yield gauge("pegboard_tasks_waiting", "Texts that are still to be embedded.", status.waiting)
    oldest = status.pace.oldest_at
    yield gauge(
        "pegboard_oldest_task_seconds",
        "Age of the one that has waited longest.",
        0.0 if oldest is None else max(now - oldest, 0.0),
    )
    yield gauge(
        "pegboard_embedded_a_second", "Vectors a second, lately.", status.pace.done_a_second
    )
    yield gauge("pegboard_rejections", "Candidates that the gate refused.", status.rejections)
    yield gauge("pegboard_changed_items", "Items that are not what was approved.", status.changed)


def process() -> Iterator[Family]:
    """Of this process, under the names that Prometheus has for them."""
    spent = os.times()
    yield metrics.counter("process_cpu_seconds_total", "Processor time.", spent.user + spent.system)
    yield gauge("process_resident_memory_bytes", "Memory.", _resident())
    yield gauge("process_open_fds", "Open files and connections.", _open_files())


def _resident() -> float | None:
    """Linux only."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    except OSError:
        return None
    return float(pages * os.sysconf("SC_PAGE_SIZE"))


def _open_files() -> float | None:
    try:
        return float(sum(1 for _ in Path("/proc/self/fd").iterdir()))
    except OSError:
        return None


class Measured:
    """An ASGI application around another one: each of its requests is counted, and may be logged.

    Of a query nothing is told but its route, and of a caller nothing but the subject.
    """

    def __init__(self, app: ASGIApp, measures: Measures, *, logged: bool = False) -> None:
        self._app = app
        self._measures = measures
        self._logged = logged

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()

        async def noted(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._note(scope, message["status"], time.perf_counter() - began)
            await send(message)

        await self._app(scope, receive, noted)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", NO_ROUTE)
        self._measures.answered(route, scope["method"], status, seconds)
        if self._logged:
            raw: bytes = scope.get("raw_path") or b""
            path = _word(raw[:LONGEST_PATH].decode("ascii", "replace"))
            who = _word(getattr(scope.get(CALLER), "subject", ""))
            method = _word(scope["method"][:10])
            log.info("%s %s %d %.0f ms %s", method, path, status, 1000 * seconds, who)


def _word(text: str) -> str:
    """As it can stand in a line of the log: nothing in it begins another one."""
    return visible("_".join(text.split())) or "-"
