"""A sync that is killed at its most delicate moments, and the next one."""

from pathlib import Path

from reliability_parts import (
    BOTH,
    HASHED,
    Machine,
    ToolFolder,
    assert_whole,
    entries,
    heard,
    killed,
)

from pegboard.store.opening import open_store

STORES = BOTH


def test_a_sync_killed_before_it_retires_does_not_keep_a_refused_tool_alive(
    tmp_path: Path, board: Path, machine: Machine
) -> None:
    tools = ToolFolder(tmp_path / "tools", 3)
    for command in (["init"], ["add", "folder", tools.root], ["sync"]):
        assert machine.pegboard(*command, "--board", board).returncode == 0
    tools.spoil("tool_1")
    victim = machine.victim("hold_retire", board)
    heard(victim, "retiring")
    killed(victim)

    assert machine.pegboard("sync", "--board", board).returncode == 0

    store = open_store(board)
    assert tools.on(store) == tools.described
    assert [rejection.code for rejection in store.ledger.rejections()] == ["syntax_error"]
    assert_whole(store, HASHED)
    store.close()


def test_a_sync_killed_after_it_admitted_a_refused_tool_does_not_lose_it_again(
    tmp_path: Path, board: Path, machine: Machine
) -> None:
    first, second = ToolFolder(tmp_path / "first", 2), ToolFolder(tmp_path / "second", 2)
    assert machine.pegboard("init", "--board", board).returncode == 0
    for tools in (first, second):
        assert machine.pegboard("add", "folder", tools.root, "--board", board).returncode == 0
    assert machine.pegboard("sync", "--board", board).returncode == 0
    assert machine.pegboard("remove", "first", "--board", board).returncode == 0
    store = open_store(board)
    assert [rejection.code for rejection in store.ledger.rejections()] == ["id_taken"] * 2
    victim = machine.victim("hold_settle", board)
    heard(victim, "settling")
    assert second.on(store) == second.described
    killed(victim)

    assert machine.pegboard("sync", "--board", board).returncode == 0

    assert second.on(store) == second.described
    assert store.ledger.rejections() == []
    assert_whole(store, HASHED)
    store.close()


def test_a_sync_killed_before_it_retires_is_made_good_by_the_next(
    tmp_path: Path, board: Path, machine: Machine
) -> None:
    tools = ToolFolder(tmp_path / "tools", 12)
    for command in (["init"], ["add", "folder", tools.root], ["sync"]):
        assert machine.pegboard(*command, "--board", board).returncode == 0
    tools.delete("tool_2")
    tools.write("tool_3", "Says something new.")
    tools.write("newcomer", "Was not there before.")
    victim = machine.victim("hold_retire", board)
    heard(victim, "retiring")
    killed(victim)
    store = open_store(board)
    assert store.check() == []
    assert "tool_2" in tools.on(store)

    assert machine.pegboard("sync", "--board", board).returncode == 0

    assert tools.on(store) == tools.described
    assert [e.item.name for e in entries(store) if not e.active] == ["tool_2"]
    assert_whole(store, HASHED)
    store.close()
