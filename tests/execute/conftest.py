import os
from collections.abc import Callable, Iterator

import pytest
from execute_parts import Pool
from process_parts import Runs, open_files

from pegboard.model.calls import ServerConfig
from waiting import until


@pytest.fixture
def pool() -> Iterator[Callable[..., Pool]]:
    """Makes a pool of sessions to these servers."""
    made: list[Pool] = []

    def make(*configs: ServerConfig, parallel: int = 8, **environ: str) -> Pool:
        made.append(Pool({"PATH": os.environ["PATH"], **environ}, parallel))
        made[-1].sessions.use(configs)
        return made[-1]

    yield make
    for each in made:
        each.sessions.close()


@pytest.fixture
def runs(tmp_path) -> Iterator[Runs]:
    """Runs of scripts, of which nothing may remain."""
    made = Runs(tmp_path / "runs", PEGBOARD_TEST_SECRET="hush-hush")
    before = open_files()
    yield made
    until(lambda: not made.left(), f"the end of {made.left()}")
    made.processes.close()
    assert not list(made.scratch.glob("*"))
    assert open_files() <= before
