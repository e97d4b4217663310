import os

import pytest
from hypothesis import settings

from pegboard.embed.hashed import HashedEmbedder
from pegboard.store.sqlite.store import SqliteStore

pytest_plugins = ["postgres_server", "sqlite_boards"]

settings.register_profile("no deadline", deadline=None)  # other work on the machine takes time too
settings.load_profile("no deadline")
os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # for tests that load the model without a board


@pytest.fixture(autouse=True)
def nobody_is_at_home(tmp_path, monkeypatch):
    """No test sees the settings or boards of the person who runs it."""
    for name in [name for name in os.environ if name.startswith("PEGBOARD_")]:
        monkeypatch.delenv(name)
    for name, folder in (
        ("HOME", "home"),
        ("XDG_CONFIG_HOME", "home/config"),
        ("XDG_DATA_HOME", "home/data"),
    ):
        monkeypatch.setenv(name, str(tmp_path / folder))


@pytest.fixture
def embedder():
    return HashedEmbedder()


@pytest.fixture(params=["sqlite", "postgres"])
def store(request, tmp_path):
    """A fresh board on each kind of store."""
    if request.param == "postgres":
        yield request.getfixturevalue("postgres_store")
        return
    made = SqliteStore(tmp_path / "board.db", create=True)
    yield made
    made.close()


@pytest.fixture
def sqlite_store(tmp_path):
    """For what only a board in a file can show."""
    made = SqliteStore(tmp_path / "sqlite.db", create=True)
    yield made
    made.close()
