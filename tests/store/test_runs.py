"""What a board remembers of runs."""

import math
import threading
import time
from contextlib import closing

import apsw
import psycopg
import pytest
from rights_parts import ALICE

from making import by_hand, entry_of, make_item, purge, retire
from pegboard.board.curate.editing import etag
from pegboard.errors import BoardReadOnly
from pegboard.model.calls import Outcome
from pegboard.model.items import ItemId
from pegboard.model.runs import FEWEST_RUNS, KEPT_SECONDS, Run, RunCounts
from pegboard.store import running
from pegboard.store.postgres.opening import upgrade
from pegboard.store.postgres.store import PostgresStore
from pegboard.store.queries import load
from pegboard.store.sqlite.store import SqliteStore

SEND = make_item("send")
POST = make_item("post")
DAY = 86_400.0
START = time.time()
"""The runs of these tests ended at this time or before."""


def run_of(item=SEND, *, ago=0.0, outcome=Outcome.OK, seconds=1.0, caller="cli"):
    return Run(item.namespace, item.id, "1.0.0", START - ago, outcome, seconds, caller)


INSERT = "INSERT INTO item_runs (namespace, item_id, version, at, outcome, seconds, who"
BY_HAND = {
    SqliteStore: INSERT + ") VALUES (:namespace, :id, '', :at, 'ok', 1, '')",
    PostgresStore: INSERT + ", uid, item_key)"
    " VALUES (:namespace, :id, '', to_timestamp(:at), 'ok', 1, '', gen_random_uuid(), 0)",
}


def put_in(store, *runs):
    """However old they are."""
    for run in runs:
        by_hand(store, BY_HAND[type(store)], namespace=run.namespace, id=run.id, at=run.at)


def counted(store):
    return by_hand(store, "SELECT count(*) FROM item_runs")[0][0]


# What is remembered.


def test_runs_come_back_newest_first_and_as_they_were(store):
    store.items.put([SEND, POST], None)
    runs = [
        run_of(ago=300, outcome=Outcome.FAILED, seconds=0.25),
        run_of(POST, ago=200, caller="mcp"),
        run_of(ago=100, outcome=Outcome.TIMEOUT, seconds=60.0, caller=""),
    ]
    for run in runs:
        store.runs.record(run)
    assert [_rounded(run) for run in store.runs.recent()] == [_rounded(r) for r in runs[::-1]]
    assert [run.outcome for run in store.runs.recent(SEND.id)] == [Outcome.TIMEOUT, Outcome.FAILED]
    assert [run.id for run in store.runs.recent(limit=2)] == [SEND.id, POST.id]
    assert store.runs.recent(limit=0) == store.runs.recent(limit=-1) == []


def _rounded(run):
    """A time in a database of its own kind has six decimals."""
    return run._replace(at=round(run.at, 3))


@pytest.mark.parametrize("outcome", Outcome)
def test_every_way_in_which_a_call_ends_can_be_remembered(store, outcome):
    store.items.put([SEND], None)
    store.runs.record(run_of(outcome=outcome))
    assert [run.outcome for run in store.runs.recent()] == [outcome]


def test_runs_of_the_same_id_in_other_namespaces_are_apart(store):
    ours, theirs = SEND, SEND._replace(namespace="team")
    store.items.put([ours, theirs], None)
    for item, ago in ((ours, 3), (theirs, 2), (theirs, 1)):
        store.runs.record(run_of(item, ago=ago))
    assert len(store.runs.recent(SEND.id)) == 3
    assert len(store.runs.recent(SEND.id, "team")) == len(store.runs.recent(None, "team")) == 2
    assert store.runs.counts(SEND.id, "public").runs == 1
    assert store.runs.counts(None, "team").runs == 2
    assert store.runs.recent(SEND.id, "nowhere") == []


