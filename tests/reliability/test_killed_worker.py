"""A worker that dies between claim and finish, and what becomes of the tasks it held."""

import os
from pathlib import Path

import pytest
from reliability_parts import (
    HASHED,
    Machine,
    assert_whole,
    ended,
    heard,
    killed,
    numbered,
    sql,
    vectors,
    worker,
)

from pegboard.board import maintain
from pegboard.store.sqlite.store import SqliteStore

LEASES = "SELECT lease_owner, attempts FROM embedding_tasks WHERE status = 'running'"


@pytest.fixture
def waiting(store: SqliteStore) -> SqliteStore:
    """A store with twenty items that wait for their vectors."""
    store.items.put(numbered(20), HASHED.fingerprint)
    return store


@pytest.mark.parametrize("batch", [1, 7, 20])
def test_a_worker_killed_between_claim_and_finish_loses_nothing(
    board: Path, waiting: SqliteStore, machine: Machine, batch: int
) -> None:
    victim = machine.victim("hold_claim", board, str(batch))
    heard(victim, "claimed")
    assert len(sql(board, LEASES)) == batch

    assert killed(victim) == -9

    assert maintain.check(waiting) == []
    assert vectors(waiting) == {}
    next_one = worker(waiting, HASHED)
    while next_one.release_dead() or next_one.step():
        pass
    assert_whole(waiting, HASHED)
    assert len(vectors(waiting)) == 20


def test_ten_workers_killed_in_a_row_cost_no_task_its_attempts(
    board: Path, waiting: SqliteStore, machine: Machine
) -> None:
    for _ in range(10):
        worker(waiting, HASHED).release_dead()
        victim = machine.victim("hold_claim", board, "5")
        heard(victim, "claimed")
        killed(victim)

    worker(waiting, HASHED).release_dead()

    assert sql(board, "SELECT DISTINCT status, attempts FROM embedding_tasks") == [("pending", 0)]


def test_the_leases_of_a_dead_process_are_taken_back_at_once(
    board: Path, waiting: SqliteStore, machine: Machine
) -> None:
    victim = machine.victim("hold_claim", board, "6")
    heard(victim, "claimed")
    killed(victim)

    assert worker(waiting, HASHED).release_dead() == 6

    assert sql(board, LEASES) == []
    assert maintain.check(waiting) == []


def test_a_dead_process_is_noticed_before_its_parent_has_buried_it(
    board: Path, waiting: SqliteStore, machine: Machine
) -> None:
    victim = machine.victim("hold_claim", board, "6")
    heard(victim, "claimed")
    victim.kill()
    os.waitid(os.P_PID, victim.pid, os.WEXITED | os.WNOWAIT)  # dead, and left as it lies

    assert worker(waiting, HASHED).release_dead() == 6


def test_the_leases_of_a_living_process_are_left_to_it(
    board: Path, waiting: SqliteStore, machine: Machine
) -> None:
    living = machine.victim("hold_claim", board, "20")
    heard(living, "claimed")
    other = worker(waiting, HASHED)

    assert other.release_dead() == 0
    assert other.step() is False
    assert len(sql(board, LEASES)) == 20

    code, said, _ = _let_go(living)
    assert (code, said.strip()) == (0, "finished")
    assert_whole(waiting, HASHED)


def test_a_lease_of_another_machine_is_respected_until_it_expires(
    board: Path, waiting: SqliteStore, machine: Machine
) -> None:
    gone = machine.victim("hold_claim", board, "1")
    heard(gone, "claimed")
    killed(gone)
    here = worker(waiting, HASHED)
    here.release_dead()
    foreign = f"elsewhere.example:{gone.pid}:0000"
    assert len(waiting.tasks.claim(HASHED.fingerprint, foreign, 20, 3600.0)) == 20

    assert here.release_dead() == 0
    assert here.step() is False

    sql(board, "UPDATE embedding_tasks SET lease_until = 1.0")
    assert here.step() is True
    assert_whole(waiting, HASHED)


def test_a_worker_whose_lease_was_taken_over_does_no_harm_when_it_finishes_late(
    board: Path, waiting: SqliteStore, machine: Machine
) -> None:
    slow = machine.victim("hold_claim", board, "20")
    heard(slow, "claimed")
    sql(board, "UPDATE embedding_tasks SET lease_until = 1.0")
    quick = worker(waiting, HASHED)
    assert quick.step() is True
    assert quick.report.embedded == 20

    assert _let_go(slow)[0] == 0

    assert_whole(waiting, HASHED)


def _let_go(process) -> tuple[int, str, str]:
    process.stdin.write(b"\n")
    return ended(process)
