"""A board over a folder of tools that a test can change, with the embedder that needs no model."""

from contextlib import closing
from pathlib import Path

import apsw
import psycopg
import pytest

from pegboard.app.pegboard import Pegboard
from pegboard.config.settings import EmbedSettings, Settings
from pegboard.store.opening import open_store
from postgres_server import fresh

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


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A module says by `STORES` which stores its boards are on; else they are in files.

    A test that says it by itself, with `parametrize`, goes its own way.
    """
    stores = getattr(metafunc.module, "STORES", ())
    said = any("place" in mark.args for mark in metafunc.definition.iter_markers("parametrize"))
    if stores and not said and "place" in metafunc.fixturenames:
        metafunc.parametrize("place", stores, indirect=True)


@pytest.fixture(scope="module")
def shared_url(postgres_server):
    """The address of a board for all tests of a module that change nothing on it."""
    with fresh(postgres_server, postgres_server.template) as url:
        yield url


PLACES = {"postgres": "postgres_url", "shared": "shared_url"}


@pytest.fixture
def place(request, tmp_path):
    """Where the test's board is, or will be: the path of a file, or an address."""
    asked = getattr(request, "param", "sqlite")
    return request.getfixturevalue(PLACES[asked]) if asked in PLACES else tmp_path / "board.db"


@pytest.fixture
def opened(place):
    """Opens the board with any settings for the embedder; closes it afterwards."""
    boards = []

    def open_board(**embed: object) -> Pegboard:
        settings = Settings(embed=EmbedSettings(**{"provider": "test"} | embed))
        boards.append(Pegboard(open_store(place, create=True), settings))
        return boards[-1]

    yield open_board
    for board in boards:
        board.close()


@pytest.fixture
def board(opened, folder):
    """The tools on a board, synced and embedded."""
    found = opened()
    if not found.sources():
        found.add_folder(folder.root)
        found.sync()
    return found


@pytest.fixture
def sql(place):
    """Statements straight to the board's database, which may need other words on PostgreSQL.

    A process that has the board open may not see for a second what they changed.
    """

    def run(statement: str, postgres: str = "") -> list[tuple[object, ...]]:
        if isinstance(place, Path):
            with closing(apsw.Connection(str(place))) as connection:
                return list(connection.execute(statement))
        with psycopg.connect(place) as connection:
            done = connection.execute(postgres or statement)
            return done.fetchall() if done.description else []

    return run
