"""How often an item is said to go well: what counts, who counts, and that nobody can choose it."""

import threading
import time
from contextlib import closing

import psycopg
import pytest
from psycopg import errors
from rights_parts import acting

from making import by_hand, entry_of, make_item
from pegboard.model.calls import Caller, Outcome, Role
from pegboard.model.runs import (
    FEWEST_RUNS,
    KEPT_SECONDS,
    MOST_OF_A_CALLER,
    TIMED_RUNS,
    Run,
)
from pegboard.store.postgres.store import PostgresStore

SEND = make_item("send", author="ada")
START = time.time()
TELLING = (Outcome.OK, Outcome.FAILED, Outcome.TIMEOUT, Outcome.KILLED)
"""How a run must end to say something about its tool. Arguments that do not fit, a denial and a
server that is down say nothing."""
SILENT = [each for each in Outcome if each not in TELLING]


@pytest.fixture
def board(store):
    store.items.put([SEND], None)
    return store


def record(store, *outcomes, who="cli", item=SEND, ago=0.0, seconds=1.0):
    for n, outcome in enumerate(outcomes):
        at = START - ago - len(outcomes) + n
        store.runs.record(Run(item.namespace, item.id, "1.0.0", at, outcome, seconds, who))


def rated(store, item=SEND):
    found = entry_of(store, item)
    return found.success_rate, found.counted_runs


def test_until_there_are_a_few_runs_nobody_knows(board):
    assert rated(board) == (None, 0)
    record(board, *[Outcome.OK] * (FEWEST_RUNS - 1))
    assert rated(board) == (None, FEWEST_RUNS - 1)
    record(board, Outcome.FAILED)
    assert rated(board) == (0.8, FEWEST_RUNS)


@pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.TIMEOUT, Outcome.KILLED])
def test_what_fails_takes_too_long_or_is_killed_did_not_go_well(board, outcome):
    record(board, *[Outcome.OK] * 6, *[outcome] * 2)
    assert rated(board) == (0.75, 8)


@pytest.mark.parametrize("outcome", SILENT)
def test_what_was_never_run_says_nothing_about_the_tool(board, outcome):
    record(board, *[Outcome.OK] * 6, *[outcome] * 30)
    assert rated(board) == (1.0, 6)


def test_of_one_caller_only_the_last_runs_count(board):
    record(board, *[Outcome.FAILED] * 30, *[Outcome.OK] * MOST_OF_A_CALLER)
    assert rated(board) == (1.0, MOST_OF_A_CALLER)


def test_nobody_lifts_or_lowers_an_item_by_calling_it_often(board):
    record(board, *[Outcome.FAILED] * 10, who="bob", ago=500)
    record(board, *[Outcome.FAILED] * 10, who="", ago=400)
    record(board, *[Outcome.OK] * 300, who="mallory")
    rate, runs = rated(board)
    assert runs == 20 + MOST_OF_A_CALLER
    assert rate == pytest.approx(MOST_OF_A_CALLER / runs)


def test_an_author_does_not_count_for_his_own_item(board):
    record(board, *[Outcome.OK] * 50, who="ada")
    assert rated(board) == (None, 0)
    record(board, *[Outcome.FAILED] * 5, who="bob")
    assert rated(board) == (0.0, 5)
    nobodys = make_item("post", author="")
    board.items.put([nobodys], None)
    record(board, *[Outcome.OK] * 5, who="", item=nobodys)
    assert rated(board, nobodys) == (1.0, 5)


def test_runs_of_the_same_id_elsewhere_do_not_count(board):
    theirs = SEND._replace(namespace="team")
    board.items.put([theirs], None)
    record(board, *[Outcome.OK] * 5)
    record(board, *[Outcome.FAILED] * 5, item=theirs)
    assert rated(board) == (1.0, 5)
    assert rated(board, theirs) == (0.0, 5)


def test_what_is_older_than_ninety_days_no_longer_counts(board):
    record(board, *[Outcome.FAILED] * 8, who="bob")
    old = KEPT_SECONDS + 60
    sql = {
        "sqlite": "UPDATE item_runs SET at = at - :old",
        "postgres": "UPDATE item_runs SET at = at - make_interval(secs => :old)",
    }
    kind = "postgres" if isinstance(board, PostgresStore) else "sqlite"
    by_hand(board, sql[kind], old=old)
    record(board, *[Outcome.OK] * 6, who="bob")
    assert rated(board) == (1.0, 6)


