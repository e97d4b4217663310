from collections.abc import Iterator
from pathlib import Path

import pytest
from reliability_parts import Machine

from pegboard.ports.store import Store
from pegboard.store.opening import open_store


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A module says by `STORES` which stores its boards are on; else they are in files."""
    if "board" in metafunc.fixturenames:
        stores = getattr(metafunc.module, "STORES", ("sqlite",))
        metafunc.parametrize("board", stores, indirect=True)


@pytest.fixture
def board(request: pytest.FixtureRequest, tmp_path: Path) -> Path | str:
    """Where the test's board is, or will be."""
    if request.param == "postgres":
        return str(request.getfixturevalue("postgres_url"))
    return tmp_path / "board.db"


@pytest.fixture
def store(board: Path | str) -> Iterator[Store]:
    opened = open_store(board, create=True)
    yield opened
    opened.close()


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    started = Machine(tmp_path / "home")
    yield started
    started.close()
