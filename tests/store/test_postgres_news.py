"""What a process hears of others: work that came, and that something it remembers has changed."""

import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import psycopg
import pytest

from making import OTHER_MODEL, entry_of, hang, make_item, word_hits, work
from pegboard.app.pegboard import Pegboard
from pegboard.board.maintain.queueing import queue_missing
from pegboard.config.settings import EmbedSettings, Settings
from pegboard.embed.hashed import HashedEmbedder
from pegboard.model.calls import Health, ServerConfig, ServerState, Transport
from pegboard.model.items import EmbeddingStatus, Model, ModelSpec
from pegboard.ports.stages import quiet
from pegboard.store.postgres import memory
from pegboard.store.postgres.store import PostgresStore
from waiting import until

BOUND = 60.0
AGES = 600.0
"""Seconds between two looks of a worker that hears nothing: no test takes so long."""
LISTENER = """FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'"""
WORK = """
import sys, threading
from pegboard.board.maintain.worker import Worker, WorkerSettings
from pegboard.embed.hashed import HashedEmbedder
from pegboard.store.postgres.store import PostgresStore
settings = WorkerSettings(poll_seconds=float(sys.argv[2]))
Worker(PostgresStore(sys.argv[1]), HashedEmbedder(), settings).run(threading.Event())
"""


@pytest.fixture
def hand(postgres_url) -> Iterator[psycopg.Connection]:
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        yield connection


@pytest.fixture
def worker(postgres_url, hand) -> Iterator[None]:
    """A worker in a process of its own, which has nothing to do and looks for it every 600 s."""
    process = subprocess.Popen([sys.executable, "-c", WORK, postgres_url, str(AGES)])
    idle(hand)
    yield
    process.kill()
    process.wait(BOUND)


def idle(hand: psycopg.Connection) -> None:
    """Wait until the worker listens and asks nothing any more."""
    until(lambda: hand.execute(f"SELECT 1 {LISTENER}").fetchone())
    seen: list[object] = []
    until(lambda: seen.append(asked(hand, 0.5)) or seen[-2:-1] == seen[-1:])


def asked(hand: psycopg.Connection, after: float) -> object:
    """When each connection of others was last asked something, as it is after so many seconds."""
    threading.Event().wait(after)
    return hand.execute(
        "SELECT pid, query_start FROM pg_stat_activity WHERE datname = current_database()"
        " AND application_name = 'pegboard' ORDER BY pid"
    ).fetchall()


def ready(store, item) -> bool:
    return entry_of(store, item).embedding.status is EmbeddingStatus.READY


def test_an_idle_worker_is_woken_by_what_another_process_puts(worker, postgres_store, embedder):
    for name in ("one", "two", "three"):
        item = make_item(name)
        postgres_store.items.put([item], embedder.fingerprint)
        until(lambda item=item: ready(postgres_store, item))


def test_an_idle_worker_asks_the_server_nothing(worker, hand):
    before = asked(hand, 0.0)
    assert len(before) >= 2
    assert asked(hand, 2.0) == before


def test_a_worker_whose_line_was_cut_hears_again(worker, hand, postgres_store, embedder):
    hand.execute(f"SELECT pg_terminate_backend(pid) {LISTENER}")
    meanwhile = make_item("meanwhile")
    postgres_store.items.put([meanwhile], embedder.fingerprint)
    until(lambda: ready(postgres_store, meanwhile))

    idle(hand)
    after = make_item("after")
    postgres_store.items.put([after], embedder.fingerprint)
    until(lambda: ready(postgres_store, after))


def test_a_backfill_wakes_an_idle_worker_too(worker, postgres_store, embedder):
    item = make_item("one")
    postgres_store.items.put([item], None)
    queue_missing(postgres_store, [embedder.fingerprint], quiet)
    until(lambda: ready(postgres_store, item))


# What is remembered.


@pytest.fixture
def other(postgres_url, postgres_store) -> Iterator[PostgresStore]:
    """The same board, as another process has it; it hears what is said."""
    made = PostgresStore(postgres_url)
    made.models.state()
    until(lambda: not made.listening.deaf)
    yield made
    made.close()


@pytest.fixture
def for_ever(monkeypatch):
    """Only what is heard ends what is remembered."""
    monkeypatch.setattr(memory, "STALE_AFTER", AGES)


@pytest.fixture
def unheard(other, monkeypatch):
    """Nothing that is said reaches the other process, which does not know it."""
    monkeypatch.setattr(other.listening, "_tell", lambda *channels: None)


def down(store) -> frozenset[str]:
    return store.ledger.servers_down()


