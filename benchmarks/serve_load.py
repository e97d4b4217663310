"""32 clients search 10,000 tools through `pegboard serve`: what does the way over HTTP cost?

The same questions are asked of the gateway by clients in a process of their own, and in this
process by as many callers over as many threads as are of use, in turns, so that whatever else the
machine does hits both alike. Then the same beside slow clients: uploads that drip, answers that
nobody reads, idle connections, and calls of a tool that never answers.
"""

import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from boards import board_file, folder_for
from growth import Tools
from growth_search import questions
from http_clients import Clients, Window, clients, dawdle, search
from pegboard import Pegboard
from pegboard.app.measure import evaluation_board
from pegboard.app.pegboard import located
from replay import configs, replaying
from report import Check, at_least, at_most, options, quantile, save

SIZE = 10_000
BATCH = 1_000
CLIENTS = 32
LIMIT = 20
WARM_UP = 200
ASKED = 256
"""Questions of one turn."""
THREADS = (1, 2, 4, 8)
SLOW_TOOL = "slow"
STOP_SECONDS = 30

THROUGHPUT = 0.9
P99 = 1.25
PROCESSOR = 1.2
BESIDE_SLOW = 1.25


class Used(NamedTuple):
    """Processor time of the serving process and those that it has started, in seconds."""

    all: float
    loop: float
    """Of the main thread of the first, where the event loop is."""


class Turn(NamedTuple):
    window: Window
    used: Used

    @property
    def rate(self) -> float:
        return len(self.window.latencies) / self.window.seconds


def main() -> None:
    found = options(__doc__, runs=7)
    found.add_argument("--keep", type=Path, help="folder where the board is kept")
    args = found.parse_args()
    texts = questions(args.data, WARM_UP + ASKED)
    with folder_for(args.keep) as folder, TemporaryDirectory(prefix="pegboard-bench-") as scratch:
        board = Path(scratch) / "board.db"
        shutil.copyfile(filled(folder, args.data / "scale"), board)
        with never_answering(Path(scratch)) as urls:
            add_slow_server(board, urls)
            result = measured(board, texts, args.runs)
    save(args, "serve_load", result)


# The board


def filled(folder: Path, scale: Path) -> Path:
    path = board_file(folder, f"serve-{SIZE}")
    with evaluation_board(path, located().settings) as board:
        have = board.status().embeddings.total
        if have < SIZE:
            tools = Tools(scale)
            for first in range(have, SIZE, BATCH):
                board.store.items.put(tools.between(first, first + BATCH), board.target)
            board.store.items.take_census()
        board.backfill()
        counts = board.status().embeddings
    if counts.ready != SIZE:
        raise SystemExit(f"the board is not whole: {counts}")
    return path


@contextmanager
def never_answering(scratch: Path) -> Iterator[dict[str, str]]:
    """An MCP server with a tool that waits for ever."""
    tool = {"name": "wait", "description": "Waits.", "inputSchema": {"type": "object"}}
    folder = scratch / "servers"
    folder.mkdir()
    (folder / f"{SLOW_TOOL}.json").write_text(json.dumps({"tools": [tool]}))
    with replaying(folder, stuck=True) as urls:
        yield urls


def add_slow_server(board: Path, urls: dict[str, str]) -> None:
    with evaluation_board(board, located().settings) as found:
        found.add_servers(configs(urls))
        found.sync()


# Serving


@contextmanager
def serving(board: Path) -> Iterator[tuple[str, int]]:
    command = [sys.executable, "-m", "pegboard", "serve", "--json", "--open", "--no-sync"]
    child = subprocess.Popen(
        [*command, "--port", "0", "--board", str(board)],
        stdout=subprocess.PIPE,
        text=True,
        env=dict(os.environ) | {"PEGBOARD_SERVE_REQUESTS_PER_MINUTE": "0"},
    )
    try:
        said = child.stdout.readline() if child.stdout else ""
        if not said:
            raise SystemExit(f"it did not start: {' '.join(command)}")
        yield json.loads(said)["url"], child.pid
    finally:
        child.send_signal(signal.SIGTERM)
        if child.wait(STOP_SECONDS):
            raise SystemExit(f"it ended with {child.returncode}")


def used(pid: int) -> Used:
    here = Path("/proc", str(pid))
    children = [
        int(child)
        for task in (here / "task").iterdir()
        for child in (task / "children").read_text().split()
    ]
    return Used(
        spent(here) + sum(used(each).all for each in children), spent(here / "task" / str(pid))
    )


def spent(process: Path) -> float:
    ticks = (process / "stat").read_text().rpartition(")")[2].split()[11:13]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


# Measuring


def measured(board: Path, texts: list[str], runs: int) -> dict[str, object]:
    warm, asked = texts[:WARM_UP], texts[WARM_UP:]
    with (
        Pegboard.open(str(board)) as here,
        serving(board) as (url, pid),
        clients(search) as quick,
        clients(dawdle) as slow,
    ):
        ask_here(here, warm, 4)
        over_http(quick, url, pid, warm)
        threads = most_useful(here, asked)
        turns: list[tuple[Turn, Turn]] = []
        for number in range(runs):
            pair: list[Callable[[], Turn]] = [
                lambda: in_process(here, asked, threads),
                lambda: over_http(quick, url, pid, asked),
            ]
            done = [turn() for turn in (pair if number % 2 else pair[::-1])]
            turns.append((done[0], done[1]) if number % 2 else (done[1], done[0]))
        beside = beside_slow(quick, slow, url, pid, asked, runs)
    return figures(threads, turns, beside)


