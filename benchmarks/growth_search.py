"""One board of `growth.py`, asked in a process of its own. Prints JSON.

The query's vector is made beforehand and costs nothing here; all else that a search call does is
in its time. Each timed search is followed by embedding the same query with the packaged model, so
that whatever else the machine does hits both alike. The queries that warm up are other ones.
Then the two together, as every search runs them: words are looked up while the model works.
"""

import json
import random
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from boards import SEED, SETS, sampled
from pegboard import Pegboard
from pegboard.app.pegboard import located
from pegboard.embed.hashed import HashedEmbedder
from pegboard.embed.local import LocalEmbedder
from pegboard.errors import EmbeddingError
from pegboard.model.items import Filters, SourceCounts, Vector
from pegboard.search.query import parse
from pegboard.search.requests import split_requests
from pegboard.search.services import scope
from pegboard.store.sqlite.store import SqliteStore
from report import quantile

WARM_UP = 100
FLAGS: dict[str, object] = {"embed.provider": "test", "embed.dimension": 384}


class Ready(HashedEmbedder):
    """An embedder that has the vectors of the queries already.

    With a model, it takes the model's time for them all the same.
    """

    def __init__(self, texts: Iterable[str] = ()) -> None:
        super().__init__(384)
        self._ready: dict[str, Vector] = {}
        self.model: LocalEmbedder | None = None
        self.prepare(texts)

    def prepare(self, texts: Iterable[str]) -> None:
        self._ready |= {text: super(Ready, self).embed_query(text) for text in texts}

    def embed_query(self, text: str) -> Vector:
        if self.model is not None:
            self.model.embed_query(text)
        return self._ready[text]


def main() -> None:
    path, data, asked = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    texts = understood(questions(data, WARM_UP + asked))
    embedder = Ready()
    store = SqliteStore(path)
    embedder.prepare(embedded_texts(texts, store.index.source_counts()))
    store.close()
    before = resident()
    began = time.perf_counter()
    board = Pegboard(SqliteStore(path), located(flags=FLAGS).settings)
    board.embedder = embedder
    board.search(texts[0], threshold=0.0)
    first = time.perf_counter() - began
    for text in texts[1:WARM_UP]:
        board.search(text, threshold=0.0)
    memory = resident() - before
    found = compared(board, embedder, texts[WARM_UP:])
    items = board.store.tasks.counts(embedder.fingerprint).total
    board.close()
    found |= {
        "first search of a new process, ms": round(1000 * first, 1),
        "memory, MiB": round(memory / 2**20, 1),
        "memory, bytes an item": round(memory / items),
        "items": items,
    }
    print(json.dumps(found))


def questions(data: Path, wanted: int) -> list[str]:
    """Real ones, as many from each set as there are or are needed, mixed; no two alike."""
    share = -(-3 * wanted // (2 * len(SETS)))
    found = {
        " ".join(query.text.split())[:2000].strip()
        for name in SETS
        for query in sampled(data / "retrieval" / name / "queries.jsonl", share)
    }
    mixed = sorted(found)
    random.Random(SEED).shuffle(mixed)
    return mixed[:wanted]


def understood(texts: list[str]) -> list[str]:
    """Those that the packaged model can embed: it refuses languages that it does not know."""
    model = LocalEmbedder()
    found = []
    for text in texts:
        with suppress(EmbeddingError):
            model.embed_query(text)
            found.append(text)
    return found


def embedded_texts(texts: list[str], counts: SourceCounts) -> set[str]:
    """What a search of these texts may embed: each request without literals and service names."""
    parts = {part for text in texts for part in (text, *split_requests(text))}
    return {scope(parse(part), counts, Filters()).query.plain for part in parts}


class Spent(NamedTuple):
    """Seconds on the clock, and of the processor, which other processes do not lengthen much."""

    wall: float
    processor: float


def compared(board: Pegboard, embedder: Ready, texts: list[str]) -> dict[str, object]:
    model = LocalEmbedder()
    for text in texts[:10]:
        model.embed_query(f"{text} once")
    search, embed, both = [], [], []
    for text in texts:
        search.append(spent(partial(board.search, text, threshold=0.0)))
        embed.append(spent(partial(model.embed_query, text)))
        embedder.model = model
        both.append(spent(partial(board.search, text, threshold=0.0)))
        embedder.model = None
    added = [together.wall - alone.wall for together, alone in zip(both, embed, strict=True)]
    legs = {
        mode: [spent(partial(board.search, text, mode=mode, threshold=0.0)) for text in texts]
        for mode in ("bm25", "vector")
    }
    unit, cycles = quantile(wall(embed), 0.5), quantile(processor(embed), 0.5)
    return {
        "search / embedding": {
            "p50": round(quantile(wall(search), 0.5) / unit, 3),
            "p95": round(quantile(wall(search), 0.95) / unit, 3),
        },
        "added to embedding, as searches run": {
            "p50": round(quantile(added, 0.5) / unit, 3),
            "p95": round(quantile(added, 0.95) / unit, 3),
        },
        "search / embedding, processor time": {
            "p50": round(quantile(processor(search), 0.5) / cycles, 3),
            "p95": round(quantile(processor(search), 0.95) / cycles, 3),
        },
        "one leg / embedding, p50, asked a second time": {
            mode: round(quantile(wall(times), 0.5) / unit, 3) for mode, times in legs.items()
        },
        "ms": {
            "embedding, p50": round(1000 * unit, 2),
            "search, p50": round(1000 * quantile(wall(search), 0.5), 2),
            "search, p95": round(1000 * quantile(wall(search), 0.95), 2),
        },
        "queries": len(texts),
    }


def spent(work: Callable[[], object]) -> Spent:
    wall, processor = time.perf_counter(), time.process_time()
    work()
    return Spent(time.perf_counter() - wall, time.process_time() - processor)


def wall(times: list[Spent]) -> list[float]:
    return [each.wall for each in times]


def processor(times: list[Spent]) -> list[float]:
    return [each.processor for each in times]


def resident() -> int:
    """Bytes of this process in memory. Linux only: elsewhere 0."""
    status = Path("/proc/self/status")
    lines = status.read_text("ascii").splitlines() if status.exists() else []
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("VmRSS")), 0)


if __name__ == "__main__":
    main()
