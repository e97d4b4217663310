"""A project's board, made anew from what the project has."""

import json
import os
import signal
import subprocess
import sys

import apsw
import pytest
from tier_parts import Desk, command, write_tool

from pegboard.app.pegboard import Pegboard
from pegboard.board.create.drafts import draft_of
from pegboard.errors import PegboardError
from waiting import until

GREET = "Write a greeting card for somebody."
MANIFEST = {
    "tool_id": "shout",
    "tool_type": "python",
    "version": "1.0.0",
    "description": "Say something loudly.",
    "category": "made",
    "executor_config": {"entrypoint": "main.py"},
}


@pytest.fixture
def board(desk: Desk):
    desk.tool("project", "paper/greet", GREET)
    desk.tool("project", "paper/cut", "Cut paper into stars.")
    return desk.project / ".pegboard" / "board.db"


def ids():
    with Pegboard.open() as found:
        return [entry.item.id for entry in found.listed()]


BOTH = ["tools:paper:cut", "tools:paper:greet"]


def test_a_board_that_is_missing_is_made_with_what_the_project_has(board, desk):
    (desk.project / "mcptools" / "chat").mkdir(parents=True)
    (desk.project / "mcptools" / "chat" / "post.py").write_text(
        'def run(text: str):\n    """Post a message."""\n'
    )
    ran = command("rebuild")
    assert ran.returncode == 0, ran.stderr
    assert ids() == ["mcptools:chat:post", *BOTH]
    assert (board.parent / ".gitignore").read_text() == "*\n"


def test_what_is_gone_is_removed_at_once_and_the_rest_is_kept(board, desk):
    assert command("rebuild").returncode == 0
    with Pegboard.open() as found:
        found.create(draft_of(MANIFEST, {"main.py": "print('oh')"}), anyway=True)
        found.curate.describe("greet", "My own words.", "ada")
        found.backfill()
        vectors = found.status().embeddings.ready
    (desk.project / ".ai" / "tools" / "paper" / "cut.py").unlink()
    ran = command("rebuild", "--json")
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout)
    assert (told["made"], told["moved_to"]) == (False, "")
    assert told["sync"]["work"]["embedded"] == 0, "the text is the same, and so is the vector"
    with Pegboard.open() as found:
        assert [each.item.id for each in found.listed()] == ["created:made:shout", BOTH[1]]
        assert found.show("greet").item.description == "My own words."
        assert found.status().embeddings.total == vectors - 1
        assert found.store.check() == []


@pytest.mark.parametrize("damage", ["text", "empty", "other", "torn"])
def test_what_is_no_board_is_put_aside(board, desk, damage):
    board.parent.mkdir(exist_ok=True)
    if damage == "text":
        board.write_text("this is no board")
    elif damage == "empty":
        board.write_bytes(b"")
    elif damage == "other":
        other = apsw.Connection(str(board))
        other.execute("CREATE TABLE something (x)")
        other.close()
    else:
        assert command("rebuild").returncode == 0
        content = bytearray(board.read_bytes())
        content[8192:] = b"\xff" * (len(content) - 8192)
        board.write_bytes(bytes(content))
        for end in ("-wal", "-shm"):
            board.with_name(board.name + end).unlink(missing_ok=True)
    before = board.read_bytes()
    ran = command("rebuild")
    assert ran.returncode == 0, ran.stderr
    assert "the old one is" in ran.stderr
    assert ids() == BOTH
    [kept] = [
        p for p in board.parent.glob("board.db.broken-*") if not p.name.endswith(("wal", "shm"))
    ]
    assert kept.read_bytes() == before


def test_what_was_killed_half_way_works_and_is_finished_by_the_next(board, desk):
    for n in range(600):
        write_tool(desk.project, f"many/t{n}", f"Does thing number {n}.")
    with subprocess.Popen(
        [sys.executable, "-m", "pegboard", "rebuild"], env=os.environ, stderr=subprocess.DEVNULL
    ) as half:
        until(lambda: board.exists() and _some(board))
        half.send_signal(signal.SIGKILL)
    assert command("search", "thing number").returncode in (0, 1)
    assert command("rebuild").returncode == 0
    with Pegboard.open() as found:
        assert found.status().embeddings.total == 602
        assert found.store.check() == []


def _some(board):
    try:
        with Pegboard.open(str(board)) as found:
            return bool(found.listed(limit=1))
    except PegboardError:
        return False


def test_only_a_project_in_a_file_is_rebuilt(desk, tmp_path, monkeypatch, postgres_url):
    ran = command("rebuild", "--board", postgres_url)
    assert "only a board in a file" in ran.stderr
    monkeypatch.chdir(tmp_path)
    assert "there is no project here" in command("rebuild").stderr
