"""How search, memory, disk and building grow from a thousand items to a million.

The items are the real tools of scale/, in a mixed order, and when those are used up, variations of
them. They go through gate and store like any others; their vectors come from the test embedder, of
384 numbers like the packaged model's, because embedding a million texts would take hours. A board
that was begun is continued, so a run that was stopped loses little; `--keep` keeps the boards.
"""

import json
import os
import random
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from boards import SEED, board_file, folder_for
from growth_plot import plot
from pegboard.embed.choose import make_embedder
from pegboard.gate.admission import admit
from pegboard.model.items import Candidate, Item, ItemId, ModelSpec
from pegboard.ports.stages import Embedder
from pegboard.sources.jsonl import JsonlSource
from pegboard.store.sqlite.store import SqliteStore
from pegboard.text import spoken
from report import Check, at_most, options, save

HERE = Path(__file__).parent
SIZES = (1_000, 10_000, 100_000, 1_000_000)
TARGETS = {10_000: 1.0, 100_000: 2.0, 1_000_000: 6.0}
"""Search against embedding the query, at most."""
CORPORA = ("openapi_corpus", "mcp_corpus", "google_corpus")
BATCH = 1_000
DIMENSION = 384
SWAPPED = 0.3
"""The share of a description's words that a variation takes from another tool."""


def main() -> None:
    found = options(__doc__)
    found.add_argument("--keep", type=Path, help="folder where the boards are kept")
    found.add_argument(
        "--sizes",
        type=lambda text: [int(each) for each in text.split(",")],
        default=list(SIZES),
        help="numbers of items, with commas between them",
    )
    found.add_argument("--queries", type=int, default=200, help="timed queries (%(default)s)")
    args = found.parse_args()
    tools = Tools(args.data / "scale")
    rows: dict[int, dict[str, Any]] = {}
    with folder_for(args.keep) as folder:
        for size in args.sizes:
            board = board_file(folder, f"growth-{size}")
            built = Building(board, size, tools).run()
            rows[size] = measured(board, args.data, args.queries) | built
            print(size, json.dumps(rows[size]), flush=True)
    save(args, "growth", {"checks": checks(rows), "sizes": rows})
    plot(rows, TARGETS, HERE / "growth.png" if args.results == HERE / "results" else args.results)


def checks(rows: dict[int, dict[str, Any]]) -> dict[str, Check]:
    return {
        f"{size:,} items, {figure}": at_most(rows[size]["search / embedding"][figure], target)
        for size, target in TARGETS.items()
        if size in rows
        for figure in ("p50", "p95")
    }


class Tools:
    """An endless row of tools: the same at every run, each known by its number."""

    def __init__(self, scale: Path) -> None:
        self.real = [item for name in CORPORA for item in admitted(scale / f"{name}.jsonl.gz")]
        random.Random(SEED).shuffle(self.real)

    def between(self, first: int, last: int) -> list[Item]:
        return [self.numbered(number) for number in range(first, last)]

    def numbered(self, number: int) -> Item:
        if number < len(self.real):
            return self.real[number]
        chance = random.Random(number)
        base, other = self.real[number % len(self.real)], chance.choice(self.real)
        return base._replace(
            id=ItemId(f"{base.id[:400]}~{number}"),
            origin=f"{base.origin}~{number}",
            name=renamed(base.name, other.name, chance),
            description=reworded(base.description, other.description, chance),
        )


def admitted(corpus: Path) -> list[Item]:
    source = JsonlSource(corpus.name.partition("_")[0], corpus)
    found = [admit(each) for each in source.scan({}) if isinstance(each, Candidate)]
    return [each for each in found if isinstance(each, Item)]


def renamed(name: str, other: str, chance: random.Random) -> str:
    """One word of the name comes from another tool's name."""
    words = re.findall(r"\w+", spoken(name)) or ["tool"]
    words[chance.randrange(len(words))] = chance.choice(re.findall(r"\w+", spoken(other)) or ["x"])
    return "_".join(words)[:200]


def reworded(text: str, other: str, chance: random.Random) -> str:
    words, others = text.split(), other.split()
    if not others:
        return text
    return " ".join(chance.choice(others) if chance.random() < SWAPPED else w for w in words)


class Building:
    """Fills one board batch by batch; how long that took is kept beside the board."""

    def __init__(self, board: Path, size: int, tools: Tools) -> None:
        self.board = board
        self.size = size
        self.tools = tools
        self.record = board.with_suffix(".json")
        kept = self.record.read_text("utf-8") if self.record.exists() else "{}"
        self.seconds: dict[str, float] = {
            "items": 0,
            "putting": 0.0,
            "embedding": 0.0,
            "hanging": 0.0,
            "counting terms": 0.0,
        } | json.loads(kept)

    def run(self) -> dict[str, Any]:
        embedder = make_embedder(ModelSpec("test", dimension=DIMENSION), environ={})
        assert embedder is not None
        store = SqliteStore(self.board, create=True)
        try:
            self.fill(store, embedder)
        finally:
            store.close()
        return self.told()

    def fill(self, store: SqliteStore, embedder: Embedder) -> None:
        have = store.tasks.counts(embedder.fingerprint).total
        self.hang(store, embedder)
        for first in range(have, self.size, BATCH):
            batch = self.tools.between(first, min(first + BATCH, self.size))
            began = time.perf_counter()
            added = store.items.put(batch, embedder.fingerprint).added
            self.seconds["putting"] += time.perf_counter() - began
            if added != len(batch):
                raise SystemExit(f"{self.board}: {added} of {len(batch)} items from {first} on")
            self.hang(store, embedder)
            self.seconds["items"] += added
            self.keep(first + added)
        if have < self.size:
            began = time.perf_counter()
            store.items.take_census()
            self.seconds["counting terms"] += time.perf_counter() - began
            self.keep(self.size)

    def hang(self, store: SqliteStore, embedder: Embedder) -> None:
        """As a worker does, with larger batches."""
        target = embedder.fingerprint
        while tasks := store.tasks.claim(target, f"growth:{os.getpid()}", BATCH, lease=600.0):
            began = time.perf_counter()
            vectors = embedder.embed([task.text for task in tasks])
            embedded = time.perf_counter()
            store.tasks.finish(target, list(zip(tasks, vectors, strict=True)))
            self.seconds["embedding"] += embedded - began
            self.seconds["hanging"] += time.perf_counter() - embedded

    def keep(self, done: int) -> None:
        self.record.write_text(json.dumps(self.seconds), encoding="utf-8")
        if done % (20 * BATCH) == 0:
            print(f"{self.board.name}: {done:,} of {self.size:,}", self.seconds, flush=True)

    def told(self) -> dict[str, Any]:
        """The test embedder's own time is left out: it stands in for another."""
        items = max(self.seconds["items"], 1)
        steps = ("putting", "hanging", "counting terms")
        return {
            "build, ms an item": round(1000 * sum(self.seconds[s] for s in steps) / items, 3),
            "of which": {s: round(1000 * self.seconds[s] / items, 3) for s in steps},
            "disk, bytes an item": round(self.board.stat().st_size / self.size),
        }


def measured(board: Path, data: Path, queries: int) -> dict[str, Any]:
    """In a new process, so that nothing of the building is in its memory."""
    command = [sys.executable, str(HERE / "growth_search.py"), str(board), str(data), str(queries)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


if __name__ == "__main__":
    main()
