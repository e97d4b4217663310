"""Gateways over small boards, in a process or in a thread."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from gateway_parts import Process, fill

from pegboard.app.pegboard import Pegboard


@pytest.fixture
def small_board(tmp_path, monkeypatch) -> str:
    """The path of a board with a few items, embedded."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PEGBOARD_EMBED_PROVIDER", "test")
    monkeypatch.setenv("PEGBOARD_SEARCH_THRESHOLD", "0")
    monkeypatch.setenv("PEGBOARD_SEARCH_FLOOR", "0")
    path = tmp_path / "small.db"
    fill(path)
    return str(path)


@pytest.fixture
def open_board(small_board) -> Iterator[Callable[..., Pegboard]]:
    """The board, with settings as `serve__parallel=2`; closed at the end."""
    opened: list[Pegboard] = []

    def make(**flags: Any) -> Pegboard:
        opened.append(Pegboard.open(small_board, **flags))
        return opened[-1]

    yield make
    for each in opened:
        each.close()


@pytest.fixture
def served(small_board) -> Iterator[Callable[..., Process]]:
    """Processes, none of which outlives the test."""
    started: list[Process] = []

    def make(*args: str, **environ: str) -> Process:
        started.append(Process("--board", small_board, "--no-sync", *args, **environ))
        return started[-1]

    yield make
    for each in started:
        each.close()
