"""SIGTERM and Ctrl-C: the batch in hand is finished, nothing is left running, nothing is lost."""

import select
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from reliability_parts import (
    BOTH,
    HASHED,
    Machine,
    ToolFolder,
    assert_whole,
    ended,
    heard,
    numbered,
    standing,
    tasks,
    until,
    waiting,
    worker,
)

from pegboard.embed.hashed import HashedEmbedder
from pegboard.model.items import Vector
from pegboard.ports.store import Store
from pegboard.store.postgres.database import run
from pegboard.store.postgres.store import PostgresStore

STORES = BOTH
MANY = 4_000
"""Tasks that a worker cannot finish while another process waits for the lock on the board."""


def untouched(store: Store) -> bool:
    """Whether it is as if nobody had ever taken a task."""
    return {(each.status, each.attempts, each.owner) for each in tasks(store)} == {
        ("pending", 0, None)
    }


def nobody_holds_any(store: Store) -> bool:
    return not any(each.status == "running" or each.owner for each in tasks(store))


@contextmanager
def held_up(store: Store) -> Iterator[None]:
    """While inside, nobody else takes a task or brings one to its end."""
    if not isinstance(store, PostgresStore):
        with store.database.write():
            yield
        return
    with store.database.pool.connection() as connection, connection.transaction():
        run(connection, "LOCK TABLE embedding_tasks IN SHARE ROW EXCLUSIVE MODE")
        yield


class InterruptedEmbedder(HashedEmbedder):
    """Something happens to it in its first call."""

    def __init__(self, happens: Callable[[], object]) -> None:
        super().__init__(256)
        self._happens = happens

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        self._happens()
        return super().embed(texts)


def interrupt() -> None:
    raise KeyboardInterrupt


def test_a_worker_told_to_stop_finishes_the_batch_in_hand_and_takes_no_other(store: Store) -> None:
    store.items.put(numbered(10), HASHED.fingerprint)
    stop = threading.Event()

    report = worker(store, InterruptedEmbedder(stop.set), batch_size=4).run(stop)

    assert report.embedded == 4
    assert nobody_holds_any(store)
    assert waiting(store) == 6
    assert store.check() == []


def test_a_worker_interrupted_in_its_batch_gives_it_back_unharmed(store: Store) -> None:
    store.items.put(numbered(10), HASHED.fingerprint)

    with pytest.raises(KeyboardInterrupt):
        worker(store, InterruptedEmbedder(interrupt), batch_size=4).run(threading.Event())

    assert untouched(store)
    worker(store, HASHED).step()
    assert_whole(store, HASHED)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_worker_process_with_nothing_to_do_ends_well_on_a_signal(
    board: Path | str, store: Store, machine: Machine, number: signal.Signals
) -> None:
    store.items.put(numbered(10), HASHED.fingerprint)
    process = machine.start("worker", "--board", board)
    until(process, lambda: waiting(store) == 0)

    process.send_signal(number)

    code, said, errors = ended(process)
    assert (code, said) == (0, "embedded 10, superseded 0, failed 0\n"), errors
    assert_whole(store, HASHED)


def test_a_worker_process_ends_well_on_sigterm_in_the_middle_of_its_work(
    board: Path | str, store: Store, machine: Machine
) -> None:
    store.items.put(numbered(MANY), HASHED.fingerprint)
    process = machine.start("worker", "--board", board, PEGBOARD_EMBED_BATCH_SIZE="1")
    until(process, lambda: waiting(store) < MANY)

    with held_up(store):  # it cannot get on with its work before the signal is sent
        process.send_signal(signal.SIGTERM)

    code, _, errors = ended(process)
    assert code == 0, errors
    assert nobody_holds_any(store)
    assert 0 < waiting(store) < MANY
    assert store.check() == []


def test_ctrl_c_in_the_middle_of_a_sync_says_that_nothing_is_lost_and_a_rerun_completes_it(
    tmp_path: Path, board: Path | str, store: Store, machine: Machine
) -> None:
    tools = ToolFolder(tmp_path / "tools", 1_500)
    adding = ("add", "folder", "--no-sync", tools.root)
    assert machine.pegboard(*adding, "--board", board).returncode == 0
    process = machine.start("sync", "--board", board, PEGBOARD_EMBED_BATCH_SIZE="1")
    until(process, lambda: "ready" in standing(store))

    with held_up(store):
        assert standing(store)["pending"] > 1
        process.send_signal(signal.SIGINT)

    code, _, errors = ended(process)
    assert code == 130
    assert "nothing is lost" in errors
    assert "Traceback" not in errors
    assert nobody_holds_any(store)
    assert standing(store)["pending"] > 0
    assert store.check() == []
    assert machine.pegboard("sync", "--board", board).returncode == 0
    assert tools.on(store) == tools.described
    assert_whole(store, HASHED)


def test_a_second_ctrl_c_gives_the_batch_in_hand_back_without_waiting_for_it(
    board: Path | str, store: Store, machine: Machine
) -> None:
    store.items.put(numbered(10), HASHED.fingerprint)
    process = machine.victim("work_until_stopped", board)
    heard(process, "claimed")
    process.send_signal(signal.SIGINT)
    heard(process, "stopping")
    assert process.poll() is None

    process.send_signal(signal.SIGINT)

    assert ended(process)[0] == 130
    assert untouched(store)
    assert store.check() == []


def test_an_impatient_second_ctrl_c_changes_neither_the_exit_code_nor_the_message(
    tmp_path: Path, board: Path | str, store: Store, machine: Machine
) -> None:
    tools = ToolFolder(tmp_path / "tools", 400)
    adding = ("add", "folder", "--no-sync", tools.root)
    assert machine.pegboard(*adding, "--board", board).returncode == 0
    process = machine.start("sync", "--board", board, PEGBOARD_EMBED_BATCH_SIZE="1")
    until(process, lambda: "ready" in standing(store))

    process.send_signal(signal.SIGINT)
    until(process, lambda: select.select([process.stderr], [], [], 0)[0] != [])
    process.send_signal(signal.SIGINT)  # it has just said that it stops

    code, _, errors = ended(process)
    assert code == 130
    assert "nothing is lost" in errors
    assert "Traceback" not in errors
    assert store.check() == []


def test_a_signal_at_any_moment_of_a_workers_waiting_stops_it(
    board: Path | str, store: Store, machine: Machine
) -> None:
    """The handler runs in the thread that waits, so it must not need a lock that thread holds."""
    process = machine.victim("stop_while_idle", board, "1000")

    heard(process, "stopped", 30.0)

    assert ended(process)[0] == 0
