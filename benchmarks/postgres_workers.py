"""How much quicker four workers clear a queue on PostgreSQL than one.

The embedder waits before it answers, as a service on another machine would: what is measured is
whether workers get out of one another's way. Each worker is a process of its own. Every text that
is embedded is written down, so that the sum shows that each task was done exactly once.
"""

import json
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from growth_search import Ready
from pegboard.board.maintain.worker import Worker, WorkerSettings
from pegboard.model.items import Item, ItemId, Vector
from pegboard.ports.stages import quiet
from pegboard.store.opening import scratch_beside
from pegboard.store.postgres.store import PostgresStore
from postgres_scale import serving
from report import Check, at_least, at_most, options, save

TASKS = 20_000
NAMESPACES = 20
WAIT = 0.2
"""Seconds that the embedder takes for a batch, however many texts there are in it."""
BATCH = 64


class Waiting(Ready):
    def __init__(self) -> None:
        super().__init__([])
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        self.texts += texts
        time.sleep(WAIT)
        return super().embed(texts)


def main() -> None:
    if len(sys.argv) > 1 and sys.argv[1] == "work":
        work(sys.argv[2])
        return
    found = options(__doc__, runs=3)
    found.add_argument("--server", help="address of a server with pgvector that is there already")
    found.add_argument("--tasks", type=int, default=TASKS, help="texts (%(default)s)")
    args = found.parse_args()
    rows: dict[int, list[dict[str, Any]]] = {1: [], 4: []}
    with serving(args) as server:
        for _ in range(args.runs):
            for workers, runs in rows.items():
                with scratch_beside(server) as address:
                    runs.append(cleared(address, workers, args.tasks))
                print(workers, runs[-1], flush=True)
    quickest = {workers: min(run["seconds"] for run in runs) for workers, runs in rows.items()}
    wrong = sum(run["not exactly once"] for runs in rows.values() for run in runs)
    checks: dict[str, Check] = {
        "one worker / four workers, time": at_least(quickest[1] / quickest[4], 1.7),
        "tasks not done exactly once": at_most(wrong, 0),
    }
    save(args, "postgres_workers", {"checks": checks, "tasks": args.tasks, "runs": rows})


def cleared(address: str, workers: int, tasks: int) -> dict[str, Any]:
    store = PostgresStore(address, create=True)
    target = Waiting().fingerprint
    for first in range(0, tasks, 1_000):
        store.items.put([item(n) for n in range(first, min(first + 1_000, tasks))], target)
    command = [sys.executable, str(Path(__file__)), "work", address]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    started = [subprocess.Popen(command, **pipes) for _ in range(workers)]  # type: ignore[call-overload]
    for process in started:
        process.stdout.readline()  # it is ready
    began = time.perf_counter()
    for process in started:
        process.stdin.write("go\n")
        process.stdin.flush()
    told = [process.communicate(timeout=600)[0] for process in started]
    seconds = time.perf_counter() - began
    counts = Counter(text for each in told for text in json.loads(each))
    left = store.tasks.waiting(target)
    store.close()
    once = sum(times == 1 for times in counts.values())
    return {"seconds": round(seconds, 2), "not exactly once": len(counts) - once + left}


def item(number: int) -> Item:
    return Item(
        id=ItemId(f"test:box:tool_{number}"),
        name=f"tool_{number}",
        category="box",
        namespace=f"team{number % NAMESPACES}",
        description=f"Counts {number} sheep.",
        source="test",
        origin=str(number),
    )


def work(address: str) -> None:
    """One worker, until nothing is left."""
    store = PostgresStore(address)
    embedder = Waiting()
    worker = Worker(store, embedder, WorkerSettings(batch_size=BATCH))
    print("ready", flush=True)
    sys.stdin.readline()
    worker.drain(threading.Event(), quiet)
    store.close()
    print(json.dumps(embedder.texts))


if __name__ == "__main__":
    main()
