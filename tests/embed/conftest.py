import pytest

from embedding_server import running_server
from pegboard.embed import service


@pytest.fixture
def server(monkeypatch):
    """An embedding service, and no long waits between two tries."""
    monkeypatch.setattr(service, "FIRST_WAIT", 0.001)
    with running_server() as made:
        yield made