def one_term_more(store, embedder) -> None:
    store.items.put([make_item("send", description="Sends sheep.")], embedder.fingerprint)


def another_model(store, embedder) -> None:
    store.models.want(Model(OTHER_MODEL, ModelSpec("test", "another", 2)), chosen=True)


def a_server_goes_down(store, embedder) -> None:
    store.ledger.put_server(ServerConfig("mail", Transport.STDIO, command="mail"), "mail")
    store.ledger.mark_server(ServerState("mail", Health.DOWN, "gone"))


def work_is_queued(store, embedder) -> None:
    store.items.put([make_item("send")], embedder.fingerprint)


CHANGES = {
    "terms": (one_term_more, lambda s, e: s.index.frequencies(["sheep"])),
    "hits": (one_term_more, lambda s, e: word_hits(s, ["sheep"])),
    "model": (another_model, lambda s, e: s.models.state().wanted or s.models.state().active),
    "servers": (a_server_goes_down, lambda s, e: down(s)),
    "waiting": (work_is_queued, lambda s, e: s.tasks.waiting(e.fingerprint)),
}
each_change = pytest.mark.parametrize(("change", "look"), CHANGES.values(), ids=list(CHANGES))


@each_change
def test_what_one_process_commits_another_sees_once_it_has_heard_of_it(
    postgres_store, other, embedder, for_ever, change, look
):
    before = look(other, embedder)
    assert look(other, embedder) == before
    change(postgres_store, embedder)
    until(lambda: look(other, embedder) != before)
    assert look(other, embedder) == look(postgres_store, embedder)


@each_change
def test_what_was_not_heard_is_seen_after_a_second_all_the_same(
    postgres_store, other, unheard, embedder, monkeypatch, change, look
):
    now = time.monotonic()
    monkeypatch.setattr(memory.time, "monotonic", lambda: now)
    before = look(other, embedder)
    change(postgres_store, embedder)
    monkeypatch.setattr(memory.time, "monotonic", lambda: now + 1.001)
    assert look(other, embedder) != before


@each_change
def test_whoever_writes_sees_it_at_once(postgres_store, embedder, for_ever, change, look):
    before = look(postgres_store, embedder)
    change(postgres_store, embedder)
    assert look(postgres_store, embedder) != before


@each_change
def test_while_the_line_is_cut_nothing_is_remembered(
    postgres_store, other, embedder, hand, for_ever, monkeypatch, change, look
):
    before = look(other, embedder)
    monkeypatch.setattr(other.listening, "_url", "postgresql://nobody@localhost:1/nowhere")
    hand.execute(f"SELECT pg_terminate_backend(pid) {LISTENER}")
    until(lambda: other.listening.deaf)
    change(postgres_store, embedder)
    assert look(other, embedder) != before


def test_what_is_remembered_is_not_asked_for_again(other, embedder, for_ever, monkeypatch):
    word_hits(other, ["sheep"])
    other.models.state()
    down(other)
    asked = []
    rows = other.database.rows
    monkeypatch.setattr(
        other.database, "rows", lambda sql, params=None: asked.append(sql) or rows(sql, params)
    )
    for _ in range(5):
        down(other)
        other.models.state()
        other.index.frequencies(["sheep"])
    assert asked == []


def test_what_was_read_before_somebody_wrote_is_not_kept_after_it(
    postgres_store, other, for_ever, monkeypatch, embedder
):
    read = other.database.rows

    def slow(*asked):
        """Reads, and then somebody else is quicker."""
        found = read(*asked)
        heard = other.listening.count("pegboard_changes")
        another_model(postgres_store, embedder)
        until(lambda: other.listening.count("pegboard_changes") != heard)
        return found

    monkeypatch.setattr(other.database, "rows", slow)
    assert other.models.state().active is None
    monkeypatch.setattr(other.database, "rows", read)
    assert other.models.state() == postgres_store.models.state()
    assert other.models.state().active is not None


def test_a_search_in_one_process_finds_what_another_has_just_put(postgres_url, postgres_store):
    settings = Settings(embed=EmbedSettings(provider="test"))
    gateway = Pegboard(PostgresStore(postgres_url), settings)
    embedder = HashedEmbedder(256)
    hang(postgres_store, embedder, make_item("send", description="Sends sheep over fences."))
    assert gateway.search("sheep").hits
    for turn in range(5):
        name = f"fence{turn}"
        postgres_store.items.put([make_item(name)], embedder.fingerprint)
        work(postgres_store, embedder)
        until(lambda name=name: [h for h in gateway.search(name).hits if h.name == name])
    gateway.close()
