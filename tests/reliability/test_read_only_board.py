"""A board that may be read but not written: searching works, writing is refused in clear words."""

import ctypes
import hashlib
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from reliability_parts import Machine, ToolFolder, killed, until

from pegboard.store.sqlite.store import SqliteStore

PR_CAPBSET_DROP = 24
CAPABILITIES_PAST_PERMISSIONS = (1, 2, 3)  # dac_override, dac_read_search, fowner
LIBC = ctypes.CDLL(None, use_errno=True)
READ_ONLY_FILE, READ_ONLY_FOLDER = 0o444, 0o555


def bound_by_permissions() -> None:
    """In the child: even root is now held by the permission bits.

    Another user would do as well, but need not be able to reach the interpreter.
    """
    if os.geteuid() == 0:
        for capability in CAPABILITIES_PAST_PERMISSIONS:
            LIBC.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)


class ReadOnly:
    """A synced board in a folder of its own, and what can be done with it from outside."""

    def __init__(self, machine: Machine, folder: Path, tools: ToolFolder) -> None:
        self.machine = machine
        self.folder = folder
        self.board = folder / "board.db"
        self.tools = tools

    def lock(self, file_mode: int = READ_ONLY_FILE, folder_mode: int = READ_ONLY_FOLDER) -> None:
        for path in self.folder.iterdir():
            path.chmod(file_mode)
        self.folder.chmod(folder_mode)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.machine.pegboard(
            *arguments, "--board", self.board, preexec_fn=bound_by_permissions
        )

    def digest(self) -> dict[str, str]:
        paths = [p for p in self.folder.iterdir() if p.suffix != ".db-shm"]
        return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in paths}


@pytest.fixture
def closed(tmp_path: Path, machine: Machine) -> Iterator[ReadOnly]:
    """Closed cleanly: there is no file beside it."""
    tools = ToolFolder(tmp_path / "tools", 10)
    made = ReadOnly(machine, tmp_path / "shelf", tools)
    made.folder.mkdir()
    for command in (["init"], ["add", "folder", tools.root], ["sync"]):
        assert machine.pegboard(*command, "--board", made.board).returncode == 0
    assert [path.name for path in made.folder.iterdir()] == ["board.db"]
    yield made
    made.folder.chmod(0o755)


@pytest.fixture
def left_open(closed: ReadOnly) -> ReadOnly:
    """Its last writer was killed: what it wrote is in the -wal file only."""
    closed.tools.write("late", "Polish the periscope.")
    process = closed.machine.start("worker", "--board", closed.board)
    store = SqliteStore(closed.board)
    until(process, lambda: (closed.folder / "board.db-wal").exists())
    process.send_signal(signal.SIGSTOP)  # keeps the board open while the other one writes
    assert closed.machine.pegboard("sync", "--board", closed.board).returncode == 0
    copies = {path: path.read_bytes() for path in closed.folder.iterdir()}
    store.close()
    killed(process)
    for path, content in copies.items():
        path.write_bytes(content)
    assert (closed.folder / "board.db-wal").stat().st_size > 0
    return closed


def refuses_to_write(board: ReadOnly) -> None:
    board.tools.write("newcomer", "Was not there before.")
    for command in (["sync"], ["remove", "tools"]):
        refused = board.run(*command)
        assert refused.returncode == 4, refused.stderr
        assert refused.stderr.startswith(f"error: {board.board} cannot be written\n")
        assert "permissions" in refused.stderr
        assert "Traceback" not in refused.stderr


def can_be_read(board: ReadOnly, query: str, name: str) -> None:
    for mode in ("bm25", "hybrid", "vector"):
        found = board.run("search", query, "--mode", mode)
        assert (found.returncode, found.stderr) == (0, "")
        assert f"mcptools:office:{name}" in found.stdout
    for command in (["status"], ["show", name], ["doctor"]):
        shown = board.run(*command)
        assert (shown.returncode, shown.stderr) == (0, ""), shown.stdout


def test_a_read_only_board_can_be_searched_and_is_not_changed(closed: ReadOnly) -> None:
    closed.lock()
    before = closed.digest()

    can_be_read(closed, closed.tools.described["tool_3"], "tool_3")
    refuses_to_write(closed)

    assert closed.digest() == before


def test_a_read_only_file_in_a_folder_that_can_be_written_is_not_changed(
    closed: ReadOnly,
) -> None:
    closed.lock(folder_mode=0o755)
    before = closed.digest()

    can_be_read(closed, closed.tools.described["tool_3"], "tool_3")
    refuses_to_write(closed)

    assert closed.digest()["board.db"] == before["board.db"]


def test_a_board_that_could_be_written_in_a_folder_that_cannot_be_is_read_only(
    closed: ReadOnly,
) -> None:
    closed.lock(file_mode=0o644)
    before = closed.digest()

    can_be_read(closed, closed.tools.described["tool_3"], "tool_3")
    refuses_to_write(closed)

    assert closed.digest() == before


def test_a_read_only_board_with_a_leftover_wal_shows_what_was_committed_last(
    left_open: ReadOnly,
) -> None:
    left_open.lock()
    before = left_open.digest()

    can_be_read(left_open, "polish the periscope", "late")
    refuses_to_write(left_open)

    assert left_open.digest() == before


def test_a_read_only_board_with_a_wal_it_cannot_use_never_gives_an_old_answer_silently(
    left_open: ReadOnly,
) -> None:
    """Copied without its -shm file, SQLite cannot read the -wal in a folder it may not write."""
    (left_open.folder / "board.db-shm").unlink()
    left_open.lock()
    before = left_open.digest()

    found = left_open.run("search", "polish the periscope", "--mode", "bm25")

    assert "Traceback" not in found.stderr
    assert "mcptools:office:late" in found.stdout or "wal" in found.stderr.lower()
    assert left_open.digest() == before


def test_the_permissions_really_bind_the_processes_of_these_tests(closed: ReadOnly) -> None:
    closed.lock()
    shell = shutil.which("sh")
    assert shell is not None
    tried = subprocess.run(
        [shell, "-c", f": >> '{closed.board}' || : > '{closed.folder}/new'"],
        preexec_fn=bound_by_permissions,
        capture_output=True,
        timeout=10,
    )
    assert tried.returncode != 0
