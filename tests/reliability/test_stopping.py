"""SIGTERM and Ctrl-C: the batch in hand is finished, nothing is left running, nothing is lost."""

import select
import signal
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from reliability_parts import (
    HASHED,
    Machine,
    ToolFolder,
    assert_whole,
    ended,
    heard,
    numbered,
    sql,
    standing,
    until,
    waiting,
    worker,
)

from pegboard.board import maintain
from pegboard.embed.hashed import HashedEmbedder
from pegboard.model import Vector
from pegboard.store.sqlite.store import SqliteStore

HELD = "SELECT count(*) FROM embedding_tasks WHERE status = 'running' OR lease_owner IS NOT NULL"


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


def test_a_worker_told_to_stop_finishes_the_batch_in_hand_and_takes_no_other(
    board: Path, store: SqliteStore
) -> None:
    store.items.put(numbered(10), HASHED.fingerprint)
    stop = threading.Event()

    report = worker(store, InterruptedEmbedder(stop.set), batch_size=4).run(stop)

    assert report.embedded == 4
    assert sql(board, HELD) == [(0,)]
    assert waiting(store) == 6
    assert maintain.check(store) == []


def test_a_worker_interrupted_in_its_batch_gives_it_back_unharmed(
    board: Path, store: SqliteStore
) -> None:
    store.items.put(numbered(10), HASHED.fingerprint)

    with pytest.raises(KeyboardInterrupt):
        worker(store, InterruptedEmbedder(interrupt), batch_size=4).run(threading.Event())

    assert sql(board, HELD) == [(0,)]
    assert sql(board, "SELECT DISTINCT status, attempts FROM embedding_tasks") == [("pending", 0)]
    worker(store, HASHED).step()
    assert_whole(store, HASHED)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_worker_process_with_nothing_to_do_ends_well_on_a_signal(
    board: Path, store: SqliteStore, machine: Machine, number: signal.Signals
) -> None:
    store.items.put(numbered(10), HASHED.fingerprint)
    process = machine.start("worker", "--board", board)
    until(process, lambda: waiting(store) == 0)

    process.send_signal(number)

    code, said, errors = ended(process)
    assert (code, said) == (0, "embedded 10, superseded 0, failed 0\n"), errors
    assert_whole(store, HASHED)


def test_a_worker_process_ends_well_on_sigterm_in_the_middle_of_its_work(
    board: Path, store: SqliteStore, machine: Machine
) -> None:
    store.items.put(numbered(1000), HASHED.fingerprint)
    process = machine.start("worker", "--board", board, PEGBOARD_EMBED_BATCH_SIZE="1")
    until(process, lambda: waiting(store) < 1000)

    with store.database.write():  # it cannot get on with its work before the signal is sent
        process.send_signal(signal.SIGTERM)

    code, _, errors = ended(process)
    assert code == 0, errors
    assert sql(board, HELD) == [(0,)]
    assert 0 < waiting(store) < 1000
    assert maintain.check(store) == []


def test_ctrl_c_in_the_middle_of_a_sync_says_that_nothing_is_lost_and_a_rerun_completes_it(
    tmp_path: Path, board: Path, store: SqliteStore, machine: Machine
) -> None:
    tools = ToolFolder(tmp_path / "tools", 400)
    assert machine.pegboard("add", "folder", tools.root, "--board", board).returncode == 0
    process = machine.start("sync", "--board", board, PEGBOARD_EMBED_BATCH_SIZE="1")
    until(process, lambda: "ready" in standing(store))

    with store.database.write():
        assert standing(store)["pending"] > 1
        process.send_signal(signal.SIGINT)

    code, _, errors = ended(process)
    assert code == 130
    assert "nothing is lost" in errors
    assert "Traceback" not in errors
    assert sql(board, HELD) == [(0,)]
    assert standing(store)["pending"] > 0
    assert maintain.check(store) == []
    assert machine.pegboard("sync", "--board", board).returncode == 0
    assert tools.on(store) == tools.described
    assert_whole(store, HASHED)


def test_a_second_ctrl_c_gives_the_batch_in_hand_back_without_waiting_for_it(
    board: Path, store: SqliteStore, machine: Machine
) -> None:
    store.items.put(numbered(10), HASHED.fingerprint)
    process = machine.victim("work_until_stopped", board)
    heard(process, "claimed")
    process.send_signal(signal.SIGINT)
    heard(process, "stopping")
    assert process.poll() is None

    process.send_signal(signal.SIGINT)

    assert ended(process)[0] == 130
    assert sql(board, "SELECT DISTINCT status, attempts FROM embedding_tasks") == [("pending", 0)]
    assert sql(board, HELD) == [(0,)]
    assert maintain.check(store) == []


def test_an_impatient_second_ctrl_c_changes_neither_the_exit_code_nor_the_message(
    tmp_path: Path, board: Path, store: SqliteStore, machine: Machine
) -> None:
    tools = ToolFolder(tmp_path / "tools", 400)
    assert machine.pegboard("add", "folder", tools.root, "--board", board).returncode == 0
    process = machine.start("sync", "--board", board, PEGBOARD_EMBED_BATCH_SIZE="1")
    until(process, lambda: "ready" in standing(store))

    process.send_signal(signal.SIGINT)
    until(process, lambda: select.select([process.stderr], [], [], 0)[0] != [])
    process.send_signal(signal.SIGINT)  # it has just said that it stops

    code, _, errors = ended(process)
    assert code == 130
    assert "nothing is lost" in errors
    assert "Traceback" not in errors
    assert maintain.check(store) == []


def test_a_signal_at_any_moment_of_a_workers_waiting_stops_it(
    board: Path, store: SqliteStore, machine: Machine
) -> None:
    """The handler runs in the thread that waits, so it must not need a lock that thread holds."""
    process = machine.victim("stop_while_idle", board, "1000")

    heard(process, "stopped", 30.0)

    assert ended(process)[0] == 0
