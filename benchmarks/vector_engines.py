"""Search by meaning on boards of 1,000 to 1,000,000 vectors: three engines, against one embedding.

The vectors are those of real tools, each shifted a little at random so that there are enough; the
queries are real, half of them about tools that are there, half about others. For each query the
engines run in turn, and times are ratios to the embedding of a query, so that whatever else the
machine does hits all alike. A search asks for 100 items, as each leg of a hybrid search does.
docs/decisions/0005-vector-engine.md rests on this.
"""

import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pegboard.board.measure.evaluating import find_catalogue, read_queries
from pegboard.embed.local import LocalEmbedder
from pegboard.model.items import Filters, Fingerprint, LegHit, Vector
from pegboard.store.sqlite.index import SqliteIndex
from pegboard.store.sqlite.nearest import Reach
from pegboard.store.sqlite.store import SqliteStore
from report import parser, save

Floats = NDArray[np.float32]

SIZES = (1_000, 10_000, 100_000, 1_000_000)
SAMPLE = 12_000
ON_BOARD = ("bfcl", "sealtools")
ELSEWHERE = ("metatool", "toolalpaca")
SHIFT = 0.5
"""Length of the random shift; the vectors have length 1."""
DEPTH = 100
AT_ONCE = 50_000
SLOW = 8
"""Queries for an exact scan of the largest board, which takes seconds."""
EMBEDDING = "embedding a query"
EVERYTHING = Reach(few=10**9)
FILTER = Filters(categories=("c7",))
"""Leaves 1 % of the items."""

ITEM = """
INSERT INTO items (key, id, kind, scope, source, name, short_name, category, tool_type,
  source_hash, embedding_status, content_hash, text_version, created_at, updated_at, description)
VALUES (:key, 'mcptools:' || :category || ':tool' || :key, 'tool', 'mcptools', 'bench',
  'tool' || :key, 'tool' || :key, :category, 'python',
  'hash', 'ready', 'hash', 1, 0, 0, :description)
"""
VECTOR = """
INSERT INTO vectors (item_key, fingerprint, source_hash, vector, created_at)
VALUES (:key, 1, 'hash', :vector, 0)
"""
FINGERPRINT = """
INSERT INTO fingerprints (key, provider, model, dimension, text_version)
VALUES (1, :provider, :model, :dimension, :text_version)
"""
PAGES = "SELECT coalesce(sum(pgsize), 0) FROM dbstat WHERE name = :name AND aggregate = true"
NEW_PROCESS = """
import sys, time
from pathlib import Path
import numpy
from pegboard.model.items import Filters
from pegboard.model.vectors import Fingerprint
from pegboard.store.sqlite.store import SqliteStore
provider, model, dimension, text_version = sys.argv[3].split(" ")
target = Fingerprint(provider, model, int(dimension), int(text_version))
query = Path(sys.argv[2]).read_bytes()
began = time.perf_counter()
SqliteStore(Path(sys.argv[1])).index.vector(query, target, Filters(), 100)
print(time.perf_counter() - began)
"""


def main() -> None:
    args = parser(__doc__, runs=40)
    embedder = LocalEmbedder()
    texts = list(islice(tools(args.data / "retrieval", *ON_BOARD, "aws"), SAMPLE))
    real = np.array([np.frombuffer(each, "<f4") for each in embedder.embed(texts)])
    known = list(questions(args.data / "retrieval", ON_BOARD, args.runs))
    others = list(questions(args.data / "retrieval", ELSEWHERE, args.runs))
    table: dict[str, object] = {}
    for size in SIZES:
        with tempfile.TemporaryDirectory(prefix="pegboard-bench-") as folder:
            board = Board(Path(folder) / "board.db", embedder, real, size)
            table[f"{size:,}"] = found = board.measured(known, others)
            print(f"{size:,}", found, flush=True)
    save(args, "vector_engines", {"queries": args.runs, "hits asked for": DEPTH, "boards": table})


def tools(folder: Path, *sets: str) -> Iterator[str]:
    for name in sets:
        path = find_catalogue(folder / name)
        with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as lines:
            for tool in map(json.loads, lines):
                yield f"{tool['name']} {tool['category']} {tool['description']}"


