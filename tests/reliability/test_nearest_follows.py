"""The index of sign bits follows the board: writes, kills and reopenings in several processes.

Run as a program, this file is one of those processes.
"""

import contextlib
import random
import select
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from reliability_parts import BOUND, HASHED, Machine, entries, item, killed, worker

from pegboard.model.items import Filters
from pegboard.store.sqlite.index import SqliteIndex
from pegboard.store.sqlite.nearest import Reach
from pegboard.store.sqlite.store import SqliteStore
from pegboard.store.sqlite.tasks import SqliteTasks
from pegboard.text import embedding_text

SEED = 20_251_116
OPERATIONS = 1000
AT_ONCE = 3
TURN = 18
ROUNDS_TO_CHECK = 6
MANY, BLOCK = 120, 16
WORDS = ("archive", "calendar", "invoice", "mailbox", "merge", "playlist", "rename", "weather")


def opened(path: Path) -> SqliteStore:
    """A store that searches even a small board by its codes, and seals them in small blocks."""
    store = SqliteStore(path)
    store.tasks = SqliteTasks(store.database, BLOCK)
    store.index = SqliteIndex(store.database, Reach(few=0, least=8))
    return store


def assert_follows(store: SqliteStore) -> None:
    """Every vector of the board finds its own item first; nothing else than what is there comes."""
    assert store.check() == []
    there = {entry.key for entry in entries(store) if entry.active}
    hung = dict(store.database.rows("SELECT item_key, vector FROM vectors"))
    assert hung.keys() == there
    for key, vector in hung.items():
        hits = store.index.vector(vector, HASHED.fingerprint, Filters(), 5)
        assert hits[0].key == key
        assert {hit.key for hit in hits} <= there
        assert len(hits) == min(5, len(there))


class Life:
    """What one process does to the board: by chance, and often."""

    def __init__(self, board: Path, seed: int) -> None:
        self.board = board
        self.rng = random.Random(seed)
        self.store = opened(board)
        self.chosen: list[str] = []

    def act(self) -> None:
        present = [item_id.rpartition(":")[2] for item_id, _ in self.store.items.ids()]
        crowded = len(present) > MANY
        acts = [self.add] * (1 if crowded else 4) + [self.search, self.seal, self.reopen]
        if present:
            self.chosen = self.rng.sample(present, min(4, len(present)))
            acts += [self.edit] * 4 + [self.refresh] * 2 + [self.delete] * (4 if crowded else 1)
        self.rng.choice(acts)()

    def add(self) -> None:
        self.put(*(f"tool_{self.rng.getrandbits(48)}" for _ in range(self.rng.randint(1, 4))))

    def edit(self) -> None:
        self.put(*self.chosen)

    def put(self, *names: str) -> None:
        words = (" ".join(self.rng.choices(WORDS, k=4)) for _ in names)
        made = [
            item(name, f"{text} {self.rng.getrandbits(32)}")._replace(source=name)
            for name, text in zip(names, words, strict=True)
        ]
        self.store.items.put(made, HASHED.fingerprint)
        self.embed()

    def refresh(self) -> None:
        found = [self.store.items.get(item(name).id, "public") for name in self.chosen]
        texts = [(e.key, e.content_hash, embedding_text(e.item)) for e in found if e is not None]
        self.store.tasks.enqueue(HASHED.fingerprint, texts)
        self.embed()

    def embed(self) -> None:
        worker(self.store, HASHED, batch_size=8).step()

    def delete(self) -> None:
        for name in self.chosen:
            self.store.ledger.remove_source(name)

    def search(self) -> None:
        query = HASHED.embed_query(self.rng.choice(WORDS))
        self.store.index.vector(query, HASHED.fingerprint, Filters(), 5)

    def seal(self) -> None:
        self.store.tasks.adopt(HASHED.fingerprint)

    def reopen(self) -> None:
        self.store.close()
        self.store = opened(self.board)

    def obey(self) -> None:
        for order in sys.stdin:
            if order == "check\n":
                assert_follows(self.store)
            else:
                for _ in range(TURN):
                    self.act()
                    say("acted")
            say("done")


def say(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


class Crowd:
    """Several lives on one board, some of which end early."""

    def __init__(self, machine: Machine, board: Path) -> None:
        self.machine = machine
        self.board = board
        self.rng = random.Random(SEED)
        self.alive = [self.born() for _ in range(AT_ONCE)]
        self.acts = self.kills = 0

    def born(self) -> subprocess.Popen[bytes]:
        seed = str(self.rng.getrandbits(32))
        return subprocess.Popen(
            [sys.executable, __file__, str(self.board), seed],
            env=self.machine.environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
        )

    def play(self) -> None:
        """One turn of each; one of them may not live to its end."""
        for life in self.alive:
            order(life, "act")
        if self.rng.random() < 0.8:
            place = self.rng.randrange(AT_ONCE)
            victim = self.alive[place]
            self.acts += until_acted(victim)
            with contextlib.suppress(subprocess.TimeoutExpired):
                victim.wait(self.rng.uniform(0.0, 0.1))
            self.kills += killed(victim) == -9
            self.acts += heard_out(victim)[0]
            victim.communicate()
            self.alive[place] = self.born()
            order(self.alive[place], "act")
        for life in self.alive:
            acted, errors = heard_out(life)
            assert errors == ""
            self.acts += acted

    def check(self) -> None:
        for life in self.alive:
            order(life, "check")
        for life in self.alive:
            assert heard_out(life) == (0, "")

    def close(self) -> None:
        for life in self.alive:
            life.kill()
            life.communicate()


def order(life: subprocess.Popen[bytes], what: str) -> None:
    assert life.stdin is not None
    life.stdin.write(f"{what}\n".encode())


def line_of(life: subprocess.Popen[bytes]) -> str:
    assert life.stdout is not None
    ready, _, _ = select.select([life.stdout], [], [], BOUND)
    assert ready, "a process fell silent"
    return life.stdout.readline().decode().strip()


def until_acted(life: subprocess.Popen[bytes]) -> int:
    """Wait until it is at work, so that a kill does not only hit processes that still start."""
    return line_of(life) == "acted"


def heard_out(life: subprocess.Popen[bytes]) -> tuple[int, str]:
    """How often it acted until it was done or dead; and what went wrong, unless it was killed."""
    acted = 0
    while said := line_of(life):
        if said == "done":
            return acted, ""
        acted += 1
    return acted, "" if life.poll() == -9 else life.communicate()[1].decode()


@pytest.fixture
def lives(machine: Machine, board: Path, store: SqliteStore) -> Iterator[Crowd]:
    crowd = Crowd(machine, board)
    yield crowd
    crowd.close()


def test_after_a_thousand_changes_and_many_kills_every_process_finds_what_is_there(
    board: Path, lives: Crowd
) -> None:
    watcher = opened(board)
    rounds = 0
    while lives.acts < OPERATIONS:
        lives.play()
        rounds += 1
        if rounds % ROUNDS_TO_CHECK and lives.acts < OPERATIONS:
            continue
        worker(watcher, HASHED).drain(threading.Event(), lambda *_: None)
        fresh = opened(board)
        for store in (watcher, fresh):
            assert_follows(store)
        fresh.close()
        lives.check()
    assert lives.kills >= 10
    assert watcher.database.rows("SELECT count(*) FROM code_blocks")[0][0] > 2
    watcher.close()


if __name__ == "__main__":
    Life(Path(sys.argv[1]), int(sys.argv[2])).obey()
