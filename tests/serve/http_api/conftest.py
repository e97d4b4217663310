import pytest
from http_parts import serving, settle_in, write_tools

from pegboard.app.pegboard import Pegboard


def fill(board, folder):
    for each in write_tools(folder):
        board.add_folder(each)
    board.sync()


@pytest.fixture
def board(tmp_path, monkeypatch):
    settle_in(monkeypatch, tmp_path)
    with Pegboard.open(str(tmp_path / "board.db"), create=True) as found:
        fill(found, tmp_path)
        yield found


@pytest.fixture
def api(board):
    """A gateway of the test's own."""
    with serving(board) as served:
        yield served


@pytest.fixture(scope="module")
def shared_api(tmp_path_factory):
    """One for all tests of a file, which leave the board as it is."""
    folder = tmp_path_factory.mktemp("shared")
    with pytest.MonkeyPatch.context() as monkeypatch:
        settle_in(monkeypatch, folder)
        with Pegboard.open(str(folder / "board.db"), create=True) as board:
            fill(board, folder)
            with serving(board) as served:
                yield served
