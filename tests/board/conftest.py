"""A board over a folder of tools that a test can change, with the embedder that needs no model."""

from pathlib import Path

import apsw
import pytest

from pegboard.app import Pegboard
from pegboard.settings import EmbedSettings, Settings
from pegboard.store.sqlite.store import SqliteStore

TOOLS = {
    "chat/post_message": "Send a message into a channel for colleagues to read.",
    "chat/pin_message": "Pin an important message at the top of its channel.",
    "mail/send_email": "Send an e-mail to one or more recipients.",
    "mail/search_inbox": "Look for mails that contain certain words.",
    "payments/refund_payment": "Give a customer their money back.",
    "maps/measure_distance": "Calculate how far two places are from one another.",
}


class Folder:
    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, tool: str) -> Path:
        return self.root / "mcptools" / f"{tool}.py"

    def write(self, tool: str, description: str, head: str = "") -> None:
        self.raw(tool, f'{head}\ndef run():\n    """{description}"""\n'.encode())

    def raw(self, tool: str, content: bytes) -> None:
        path = self.path(tool)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def fill(folder: Folder) -> Folder:
    for tool, description in TOOLS.items():
        folder.write(tool, description)
    return folder


@pytest.fixture
def folder(tmp_path):
    return fill(Folder(tmp_path / "tools"))


@pytest.fixture
def other(tmp_path):
    """A second folder, with nothing in it yet."""
    found = Folder(tmp_path / "other")
    (found.root / "mcptools").mkdir(parents=True)
    return found


@pytest.fixture
def opened(tmp_path):
    """Opens the board with any settings for the embedder; closes it afterwards."""
    boards = []

    def open_board(**embed: object) -> Pegboard:
        settings = Settings(embed=EmbedSettings(**{"provider": "test"} | embed))
        store = SqliteStore(tmp_path / "board.db", create=True)
        boards.append(Pegboard(store, settings))
        return boards[-1]

    yield open_board
    for board in boards:
        board.close()


@pytest.fixture
def board(opened, folder):
    """The tools on a board, synced and embedded."""
    found = opened()
    found.add_folder(folder.root)
    found.sync()
    return found


@pytest.fixture
def sql(tmp_path):
    """Statements straight to the board's file."""

    def run(statement: str) -> list[tuple[object, ...]]:
        connection = apsw.Connection(str(tmp_path / "board.db"))
        try:
            return list(connection.execute(statement))
        finally:
            connection.close()

    return run
