from collections.abc import Iterator
from pathlib import Path

import pytest
from reliability_parts import Machine

from pegboard.store.sqlite.store import SqliteStore


@pytest.fixture
def board(tmp_path: Path) -> Path:
    """Where the test's board is, or will be."""
    return tmp_path / "board.db"


@pytest.fixture
def store(board: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(board, create=True)
    yield opened
    opened.close()


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    started = Machine(tmp_path / "home")
    yield started
    started.close()
