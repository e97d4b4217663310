"""The command as a user has it: in this process for speed, in one of its own where that matters."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import pytest

from pegboard.cli.main import main

TOOLS = {
    "chat/post_message": "Send a message into a channel for colleagues to read.",
    "chat/pin_message": "Pin an important message at the top of its channel.",
    "mail/send_email": "Send an e-mail to one or more recipients.",
    "mail/search_inbox": "Look for mails that contain certain words.",
    "payments/refund_payment": "Give a customer their money back.",
}


class Ran(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture(autouse=True)
def desk(tmp_path, monkeypatch):
    """An empty working folder, and the quick embedder that needs no model.

    Nothing is held back for its score: scores are fitted to the real model, on real boards.
    """
    folder = tmp_path / "desk"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PEGBOARD_EMBED_PROVIDER", "test")
    monkeypatch.setenv("PEGBOARD_SEARCH_THRESHOLD", "0")
    monkeypatch.setenv("PEGBOARD_SEARCH_FLOOR", "0")
    return folder


@pytest.fixture
def pegboard(monkeypatch, capsys):
    """Runs the command in this process, through its real entry point."""

    def run(*args: str) -> Ran:
        monkeypatch.setattr(sys, "argv", ["pegboard", *args])
        capsys.readouterr()
        with pytest.raises(SystemExit) as exited:
            main()
        return Ran(int(exited.value.code or 0), *capsys.readouterr())

    return run


@pytest.fixture
def process():
    """Runs the command in a process of its own."""

    def run(*args: str | bytes, cwd: Path | None = None, **environ: str) -> Ran:
        done = subprocess.run(
            [sys.executable, "-m", "pegboard", *args],
            cwd=cwd,
            env=os.environ | environ,
            capture_output=True,
            timeout=60,
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

    return run


class Tools:
    """A folder of Python tools that a test can change."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, tool: str) -> Path:
        return self.root / "mcptools" / f"{tool}.py"

    def write(self, tool: str, description: str, *, parameters: str = "") -> Path:
        text = f'def run({parameters}):\n    """{description}"""\n'
        return self.raw(tool, text.encode())

    def raw(self, tool: str, content: bytes) -> Path:
        path = self.path(tool)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path


@pytest.fixture
def tools(desk):
    """Five tools in three categories."""
    folder = Tools(desk / "tools")
    for tool, description in TOOLS.items():
        folder.write(tool, description)
    return folder


@pytest.fixture
def board(pegboard, tools, desk):
    """A project with those tools on its board; the path of the board's file."""
    for command in (("init",), ("add", "folder", "tools")):
        assert pegboard(*command).code == 0
    return desk / ".pegboard" / "board.db"


@pytest.fixture
def sql(board):
    """Statements straight to the board's file, past everything that guards it."""

    def run(statement: str) -> list[tuple[Any, ...]]:
        connection = apsw.Connection(str(board))
        try:
            return list(connection.execute(statement))
        finally:
            connection.close()

    return run


@pytest.fixture
def there(pegboard, tools, postgres_url):
    """Runs a command on a PostgreSQL board with the five tools."""

    def run(*args):
        return pegboard(*args, "--board", postgres_url)

    for command in (("add", "folder", "tools"), ("sync",)):
        assert run(*command).code == 0
    return run
