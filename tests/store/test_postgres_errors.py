"""What goes wrong on a healthy server: made good where that is safe, else told in our words."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import psycopg
import pytest
from psycopg import sql

from making import entry_of, make_item, word_hits, work
from pegboard.errors import (
    BoardBusy,
    BoardError,
    BoardFull,
    BoardReadOnly,
    BoardUnreachable,
    ConfigError,
)
from pegboard.store.postgres.store import PostgresStore
from pegboard.store.postgres.telling import told
from waiting import until

BOUND = 60.0


@pytest.fixture
def hand(postgres_url) -> Iterator[psycopg.Connection]:
    """Somebody who works on the database by hand, in transactions."""
    with psycopg.connect(postgres_url) as connection:
        yield connection


@contextmanager
def opened(url: str, **settings: str) -> Iterator[PostgresStore]:
    """A store whose connections have these settings."""
    said = "%20".join(f"-c{name}%3D{value}" for name, value in settings.items())
    store = PostgresStore(f"{url}&options={said}")
    yield store
    store.close()


def stuck(hand: psycopg.Connection) -> None:
    """Wait until somebody else waits for a lock of ours."""
    query = "SELECT 1 FROM pg_stat_activity WHERE %s = ANY(pg_blocking_pids(pid))"
    with psycopg.connect(hand.info.dsn, autocommit=True) as watch:
        until(lambda: watch.execute(query, [hand.info.backend_pid]).fetchone(), "that one waits")


def lock(hand: psycopg.Connection, *names: str) -> None:
    for name in names:
        hand.execute("UPDATE items SET name = name WHERE name = %s", [name])


@pytest.mark.parametrize("bound", ["statement_timeout", "lock_timeout"])
def test_what_takes_too_long_is_given_up_and_the_board_said_to_be_busy(
    postgres_url, postgres_store, hand, bound
):
    postgres_store.items.put([make_item("one")], None)
    with opened(postgres_url, **{bound: "100ms"}) as store:
        lock(hand, "one")
        with pytest.raises(BoardBusy) as refused:
            store.items.put([make_item("one", description="Changed."), make_item("two")], None)
        assert "took too long" in refused.value.message
        assert "pg_stat_activity" in refused.value.hint
        hand.rollback()
        assert [hit.id for hit in word_hits(store, ["two"])] == []
        assert store.items.put([make_item("two")], None).added == 1
        assert store.check() == []


def test_a_bound_that_somebody_set_on_the_server_is_left_as_it_is(postgres_url, hand):
    name = hand.info.dbname
    said = sql.SQL("ALTER DATABASE {} SET statement_timeout = '7s'").format(sql.Identifier(name))
    hand.execute(said)
    hand.commit()
    store = PostgresStore(postgres_url)
    assert store.database.rows("SHOW statement_timeout") == [("7s",)]
    assert store.database.rows("SHOW lock_timeout") == [("30s",)]
    store.close()


def test_of_two_in_a_deadlock_the_put_begins_again_and_succeeds(
    postgres_url, postgres_store, hand, embedder
):
    postgres_store.items.put([make_item("a"), make_item("b")], embedder.fingerprint)
    hand.execute("SET deadlock_timeout = '60s'")
    changed = [make_item(name, description="Changed.") for name in "ab"]
    with opened(postgres_url, deadlock_timeout="50ms") as store, ThreadPoolExecutor(1) as pool:
        lock(hand, "b")
        putting = pool.submit(store.items.put, changed, embedder.fingerprint)
        stuck(hand)
        lock(hand, "a")  # comes back because the other one is made to give way
        hand.commit()
        assert putting.result(BOUND).changed == 2
    assert entry_of(postgres_store, changed[1]).item.description == "Changed."
    assert postgres_store.check() == []


@pytest.mark.parametrize("level", ["repeatable%5C%20read", "serializable"])
def test_a_put_that_another_transaction_overtook_begins_again(
    postgres_url, postgres_store, hand, level, embedder
):
    postgres_store.items.put([make_item("a")], embedder.fingerprint)
    with (
        opened(postgres_url, default_transaction_isolation=level) as store,
        ThreadPoolExecutor(1) as pool,
    ):
        [(holds,)] = store.database.rows("SHOW transaction_isolation")
        assert holds in ("repeatable read", "serializable")
        lock(hand, "a")
        changed = make_item("a", description="Changed.")
        putting = pool.submit(store.items.put, [changed], embedder.fingerprint)
        stuck(hand)
        hand.commit()
        assert putting.result(BOUND).changed == 1
    assert postgres_store.check() == []


def test_others_who_never_give_way_are_named_at_last(postgres_store, monkeypatch):
    tries = []

    def collide(tx):
        tries.append(1)
        raise psycopg.errors.DeadlockDetected("deadlock detected")

    monkeypatch.setattr("pegboard.store.postgres.database.time.sleep", lambda seconds: None)
    with pytest.raises(BoardBusy, match="others kept changing the same rows"):
        postgres_store.database.write(collide)
    assert len(tries) == 8


@pytest.mark.parametrize(
    ("error", "ours", "said"),
    [
        (psycopg.errors.ProgramLimitExceeded, BoardError, "more than PostgreSQL or pgvector can"),
        (psycopg.errors.StatementTooComplex, BoardError, "more than PostgreSQL or pgvector can"),
        (psycopg.errors.ObjectInUse, BoardBusy, "somebody else is using"),
    ],
)
def test_what_a_server_refuses_is_not_told_as_if_it_could_not_be_reached(error, ours, said):
    with pytest.raises(ours, match=rf"here.*{said}|{said}.*here") as refused, told("here"):
        raise error("no")
    assert type(refused.value) is ours
    assert refused.value.hint


def test_two_who_put_the_same_new_items_at_once_are_both_content(
    postgres_url, postgres_store, embedder
):
    other = PostgresStore(postgres_url)
    for turn in range(10):
        items = [make_item(f"tool{turn}x{n}") for n in range(5)]
        ready = threading.Barrier(2)

        def put(store, chosen, ready=ready):
            ready.wait(BOUND)
            return store.items.put(chosen, embedder.fingerprint)

        with ThreadPoolExecutor(2) as pool:
            both = [
                pool.submit(put, postgres_store, items),
                pool.submit(put, other, items[::-1]),
            ]
            reports = [each.result(BOUND) for each in both]
        assert sum(report.added for report in reports) == 5
        assert sum(report.unchanged for report in reports) == 5
    assert len(postgres_store.items.page(0, 100)) == 50
    assert postgres_store.check() == []
    other.close()


def all_taken(stats: dict[str, int]) -> bool:
    return stats["pool_size"] == 16 and not stats["pool_available"]


def test_all_connections_of_a_process_in_use_is_busy_and_not_unreachable(
    postgres_url, postgres_store
):
    store = PostgresStore(postgres_url)
    free = threading.Event()
    with ThreadPoolExecutor(16) as pool:
        for _ in range(16):
            pool.submit(store.database.write, lambda tx: free.wait(BOUND))
        until(lambda: all_taken(store.database.pool.get_stats()))
        store.database.patience = store.database.pool.timeout = 0.1
        with pytest.raises(BoardBusy, match="all connections of this process"):
            store.items.page(0, 1)
        free.set()
    assert store.items.page(0, 1) == []
    store.close()


def test_whoever_may_only_read_can_search_and_is_told_so_when_writing(
    postgres_url, postgres_store, embedder
):
    postgres_store.items.put([make_item("send")], embedder.fingerprint)
    work(postgres_store, embedder)
    with opened(postgres_url, default_transaction_read_only="on") as store:
        assert [hit.id for hit in word_hits(store, ["send"])] == ["mcptools:mail:send"]
        assert store.check() == []
        assert store.facts()["read_only"] is True
        with pytest.raises(BoardReadOnly, match="cannot be written") as refused:
            store.items.put([make_item("two")], None)
        assert "primary" in refused.value.hint


def test_whoever_has_no_right_to_write_is_told_which(postgres_server, postgres_url, hand):
    hand.execute("DROP ROLE IF EXISTS pegboard_reader")
    hand.execute("CREATE ROLE pegboard_reader LOGIN IN ROLE service_role")
    hand.execute("REVOKE INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public FROM service_role")
    hand.commit()
    store = PostgresStore(postgres_server.address(hand.info.dbname, "pegboard_reader"))
    assert store.items.page(0, 1) == []
    with pytest.raises(BoardReadOnly, match="permission denied") as refused:
        store.items.put([make_item("two")], None)
    assert "as a user who may" in refused.value.hint
    store.close()
    hand.execute("DROP ROLE pegboard_reader")
    hand.commit()


def test_a_database_that_was_dropped_is_an_error_at_once(postgres_server):
    name = postgres_server.make(postgres_server.template)
    store = PostgresStore(postgres_server.address(name))
    assert store.items.page(0, 1) == []
    postgres_server.drop(name)
    for _ in range(2):
        with pytest.raises(BoardUnreachable, match=f'database "{name}" does not exist'):
            store.items.page(0, 1)
    store.close()


def test_a_store_that_was_closed_is_not_waited_for(postgres_url):
    store = PostgresStore(postgres_url)
    store.close()
    with pytest.raises(BoardUnreachable, match="closed"):
        store.items.page(0, 1)


def test_too_large_a_sort_for_the_server_s_disk_is_a_full_board(postgres_url, postgres_store):
    with opened(postgres_url, temp_file_limit="0", work_mem="64kB") as store:
        sort = (
            "SELECT count(*) FROM (SELECT g FROM generate_series(1, 50000) g ORDER BY 1 OFFSET 1)"
        )
        with pytest.raises(BoardFull, match="no room left") as refused:
            store.database.rows(sort)
        assert "nothing committed was lost" in refused.value.hint
        assert store.items.page(0, 1) == []


def test_a_table_that_is_not_there_is_told_with_the_way_to_get_it(postgres_store, hand):
    hand.execute("DROP TABLE common_terms CASCADE")
    hand.commit()
    postgres_store.items.put([make_item("send")], None)
    with pytest.raises(BoardError, match="common_terms") as refused:
        word_hits(postgres_store, ["send"])
    assert "pegboard db upgrade" in refused.value.hint


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://me:sec%ret@localhost/board",
        "postgresql://me:secret@[::1/board",
        "postgresql://me:secret@localhost/board?colour=red",
        "postgresql://me:secret@localhost/board?connect_timeout",
    ],
)
def test_an_address_that_cannot_be_read_is_refused_without_repeating_it(address, caplog):
    caplog.set_level(0)
    with pytest.raises(ConfigError) as refused:
        PostgresStore(address)
    assert "postgresql://user:password@host" in refused.value.hint
    assert_no_secret(refused.value, caplog)


def assert_no_secret(error, caplog):
    said = [str(error), caplog.text]
    while error := error.__cause__ or (None if error.__suppress_context__ else error.__context__):
        said += [str(error), repr(error)]
    assert not [text for text in said if "secret" in text or "sec%ret" in text]


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("postgresql://me:secret@localhost:1/board", "refused"),
        ("postgresql://me:secret@nowhere.invalid/board", "nowhere.invalid"),
        ("postgresql://me:secret@/board?host=/nowhere", "No such file"),
    ],
)
def test_a_server_that_is_not_there_is_named_at_once(address, reason, caplog):
    caplog.set_level(0)
    with pytest.raises(BoardUnreachable, match=reason) as refused:
        PostgresStore(address)
    assert "/board cannot be reached" in refused.value.message
    assert_no_secret(refused.value, caplog)
