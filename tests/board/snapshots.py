"""Sources that say what a test wants, and two who sync one of them at the same time.

As a program: syncs a snapshot to a board, again and again, and ends.
"""

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from pegboard.board.sync.one_source import Sync, SyncReport
from pegboard.embed.hashed import HashedEmbedder
from pegboard.gate.admission import admit
from pegboard.model.items import Candidate, Finding, SourceRecord
from pegboard.ports.store import Store
from pegboard.store.opening import open_store

SOURCE = "tools"
ROUNDS = 6
SEEN = {"left": range(30), "right": range(10, 40)}
"""Which tools each of two snapshots has."""


class Said:
    """A source of these candidates, which calls somebody before it ends."""

    def __init__(
        self, candidates: Sequence[Candidate], before_end: Callable[[], object] = lambda: None
    ) -> None:
        self._candidates = candidates
        self._before_end = before_end

    def scan(self, known: object, under: Sequence[str] = ()) -> Iterator[Finding]:
        yield from self._candidates
        self._before_end()


def tool(name: str, mark: str, **fields: object) -> Candidate:
    """A candidate that carries a mark wherever it can be seen."""
    said: dict[str, object] = {
        "id": f"{SOURCE}:mail:{name}",
        "name": name,
        "category": "mail",
        "description": f"It is {mark}.",
        "tags": [mark],
        "links": [["uses", f"tool{len(mark)}"]],
    }
    return Candidate(SOURCE, f"mail/{name}.py", f"hash {mark}", said | fields)


def sync(store: Store, source: Said, under: Sequence[str] = ()) -> SyncReport:
    record = SourceRecord(SOURCE, "jsonl", "nowhere")
    target = HashedEmbedder().fingerprint
    running = Sync(store, admit, record, target, lambda *_: None)
    return running.run(source, under=under, keep_missing_days=1.0, stop=threading.Event())


def sync_again_and_again(store: Store, side: str) -> None:
    for n in range(ROUNDS):
        sync(store, Said([tool(f"tool{k}", f"{side}{n}") for k in SEEN[side]]))


if __name__ == "__main__":
    place, side = sys.argv[1:]
    opened = open_store(place if "://" in place else Path(place), create=False, blobs=None)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    sync_again_and_again(opened, side)
    opened.close()
