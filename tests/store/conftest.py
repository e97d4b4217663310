import pytest
from nearest_parts import opened


@pytest.fixture
def path(tmp_path):
    return tmp_path / "board.db"


@pytest.fixture
def board(path):
    made = opened(path, create=True)
    yield made
    made.close()


@pytest.fixture
def other(board, path):
    """The same board, as another process has it."""
    made = opened(path)
    yield made
    made.close()
