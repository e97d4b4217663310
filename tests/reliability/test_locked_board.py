"""Another process keeps the one lock that a board in a file has."""

from pathlib import Path

import pytest
from reliability_parts import (
    BOUND,
    HASHED,
    Machine,
    assert_whole,
    heard,
    killed,
    numbered,
    standing,
    vectors,
    worker,
)

from pegboard.app.pegboard import Pegboard
from pegboard.config.settings import EmbedSettings, Settings
from pegboard.errors import BoardBusy
from pegboard.store.sqlite.store import SqliteStore


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
    assert impatient.check() == []
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