def test_counts_say_how_often_how_well_how_long_and_when_last(store):
    store.items.put([SEND, POST], None)
    for ago, outcome, seconds in (
        (300, Outcome.OK, 1.0),
        (100, Outcome.OK, 2.0),
        (200, Outcome.TIMEOUT, 60.0),
    ):
        store.runs.record(run_of(ago=ago, outcome=outcome, seconds=seconds))
    store.runs.record(run_of(POST, ago=50, outcome=Outcome.DENIED, seconds=0.0))
    found = store.runs.counts(SEND.id)
    assert found._replace(last_at=None) == RunCounts(runs=3, ok=2, seconds=1.5, median=1.0)
    assert found.last_at == pytest.approx(START - 100)
    assert store.runs.counts(POST.id)[:2] == (1, 0)
    assert store.runs.counts(POST.id).seconds is None
    assert store.runs.counts()[:2] == (4, 2)
    assert store.runs.counts("nothing") == RunCounts()


def test_a_run_changes_nothing_of_its_item_but_how_often_it_goes_well(store, embedder):
    store.items.put([SEND], embedder.fingerprint)
    before = entry_of(store, SEND)
    waiting = store.tasks.waiting(embedder.fingerprint)
    for n in range(FEWEST_RUNS):
        store.runs.record(run_of(outcome=Outcome.FAILED if n else Outcome.OK))
    after = entry_of(store, SEND)
    assert (after.success_rate, after.counted_runs) == (0.2, FEWEST_RUNS)
    assert after.quality_score < before.quality_score
    same = {"success_rate": None, "counted_runs": 0, "quality_score": before.quality_score}
    assert after._replace(**same) == before
    assert etag(after) == etag(before)
    assert store.tasks.waiting(embedder.fingerprint) == waiting
    assert store.check() == []


def test_a_run_outlives_its_item(store):
    store.items.put([SEND], None)
    store.runs.record(run_of())
    retire(store)
    assert purge(store) == (0, 1)
    assert [run.id for run in store.runs.recent(SEND.id)] == [SEND.id]
    assert store.runs.counts(SEND.id).runs == 1


def test_what_is_not_on_the_board_has_no_runs(store):
    store.items.put([SEND], None)
    store.runs.record(run_of(POST))
    store.runs.record(run_of(SEND._replace(namespace="team")))
    assert counted(store) == 0


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ({"seconds": math.nan}, {"seconds": 0.0}),
        ({"seconds": -1.0}, {"seconds": 0.0}),
        ({"at": math.nan}, {"at": 0.0}),
        ({"at": -math.inf}, {"at": 0.0}),
        ({"caller": "a\0b"}, {"caller": "a\ufffdb"}),
        ({"caller": "\ud800"}, {"caller": "?"}),
        ({"version": "v" * 5000}, {"version": "v" * running.LONGEST}),
        ({"caller": "ü" * 5000}, {"caller": "ü" * running.LONGEST}),
    ],
)
def test_what_no_database_would_take_is_put_right(store, said, kept):
    store.items.put([SEND], None)
    store.runs.record(run_of()._replace(**said))
    if "at" in said:  # which is long ago, and forgotten by now
        assert counted(store) == 0
        return
    [found] = store.runs.recent()
    assert {name: getattr(found, name) for name in kept} == kept


@pytest.mark.parametrize("at", [math.inf, 1e300, 9e12])
def test_no_run_ends_in_the_future(store, at):
    """It would be the newest for ever, and never be forgotten."""
    store.items.put([SEND], None)
    store.runs.record(run_of()._replace(at=at))
    assert store.runs.recent()[0].at <= store.now()


@pytest.mark.parametrize("name", ["a\0b", "\ud800"])
def test_a_name_that_nothing_can_have_has_no_runs(store, name):
    store.items.put([SEND], None)
    store.runs.record(run_of()._replace(id=ItemId(name)))
    assert store.runs.recent(name) == store.runs.recent(None, name) == []
    assert store.runs.counts(name) == RunCounts()
    assert counted(store) == 0


# What is forgotten.


def test_with_each_new_run_a_few_go_that_are_older_than_ninety_days(store):
    store.items.put([SEND], None)
    old = [run_of(ago=KEPT_SECONDS + DAY + n) for n in range(25)]
    put_in(store, *old, run_of(ago=KEPT_SECONDS - DAY))
    left = []
    for _ in range(4):
        store.runs.record(run_of())
        left.append(counted(store))
    assert left == [17, 8, 4, 5]
    moments = [run.at for run in store.runs.recent()]
    assert min(moments) == pytest.approx(START - KEPT_SECONDS + DAY)


