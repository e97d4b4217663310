from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from strangers_parts import Desk, Served, Upstream


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A project with an empty board and a folder of one tool, not yet synced."""
    made = Desk(tmp_path)
    made.save("mcptools/chat/post_message.py", "Send a message into a channel.")
    made.make()
    made.add_tools()
    return made


@pytest.fixture
def upstream(tmp_path: Path) -> Upstream:
    made = Upstream(tmp_path / "upstream")
    made.offer(note="Write a note.", wait="Wait for ever.", die="End at once.")
    return made


@pytest.fixture(params=["auto", "legacy"])
def era(request: pytest.FixtureRequest) -> str:
    """The two ways in which a client can open a connection."""
    return str(request.param)


@pytest.fixture
def start(desk: Desk) -> Iterator[Callable[..., Served]]:
    """Server processes, none of which outlives the test."""
    started: list[Served] = []

    def make(*args: str, **options: Any) -> Served:
        started.append(desk.start(*args, **options))
        return started[-1]

    yield make
    for each in started:
        each.close()