def questions(folder: Path, sets: tuple[str, ...], count: int) -> Iterator[str]:
    for name in sets:
        found = read_queries(folder / name / "queries.jsonl")
        yield from (query.text for query in found[: count // len(sets)])


class Board:
    def __init__(self, path: Path, embedder: LocalEmbedder, real: Floats, size: int) -> None:
        self.path = path
        self.size = size
        self.embedder = embedder
        self.vectors = shifted(real, size)
        self.store = SqliteStore(path, create=True)
        self.exact = SqliteIndex(self.store.database, EVERYTHING)
        connection = self.store.database.connection()
        connection.execute(FINGERPRINT, self.target._asdict())
        for start in range(0, size, AT_ONCE):
            keys = range(start + 1, min(start + AT_ONCE, size) + 1)
            with self.store.database.write() as tx:
                tx.executemany(ITEM, (item(key) for key in keys))
                tx.executemany(
                    VECTOR, ({"key": k, "vector": self.vectors[k - 1].tobytes()} for k in keys)
                )
        self.store.tasks.adopt(self.target)

    @property
    def target(self) -> Fingerprint:
        return self.embedder.fingerprint

    def measured(self, known: list[str], others: list[str]) -> dict[str, object]:
        queries = self.embedder.embed(known)
        foreign = self.embedder.embed(others)
        medians = self.medians(known, queries)
        once = medians[EMBEDDING]
        return {
            "ratio to embedding a query": {n: round(m / once, 2) for n, m in medians.items()},
            "median ms": {name: round(1000 * m, 2) for name, m in medians.items()},
            "recall": {f"@{k}": self.recall(queries, k) for k in (10, 50)},
            "recall, queries about other tools": {
                f"@{k}": self.recall(foreign, k) for k in (10, 50)
            },
            "first search of a new process, ms": round(1000 * self.new_process(queries[0])),
            "bytes per item": self.bytes_per_item(),
        }

    def medians(self, texts: list[str], queries: list[Vector]) -> dict[str, float]:
        index = self.store.index
        engines: dict[str, Callable[[str, Vector], object]] = {
            EMBEDDING: lambda text, _: self.embedder.embed_query(text),
            "pegboard": lambda _, q: index.vector(q, self.target, Filters(), DEPTH),
            "pegboard, 1 % left by a filter": lambda _, q: index.vector(
                q, self.target, FILTER, DEPTH
            ),
            "sqlite-vec, exact": lambda _, q: self.exact.vector(q, self.target, Filters(), DEPTH),
            "numpy, exact, one thread": lambda _, q: self.by_matrix(q),
        }
        seconds: dict[str, list[float]] = {name: [] for name in engines}
        for number, (text, query) in enumerate(zip(texts, queries, strict=True)):
            for name, engine in engines.items():
                if self.size == SIZES[-1] and number >= SLOW and "exact" in name:
                    continue
                engine(text, query)  # whatever is the first to touch a page pays for it
                began = time.perf_counter()
                engine(text, query)
                seconds[name].append(time.perf_counter() - began)
        return {name: statistics.median(values) for name, values in seconds.items()}

    def by_matrix(self, query: Vector) -> NDArray[np.intp]:
        scores = self.vectors @ np.frombuffer(query, "<f4")
        best = np.argpartition(-scores, DEPTH)[:DEPTH]
        return best[np.argsort(-scores[best])]

    def recall(self, queries: list[Vector], count: int) -> float:
        shares = []
        for query in queries:
            exact = {int(place) + 1 for place in self.by_matrix(query)[:count]}
            hits: list[LegHit] = self.store.index.vector(query, self.target, Filters(), DEPTH)
            shares.append(len(exact & {hit.key for hit in hits[:count]}) / count)
        return round(statistics.mean(shares), 4)

    def new_process(self, query: Vector) -> float:
        asked = self.path.with_suffix(".query")
        asked.write_bytes(query)
        target = " ".join(map(str, self.target))
        command = [sys.executable, "-c", NEW_PROCESS, str(self.path), str(asked), target]
        ran = [subprocess.run(command, capture_output=True, check=True) for _ in range(5)]
        return statistics.median(float(done.stdout) for done in ran)

    def bytes_per_item(self) -> dict[str, int]:
        rows = self.store.database.rows
        on_disk = {
            name: round(rows(PAGES, {"name": name})[0][0] / self.size)
            for name in ("vectors", "code_blocks", "items_seen")
        }
        return on_disk | {"in memory": self.target.dimension // 8 + 8}


def shifted(real: Floats, size: int) -> Floats:
    rng = np.random.default_rng(7)
    made = np.empty((size, real.shape[1]), np.float32)
    for start in range(0, size, AT_ONCE):
        part = made[start : start + AT_ONCE]
        part[:] = rng.standard_normal(part.shape, np.float32) * (SHIFT / real.shape[1] ** 0.5)
        part += real[rng.integers(0, len(real), len(part))]
        part /= np.linalg.norm(part, axis=1, keepdims=True)
    return made


def item(key: int) -> dict[str, str | int]:
    return {"key": key, "category": f"c{key % 100}", "description": f"What tool {key} does. " * 20}


if __name__ == "__main__":
    # Threads of a matrix product keep a core busy long after it is done, and spoil what comes next.
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        os.environ["OPENBLAS_NUM_THREADS"] = "1"
        os.execv(sys.executable, [sys.executable, *sys.argv])
    main()
