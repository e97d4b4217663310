"""Kill -9 at random moments of workers and editors that share one PostgreSQL board."""

import multiprocessing
import os
import random
import threading
import time
from collections.abc import Iterator, Sequence

import pytest
from reliability_parts import BOUND, HASHED, assert_whole, entries, item, tasks, worker

from pegboard.board.maintain.worker import Worker, WorkerSettings
from pegboard.embed.hashed import HashedEmbedder
from pegboard.model.items import Item, Vector
from pegboard.store.postgres.store import PostgresStore

KILLS = 100
SEED = 20_251_116
ITEMS = 120
WORKERS, EDITORS = 3, 2
LIVES = 1_000
"""Attempts before a text is given up: here nobody dies of a text."""


class UnhurriedEmbedder(HashedEmbedder):
    """Takes a moment, as a model does: so some are killed between claim and finish."""

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        found = super().embed(texts)
        time.sleep(random.uniform(0.0, 0.05))
        return found


def edited(number: int, rng: random.Random) -> Item:
    return item(
        f"tool_{number}", f"Counts {rng.randrange(10**9)} sheep.", namespace=f"n{number % 3}"
    )


def work(url: str) -> None:
    settings = WorkerSettings(batch_size=8, max_attempts=LIVES, poll_seconds=0.05)
    Worker(PostgresStore(url), UnhurriedEmbedder(256), settings).run(threading.Event())


def edit(url: str) -> None:
    """Items come, change and go, in whatever order, until it is killed."""
    rng = random.Random(os.getpid())
    store = PostgresStore(url)
    while True:
        chosen = rng.sample(range(ITEMS), rng.randrange(1, 20))
        store.items.put([edited(number, rng) for number in chosen], HASHED.fingerprint)
        if rng.random() < 0.2:
            gone = {item(f"tool_{number}").origin for number in rng.sample(range(ITEMS), 5)}
            seen = [each.item.origin for each in entries(store) if each.item.origin not in gone]
            store.items.retire("demo", seen, store.now(), 0.0)


class Crowd:
    """Processes that are forked from one that has everything loaded already."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.context = multiprocessing.get_context("forkserver")
        self.context.set_forkserver_preload(
            ["pegboard.store.postgres.store", "test_postgres_kills"]
        )
        roles = [work] * WORKERS + [edit] * EDITORS
        self.alive = [(role, self._start(role)) for role in roles]

    def _start(self, role):
        process = self.context.Process(target=role, args=(self.url,), daemon=True)
        process.start()
        return process

    def kill_one(self, rng: random.Random) -> int:
        """At a moment that nobody chose; the process id of whoever it was."""
        place = rng.randrange(len(self.alive))
        role, process = self.alive[place]
        process.join(rng.uniform(0.0, 0.2))
        assert process.exitcode is None, "it ended by itself"
        process.kill()
        process.join(BOUND)
        assert process.exitcode == -9
        self.alive[place] = role, self._start(role)
        return process.pid

    def close(self) -> None:
        for _, process in self.alive:
            process.kill()
        for _, process in self.alive:
            process.join(BOUND)


@pytest.fixture
def crowd(postgres_url: str) -> Iterator[Crowd]:
    store = PostgresStore(postgres_url)
    rng = random.Random(SEED)
    store.items.put([edited(number, rng) for number in range(ITEMS)], HASHED.fingerprint)
    store.close()
    started = Crowd(postgres_url)
    yield started
    started.close()


def test_a_hundred_kills_of_workers_and_editors_lose_nothing(crowd: Crowd) -> None:
    store = PostgresStore(crowd.url)
    rng = random.Random(SEED)
    at_work = 0

    for kill in range(1, KILLS + 1):
        dead = crowd.kill_one(rng)
        at_work += any(f":{dead}:" in owner for owner in store.tasks.owners())
        if kill % 10 == 0:
            assert store.check() == []

    crowd.close()
    assert store.check() == []
    assert at_work > 0, "nobody was killed between claim and finish: this has proved nothing"
    last = worker(store, HASHED, max_attempts=LIVES)
    while last.release_dead() or last.step():
        pass
    assert len(entries(store)) == ITEMS
    assert tasks(store) == []
    assert store.tasks.owners() == []
    assert_whole(store, HASHED)
    assert last.report.failed == 0
    store.close()