def test_a_rate_that_was_brought_along_stays_until_there_is_a_better_one(board):
    by_hand(board, "UPDATE items SET success_rate = 0.5, quality_score = 0.9")
    record(board, *[Outcome.OK] * 4)
    assert rated(board) == (0.5, 4)
    record(board, Outcome.OK)
    assert rated(board) == (1.0, 5)
    assert entry_of(board, SEND).quality_score == entry_of(board, SEND).rating == 0.9


def test_a_sync_leaves_it_as_it_is(board):
    record(board, *[Outcome.OK] * 6)
    board.items.put([SEND._replace(description="Another text.")], None)
    assert rated(board) == (1.0, 6)


def test_how_long_it_takes_is_the_middle_of_those_that_went_well(board):
    assert board.runs.counts(SEND.id).median is None
    for seconds in (9.0, 1.0, 3.0, 2.0):
        record(board, Outcome.OK, seconds=seconds)
    record(board, Outcome.TIMEOUT, seconds=600.0)
    assert board.runs.counts(SEND.id).median == board.runs.counts().median == 2.0
    assert board.runs.counts(SEND.id, "elsewhere").median is None
    assert TIMED_RUNS > 100


def test_many_who_record_at_once_are_all_counted(board):
    def work(who):
        record(board, *[Outcome.OK] * 5, who=who)

    threads = [threading.Thread(target=work, args=(f"caller{n}",)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert rated(board) == (1.0, 30)


def test_a_caller_with_rights_of_his_own_counts_too_and_only_for_what_he_sees(board):
    hidden = make_item("hidden", namespace="team")
    board.items.put([hidden], None)
    seen = board.seen_by(Caller("bob", (), Role.READER))
    record(seen, *[Outcome.OK] * 6)
    record(seen, *[Outcome.OK] * 6, item=hidden)
    assert rated(board) == (1.0, 6)
    assert rated(board, hidden) == (None, 0)
    assert seen.items.get(SEND.id, "public").success_rate == 1.0


def test_of_very_many_callers_it_looks_at_some_and_is_quick_about_it(sqlite_store):
    sqlite_store.items.put([SEND], None)
    plan = by_hand(
        sqlite_store,
        "EXPLAIN QUERY PLAN SELECT key FROM item_runs WHERE namespace = 'public' AND item_id = 'x'"
        " AND who = 'y' AND outcome IN ('ok', 'failed', 'timeout', 'killed') ORDER BY at DESC",
    )
    assert any("item_runs_caller" in str(row) for row in plan)
    for n in range(250):
        record(sqlite_store, Outcome.OK, who=f"caller{n:03}")
    rate, runs = rated(sqlite_store)
    assert rate == 1.0
    assert 190 <= runs <= 200


def test_no_caller_sets_the_figures_and_making_them_anew_changes_nothing(tenants):
    """Who may call the function, and that it tells only the truth: docs/explanation/rights.md."""
    from rights_parts import ALICE, ANON

    with closing(psycopg.connect(tenants, autocommit=True)) as owner:
        before = owner.execute("SELECT id, success_rate, counted_runs FROM items ORDER BY 1")
        kept = before.fetchall()
        with acting(owner, ALICE):
            owner.execute("SELECT rate_item('a', 'tool:mail:zqalphaopenx')")
            owner.execute("SELECT rate_item('b', 'no such thing')")
            for figure in ("success_rate", "counted_runs", "quality_score"):
                with pytest.raises(errors.InsufficientPrivilege), owner.transaction():
                    owner.execute(f"UPDATE items SET {figure} = 1")
        with acting(owner, ANON), pytest.raises(errors.InsufficientPrivilege):
            owner.execute("SELECT rate_item('a', 'tool:mail:zqalphaopenx')")
        after = owner.execute("SELECT id, success_rate, counted_runs FROM items ORDER BY 1")
        assert len(after.fetchall()) == len(kept)
