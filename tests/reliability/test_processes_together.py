"""Several processes on one board at the same time."""

import random
import subprocess
from pathlib import Path

import pytest
from reliability_parts import (
    BOUND,
    HASHED,
    Machine,
    ToolFolder,
    assert_whole,
    ended,
    heard,
    item,
    killed,
    numbered,
    standing,
    vectors,
    worker,
)

from pegboard.app import Pegboard
from pegboard.board import maintain
from pegboard.config import EmbedSettings, Settings
from pegboard.errors import BoardBusy
from pegboard.store.sqlite.store import SqliteStore

ROUNDS = "20"


def test_two_processes_sync_and_two_search_one_board_at_once_without_error(
    tmp_path: Path, board: Path, machine: Machine
) -> None:
    tools = ToolFolder(tmp_path / "tools", 60)
    for command in (["init"], ["add", "folder", tools.root], ["sync"]):
        assert machine.pegboard(*command, "--board", board).returncode == 0
    loops = [
        machine.victim(role, board, ROUNDS)
        for role in ("sync_often", "search_often", "sync_often", "search_often")
    ]
    rng = random.Random(4)

    for loop in loops:
        while _still_running(loop):
            tools.change(rng)

    for loop in loops:
        code, _, errors = ended(loop)
        assert (code, errors) == (0, "")
    assert machine.pegboard("sync", "--board", board).returncode == 0
    checked = machine.pegboard("doctor", "--board", board)
    assert checked.returncode == 0, checked.stdout
    store = SqliteStore(board)
    assert tools.on(store) == tools.described
    assert_whole(store, HASHED)
    store.close()


def _still_running(process: subprocess.Popen[bytes]) -> bool:
    try:
        process.wait(timeout=0.02)
    except subprocess.TimeoutExpired:
        return True
    return False


def test_a_check_made_while_another_process_writes_finds_nothing_wrong(
    board: Path, store: SqliteStore, machine: Machine
) -> None:
    writer = machine.victim("rewrite_one_item", board)
    heard(writer, "writing")

    found = [broken for _ in range(200) for broken in maintain.check(store)]

    assert killed(writer) == -9
    assert found == []


def test_an_item_shown_while_another_process_writes_is_never_half_of_two_versions(
    board: Path, store: SqliteStore, machine: Machine
) -> None:
    writer = machine.victim("rewrite_one_item", board)
    heard(writer, "writing")

    for _ in range(2000):
        entry = store.items.get(item("moving").id, "public")
        assert entry is not None
        assert entry.item.version is not None
        assert entry.item.description == f"Moves for the time {entry.item.version.content_hash}."

    assert killed(writer) == -9


def test_many_processes_may_make_the_same_board_at_once(tmp_path: Path, machine: Machine) -> None:
    for number in range(5):
        path = tmp_path / f"{number}.db"
        makers = [machine.victim("make_board", path) for _ in range(4)]
        for maker in makers:
            heard(maker, "ready")
        for maker in makers:
            assert maker.stdin is not None
            maker.stdin.write(b"\n")
        for maker in makers:
            code, _, errors = ended(maker)
            assert (code, errors) == (0, "")
        made = SqliteStore(path)
        assert maintain.check(made) == []
        made.close()


def test_a_board_that_another_process_keeps_locked_is_said_to_be_busy(
    board: Path, store: SqliteStore, machine: Machine
) -> None:
    store.items.put(numbered(3), HASHED.fingerprint)
    holder = machine.victim("hold_lock", board)
    heard(holder, "locked")
    impatient = SqliteStore(board, busy_seconds=0.2)

    with pytest.raises(BoardBusy) as refused:
        impatient.items.put(numbered(4), HASHED.fingerprint)

    assert str(board) in refused.value.message
    assert "locked by another process" in refused.value.message
    assert "try again" in refused.value.hint
    killed(holder)
    assert impatient.items.put(numbered(4), HASHED.fingerprint).added == 1
    assert maintain.check(impatient) == []
    impatient.close()


def test_readers_go_on_while_another_process_keeps_the_board_locked(
    board: Path, store: SqliteStore, machine: Machine
) -> None:
    store.items.put(numbered(3), HASHED.fingerprint)
    worker(store, HASHED).step()
    holder = machine.victim("hold_lock", board)
    heard(holder, "locked")

    with Pegboard(
        SqliteStore(board, busy_seconds=0.2), Settings(embed=EmbedSettings(provider="test"))
    ) as pegboard:
        assert len(pegboard.search("count the sheep").hits) == 3
        assert pegboard.status().sources == []
        assert standing(store) == {"ready": 3}
        assert pegboard.check() == []
    found = machine.pegboard("search", "sheep", "--board", board)
    assert (found.returncode, found.stderr) == (0, "")
    assert holder.poll() is None


def test_a_worker_that_meets_a_locked_board_gives_nothing_up(
    board: Path, store: SqliteStore, machine: Machine
) -> None:
    store.items.put(numbered(3), HASHED.fingerprint)
    holder = machine.victim("hold_lock", board)
    heard(holder, "locked")
    impatient = SqliteStore(board, busy_seconds=0.2)

    with pytest.raises(BoardBusy):
        worker(impatient, HASHED).step()

    assert vectors(store) == {}
    holder.kill()
    holder.wait(BOUND)
    assert worker(impatient, HASHED).step() is True
    assert_whole(store, HASHED)
    impatient.close()
