"""Several processes on one board at the same time."""

import random
import subprocess
from pathlib import Path

from reliability_parts import (
    BOTH,
    HASHED,
    Machine,
    ToolFolder,
    assert_whole,
    ended,
    heard,
    item,
    killed,
)

from pegboard.ports.store import Store
from pegboard.store.opening import open_store
from pegboard.store.sqlite.store import SqliteStore

STORES = BOTH
ROUNDS = {"sqlite": 20, "postgres": 8}
READS = {"sqlite": 2000, "postgres": 500}
CHECKS = {"sqlite": 200, "postgres": 50}


def often(counts: dict[str, int], board: Path | str) -> int:
    """A server takes longer to ask than a file."""
    return counts["sqlite" if isinstance(board, Path) else "postgres"]


def test_two_processes_sync_and_two_search_one_board_at_once_without_error(
    tmp_path: Path, board: Path, machine: Machine
) -> None:
    tools, still = ToolFolder(tmp_path / "tools", 60), ToolFolder(tmp_path / "still", 0)
    still.write("keeper", "Archive the invoice.")
    folders = [["add", "folder", each.root] for each in (tools, still)]
    for command in (["init"], *folders, ["sync"]):
        assert machine.pegboard(*command, "--board", board).returncode == 0
    loops = [
        machine.victim(role, board, str(often(ROUNDS, board)))
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
    store = open_store(board)
    assert tools.on(store) == tools.described | still.described
    assert_whole(store, HASHED)
    store.close()


def _still_running(process: subprocess.Popen[bytes]) -> bool:
    try:
        process.wait(timeout=0.02)
    except subprocess.TimeoutExpired:
        return True
    return False


def test_a_check_made_while_another_process_writes_finds_nothing_wrong(
    board: Path, store: Store, machine: Machine
) -> None:
    writer = machine.victim("rewrite_one_item", board)
    heard(writer, "writing")

    found = [broken for _ in range(often(CHECKS, board)) for broken in store.check()]

    assert killed(writer) == -9
    assert found == []


def test_an_item_shown_while_another_process_writes_is_never_half_of_two_versions(
    board: Path, store: Store, machine: Machine
) -> None:
    writer = machine.victim("rewrite_one_item", board)
    heard(writer, "writing")

    for _ in range(often(READS, board)):
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
        assert made.check() == []
        made.close()
