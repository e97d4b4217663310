"""Connections that are cut, or whose end nobody heard of: what was asked is done, and done once."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg
import pytest
from reliability_parts import HASHED, Aside, assert_whole, held, item, numbered, tasks, worker

from pegboard.app.pegboard import Pegboard
from pegboard.config.settings import EmbedSettings, Settings
from pegboard.errors import BoardUnreachable
from pegboard.model.curation import Edit, etag
from pegboard.store.postgres.store import PostgresStore
from waiting import until as eventually

TARGET = HASHED.fingerprint
OURS = "application_name = 'pegboard' AND datname = current_database()"
CUT = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {OURS}"
STUCK = f"SELECT count(*) FROM pg_stat_activity WHERE {OURS} AND wait_event_type = 'Lock'"


@pytest.fixture
def hand(postgres_url: str) -> Iterator[psycopg.Connection]:
    """Somebody who works on the database by hand."""
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        yield connection


@pytest.fixture
def filled(postgres_store: PostgresStore) -> PostgresStore:
    """Ten items with their vectors and ten that wait for theirs."""
    postgres_store.items.put(numbered(10), TARGET)
    worker(postgres_store, HASHED).step()
    postgres_store.items.put(numbered(20), TARGET)
    return postgres_store


@contextmanager
def locked(url: str, table: str) -> Iterator[None]:
    """Nobody else reads or writes the table."""
    with psycopg.connect(url) as connection:
        connection.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
        yield


def put(store: PostgresStore) -> bool:
    report = store.items.put([item("one"), item("two")], TARGET)
    return report.added == 2 and len(tasks(store)) == 12


def claim(store: PostgresStore) -> bool:
    found = store.tasks.claim(TARGET, "me", 7, 60.0)
    return len({task.id for task in found}) == 7 == held(store)


def finish(store: PostgresStore) -> bool:
    hand = worker(store, HASHED)
    return hand.step() and hand.report.embedded == 10 and tasks(store) == []


def search(store: PostgresStore) -> bool:
    pegboard = Pegboard(store, Settings(embed=EmbedSettings(provider="test")))
    return len(pegboard.search("count the sheep", limit=30, threshold=0.0).hits) == 20


def show(store: PostgresStore) -> bool:
    return store.items.get(item("tool_3").id, "public") is not None


STEPS: list[tuple[str, Callable[[PostgresStore], bool]]] = [
    ("items", put),
    ("embedding_tasks", put),
    ("embedding_tasks", claim),
    ("vectors", finish),
    ("item_terms", search),
    ("vectors", search),
    ("items", search),
    ("items", show),
]


@pytest.mark.parametrize(("table", "step"), STEPS, ids=[f"{s.__name__}-{t}" for t, s in STEPS])
def test_a_step_whose_connection_is_cut_in_the_middle_is_made_again(
    postgres_url: str,
    hand: psycopg.Connection,
    filled: PostgresStore,
    table: str,
    step: Callable[[PostgresStore], bool],
) -> None:
    with locked(postgres_url, table):
        asked = Aside(lambda: step(filled))
        eventually(lambda: hand.execute(STUCK).fetchone() != (0,))
        hand.execute(CUT)

    assert asked.result() is True
    assert filled.check() == []


@pytest.mark.parametrize("step", [put, claim, finish, search, show])
def test_connections_that_were_cut_while_idle_are_not_noticed(
    hand: psycopg.Connection, filled: PostgresStore, step: Callable[[PostgresStore], bool]
) -> None:
    hand.execute(CUT)
    assert step(filled) is True
    assert filled.check() == []


@pytest.fixture
def lossy(filled: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> PostgresStore:
    """A store whose next connection breaks once its transaction is committed."""
    real = filled.database.pool.connection
    broken: list[int] = []

    @contextmanager
    def connection() -> Iterator[psycopg.Connection]:
        with real() as tx:
            yield tx
            if not broken:
                broken.append(1)
                tx.close()
                raise psycopg.OperationalError("server closed the connection unexpectedly")

    monkeypatch.setattr(filled.database.pool, "connection", connection)
    return filled


def test_a_claim_whose_answer_was_lost_leaves_nothing_in_nobody_s_hands(
    lossy: PostgresStore,
) -> None:
    found = lossy.tasks.claim(TARGET, "me", 7, 60.0)

    assert len(found) == 7 == held(lossy)
    assert {task.attempts for task in found} == {1}


def test_a_finish_whose_answer_was_lost_is_a_finish(filled: PostgresStore, request) -> None:
    found = filled.tasks.claim(TARGET, "me", 100, 60.0)
    vectors = HASHED.embed([task.text for task in found])
    lossy = request.getfixturevalue("lossy")

    assert lossy.tasks.finish(TARGET, list(zip(found, vectors, strict=True))) == 10

    assert_whole(lossy, HASHED)


def test_a_put_whose_answer_was_lost_is_made_once(lossy: PostgresStore) -> None:
    report = lossy.items.put([item("one"), item("two")], TARGET)

    assert report.added + report.unchanged == 2
    assert len(tasks(lossy)) == 12
    assert lossy.check() == []


def test_an_edit_whose_answer_was_lost_is_made_once_and_nobody_was_in_its_way(
    filled: PostgresStore, request
) -> None:
    seen = filled.items.page(0, 1)[0]
    lossy = request.getfixturevalue("lossy")

    said = Edit(description="Mine.", tags=("mine",), active=False)
    entry = lossy.curation.edit(seen, said, "mia", TARGET, etag(seen))

    assert entry is not None
    assert (entry.item.description, entry.item.tags, entry.active) == ("Mine.", ("mine",), False)
    assert len(lossy.curation.history(seen.item.id)) == 3
    assert lossy.check() == []


def test_a_removal_whose_answer_was_lost_is_a_removal(filled: PostgresStore, request) -> None:
    seen = filled.items.page(0, 1)[0]
    lossy = request.getfixturevalue("lossy")

    assert lossy.curation.remove(seen, "mia", etag(seen)) is True

    assert len(lossy.curation.history(seen.item.id)) == 1
    assert lossy.curation.remove(seen, "mia") is False
    assert lossy.check() == []


def test_a_statement_that_ends_its_connection_each_time_is_given_up(filled: PostgresStore) -> None:
    with pytest.raises(BoardUnreachable, match="terminating connection"):
        filled.database.rows("SELECT pg_terminate_backend(pg_backend_pid())")
    assert show(filled)