def most_useful(board: Pegboard, texts: list[str]) -> int:
    """The number of threads with which most is answered; each is tried twice, in turns."""
    tried = dict.fromkeys(THREADS, 0.0)
    for number in (*THREADS, *reversed(THREADS)):
        tried[number] += rate_of(ask_here(board, texts, number))
    return max(THREADS, key=lambda number: tried[number])


def ask_here(board: Pegboard, texts: list[str], threads: int) -> Window:
    """As many callers as clients; so many threads answer them in the order in which they ask."""
    asked: queue.SimpleQueue[tuple[str, float] | None] = queue.SimpleQueue()
    latencies, errors = list[float](), list[str]()
    waiting = iter(texts)
    lock = threading.Lock()

    def ask() -> bool:
        with lock:
            text = next(waiting, None)
        if text is not None:
            asked.put((text, time.perf_counter()))
        return text is not None

    def answer() -> None:
        while (each := asked.get()) is not None:
            text, began = each
            board.search(text, limit=LIMIT)
            latencies.append(time.perf_counter() - began)
            if not ask() and len(latencies) >= len(texts):
                for _ in range(threads):
                    asked.put(None)

    processor, began = time.process_time(), time.perf_counter()
    for _ in range(CLIENTS):
        ask()
    answering = [threading.Thread(target=answer) for _ in range(threads)]
    for each in answering:
        each.start()
    for each in answering:
        each.join()
    seconds = time.perf_counter() - began
    return Window(seconds, latencies, errors, time.process_time() - processor)


def in_process(board: Pegboard, texts: list[str], threads: int) -> Turn:
    window = ask_here(board, texts, threads)
    return Turn(window, Used(window.processor, 0.0))


def over_http(quick: Clients, url: str, pid: int, texts: list[str]) -> Turn:
    before = used(pid)
    quick.begin(url, texts, CLIENTS)
    window: Window = quick.end()
    after = used(pid)
    if window.errors:
        raise SystemExit(f"{len(window.errors)} of {len(texts)} failed: {window.errors[0]}")
    return Turn(window, Used(after.all - before.all, after.loop - before.loop))


class Beside(NamedTuple):
    alone: list[Turn]
    with_slow: list[Turn]
    calls: int
    """That waited for the tool all the time, at least."""


def beside_slow(
    quick: Clients, slow: Clients, url: str, pid: int, texts: list[str], runs: int
) -> Beside:
    alone, with_slow, calls = list[Turn](), list[Turn](), []
    for _ in range(runs):
        alone.append(over_http(quick, url, pid, texts))
        slow.begin(url, f"mcp:{SLOW_TOOL}:wait")
        slow.end()  # they are all there
        with_slow.append(over_http(quick, url, pid, texts))
        slow.tell()
        calls.append(int(slow.end()))
    return Beside(alone, with_slow, min(calls))


# What came of it


def rate_of(window: Window) -> float:
    return len(window.latencies) / window.seconds


def median(values: list[float]) -> float:
    return quantile(values, 0.5)


def p99(turns: list[Turn]) -> float:
    return quantile([each for turn in turns for each in turn.window.latencies], 0.99)


def figures(threads: int, turns: list[tuple[Turn, Turn]], beside: Beside) -> dict[str, object]:
    here, served = [pair[0] for pair in turns], [pair[1] for pair in turns]
    rates = [there.rate / own.rate for own, there in turns]
    slower = [b.rate / a.rate for a, b in zip(beside.alone, beside.with_slow, strict=True)]
    late = p99(served) / p99(here)
    late_beside = p99(beside.with_slow) / p99(beside.alone)
    checks: dict[str, Check] = {
        "searches a second / in process": at_least(median(rates), THROUGHPUT),
        "p99 / in process": at_most(late, P99),
        "processor time of a search / in process": at_most(
            processor(served)["ms a search"] / processor(here)["ms a search"], PROCESSOR
        ),
        "p99 beside slow clients / alone": at_most(late_beside, BESIDE_SLOW),
        "slow calls that waited meanwhile": at_least(beside.calls, 1),
    }
    return {
        "checks": checks,
        "items": SIZE,
        "clients": CLIENTS,
        "threads in process": threads,
        "searches a second": {
            "served": round(median([each.rate for each in served]), 1),
            "in process": round(median([each.rate for each in here]), 1),
            "ratio, each turn": [round(each, 3) for each in rates],
        },
        "ms": {name: spread(each) for name, each in (("served", served), ("in process", here))},
        "processor": {"served": processor(served), "in process": processor(here)},
        "beside slow clients": {
            "searches a second": round(median([each.rate for each in beside.with_slow]), 1),
            "searches a second / alone": round(median(slower), 3),
            "ms": spread(beside.with_slow),
            "ms alone": spread(beside.alone),
        },
    }


def spread(turns: list[Turn]) -> dict[str, float]:
    latencies = [each for turn in turns for each in turn.window.latencies]
    shares = (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))
    return {name: round(1000 * quantile(latencies, share), 1) for name, share in shares}


def processor(turns: list[Turn]) -> dict[str, float]:
    """How many cores were busy, and what a search took of them."""
    seconds = sum(turn.window.seconds for turn in turns)
    searches = sum(len(turn.window.latencies) for turn in turns)
    spent, loop = sum(t.used.all for t in turns), sum(t.used.loop for t in turns)
    return {
        "cores": round(spent / seconds, 2),
        "ms a search": round(1000 * spent / searches, 2),
        "of which the event loop, ms": round(1000 * loop / searches, 2),
    }


if __name__ == "__main__":
    main()
