from collections.abc import Callable, Iterator

import pytest
from api_parts import keeping
from api_service import Service, served

from pegboard.execute.job import Job
from pegboard.model.calls import CallResult


@pytest.fixture(scope="module")
def running() -> Iterator[Service]:
    with served() as service:
        yield service


@pytest.fixture(scope="module")
def run() -> Iterator[Callable[[Job], CallResult]]:
    """For many calls one after another."""
    with keeping() as run:
        yield run


@pytest.fixture
def service(running: Service) -> Service:
    """As if nobody had asked it anything."""
    running.asked.clear()
    running.next.clear()
    running.tokens.clear()
    running.valid = ""
    running.waiting.clear()
    running.left.clear()
    return running