def test_pruning_forgets_what_ended_before_and_counts_it(store, monkeypatch):
    monkeypatch.setattr(f"{type(store.runs).__module__}.FORGOTTEN_AT_ONCE", 3)
    store.items.put([SEND], None)
    for ago in range(10, 20):
        store.runs.record(run_of(ago=ago))
    assert store.runs.prune(START - 12.5) == 7
    assert store.runs.counts().runs == 3
    assert store.runs.prune(START - 12.5) == 0
    assert store.runs.prune(START) == 3


def test_many_who_record_at_once_lose_none(store):
    store.items.put([SEND], None)
    put_in(store, *(run_of(ago=KEPT_SECONDS + DAY + n) for n in range(100)))
    start, failed = threading.Barrier(4), []

    def work():
        try:
            start.wait(30)
            for n in range(15):
                store.runs.record(run_of(seconds=float(n)))
        except BaseException as error:
            failed.append(error)
            raise

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(100)
    assert failed == []
    assert counted(store) == 60


def test_a_run_whose_commit_nobody_heard_of_is_recorded_once(postgres_store):
    """As when the connection is lost: the same is done again."""
    postgres_store.items.put([SEND], None)
    database = postgres_store.runs._db
    write = database.write

    def twice(work, **how):
        write(work, **how)
        return write(work, **how)

    database.write = twice
    postgres_store.runs.record(run_of())
    assert counted(postgres_store) == 1


def test_a_file_that_cannot_be_written_says_so_and_can_still_be_read(sqlite_store):
    sqlite_store.items.put([SEND], None)
    sqlite_store.runs.record(run_of())
    path = str(sqlite_store.database.path)
    sqlite_store.database._local.connection = apsw.Connection(path, apsw.SQLITE_OPEN_READONLY)
    for write in (lambda runs: runs.record(run_of()), lambda runs: runs.prune(START)):
        with pytest.raises(BoardReadOnly):
            write(sqlite_store.runs)
    assert len(sqlite_store.runs.recent()) == 1


def test_a_server_that_cannot_be_written_says_so_and_can_still_be_read(
    postgres_store, postgres_url
):
    postgres_store.items.put([SEND], None)
    postgres_store.runs.record(run_of())
    read_only = f"{postgres_url}&options=-cdefault_transaction_read_only%3Don"
    with closing(PostgresStore(read_only)) as store:
        for write in (lambda runs: runs.record(run_of()), lambda runs: runs.prune(START)):
            with pytest.raises(BoardReadOnly):
                write(store.runs)
        assert len(store.runs.recent()) == 1


# Lookups.


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("recent", "item_runs_at"),
        ("recent_of_item", "item_runs_item"),
        ("counts_of_item", "item_runs_item"),
        ("forget", "item_runs_at"),
    ],
)
def test_runs_are_looked_up_by_an_index_and_not_sorted(sqlite_store, name, index):
    params = {"id": "x", "namespace": None, "limit": 9, "before": 0.0}
    said = f"EXPLAIN QUERY PLAN {load('sqlite', 'runs')[name]}"
    plan = str(sqlite_store.database.rows(said, params))
    assert index in plan
    assert "TEMP B-TREE" not in plan


def test_a_board_on_a_server_from_before_gets_its_table_and_keeps_all_else(empty_database):
    upgrade(empty_database, "here", through=7)
    with psycopg.connect(empty_database) as connection:
        connection.execute(
            "INSERT INTO items (namespace, id, name, author) VALUES ('a', 'x:y:z', 'z', 'alice')"
        )
    assert upgrade(empty_database, "here")[0] == "0008_runs"
    with closing(PostgresStore(empty_database, caller=ALICE)) as alice:
        alice.runs.record(Run("a", ItemId("x:y:z"), "", START, Outcome.OK, 1.0))
        assert alice.runs.counts("x:y:z").ok == 1
