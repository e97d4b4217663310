"""A worker that dies between claim and finish, and what becomes of the tasks it held."""

import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from reliability_parts import (
    BOTH,
    HASHED,
    Machine,
    assert_whole,
    end_leases,
    ended,
    heard,
    held,
    item,
    killed,
    numbered,
    standing,
    tasks,
    vectors,
    worker,
)

from pegboard.ports.stages import quiet
from pegboard.ports.store import Store

STORES = BOTH


@pytest.fixture
def waiting(store: Store) -> Store:
    """A store with twenty items that wait for their vectors."""
    store.items.put(numbered(20), HASHED.fingerprint)
    return store


@pytest.mark.parametrize("batch", [1, 7, 20])
def test_a_worker_killed_between_claim_and_finish_loses_nothing(
    board: Path, waiting: Store, machine: Machine, batch: int
) -> None:
    victim = machine.victim("hold_claim", board, str(batch))
    heard(victim, "claimed")
    assert held(waiting) == batch

    assert killed(victim) == -9

    assert waiting.check() == []
    assert vectors(waiting) == {}
    next_one = worker(waiting, HASHED)
    while next_one.release_dead() or next_one.step():
        pass
    assert_whole(waiting, HASHED)
    assert len(vectors(waiting)) == 20


def test_ten_workers_killed_in_a_row_bring_no_task_near_its_last_attempt(
    board: Path, waiting: Store, machine: Machine
) -> None:
    for _ in range(10):
        worker(waiting, HASHED).release_dead()
        victim = machine.victim("hold_claim", board, "5")
        heard(victim, "claimed")
        killed(victim)

    # Four times five tasks that were new, then six that were not, one by one.
    attempts = [task.attempts for task in tasks(waiting)]
    assert (max(attempts), sum(attempts)) == (2, 26)
    worker(waiting, HASHED).drain(threading.Event(), quiet)
    assert_whole(waiting, HASHED)


DIES_OF_ONE_TEXT = """
import os, signal, sys, threading
from pegboard.ports.stages import quiet
from pegboard.board.maintain.worker import Worker, WorkerSettings
from pegboard.embed.hashed import HashedEmbedder
from pegboard.store.opening import open_store

class Mortal(HashedEmbedder):
    def embed(self, texts):
        if any("poison" in text for text in texts):
            os.kill(os.getpid(), signal.SIGKILL)
        return super().embed(texts)

store = open_store(sys.argv[1])
Worker(store, Mortal(), WorkerSettings(max_attempts=3)).drain(threading.Event(), quiet)
"""


def test_a_text_that_kills_its_workers_is_given_up_and_takes_no_other_with_it(
    board: Path, waiting: Store
) -> None:
    waiting.items.put([item("poison", "Is deadly.")], HASHED.fingerprint)
    ends = []
    while not ends or ends[-1] != 0:
        assert len(ends) < 10
        done = subprocess.run([sys.executable, "-c", DIES_OF_ONE_TEXT, str(board)], timeout=60)
        ends.append(done.returncode)

    assert ends == [-signal.SIGKILL] * 3 + [0]
    assert standing(waiting) == {"ready": 20, "failed": 1}
    [given_up] = tasks(waiting)
    assert given_up.name == "poison"
    assert (given_up.status, given_up.error) == ("failed", "its worker died 3 times")
    assert waiting.check() == []


def test_the_leases_of_a_dead_process_are_taken_back_at_once(
    board: Path, waiting: Store, machine: Machine
) -> None:
    victim = machine.victim("hold_claim", board, "6")
    heard(victim, "claimed")
    killed(victim)

    assert worker(waiting, HASHED).release_dead() == 6

    assert held(waiting) == 0
    assert waiting.check() == []


def test_a_dead_process_is_noticed_before_its_parent_has_buried_it(
    board: Path, waiting: Store, machine: Machine
) -> None:
    victim = machine.victim("hold_claim", board, "6")
    heard(victim, "claimed")
    victim.kill()
    os.waitid(os.P_PID, victim.pid, os.WEXITED | os.WNOWAIT)  # dead, and left as it lies

    assert worker(waiting, HASHED).release_dead() == 6


def test_the_leases_of_a_living_process_are_left_to_it(
    board: Path, waiting: Store, machine: Machine
) -> None:
    living = machine.victim("hold_claim", board, "20")
    heard(living, "claimed")
    other = worker(waiting, HASHED)

    assert other.release_dead() == 0
    assert other.step() is False
    assert held(waiting) == 20

    code, said, _ = _let_go(living)
    assert (code, said.strip()) == (0, "finished")
    assert_whole(waiting, HASHED)


@pytest.mark.parametrize("name", ["elsewhere.example", socket.gethostname()])
def test_a_lease_of_another_machine_is_respected_until_it_expires(
    board: Path, waiting: Store, machine: Machine, name: str
) -> None:
    """Also of one that has the same name: machines are copied, and so are containers."""
    gone = machine.victim("hold_claim", board, "1")
    heard(gone, "claimed")
    killed(gone)
    here = worker(waiting, HASHED)
    here.release_dead()
    foreign = f"{name}:{gone.pid}:0000"
    assert len(waiting.tasks.claim(HASHED.fingerprint, foreign, 20, 3600.0)) == 19
    assert len(waiting.tasks.claim(HASHED.fingerprint, foreign, 20, 3600.0)) == 1

    assert here.release_dead() == 0
    assert here.step() is False

    end_leases(waiting)
    here.drain(threading.Event(), quiet)
    assert_whole(waiting, HASHED)


def test_a_worker_whose_lease_was_taken_over_does_no_harm_when_it_finishes_late(
    board: Path, waiting: Store, machine: Machine
) -> None:
    slow = machine.victim("hold_claim", board, "20")
    heard(slow, "claimed")
    end_leases(waiting)
    quick = worker(waiting, HASHED)
    quick.drain(threading.Event(), quiet)
    assert quick.report.embedded == 20

    assert _let_go(slow)[0] == 0

    assert_whole(waiting, HASHED)


def _let_go(process) -> tuple[int, str, str]:
    process.stdin.write(b"\n")
    return ended(process)
