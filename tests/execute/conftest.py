import os
from collections.abc import Callable, Iterator

import pytest
from execute_parts import Pool

from pegboard.calls import ServerConfig


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
