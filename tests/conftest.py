import gc
import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import core, settings

from pegboard.embed.hashed import HashedEmbedder
from pegboard.store.sqlite.store import SqliteStore

pytest_plugins = ["needing", "loopback", "postgres_server", "sqlite_boards"]

HERE = Path(__file__).parent
sys.dont_write_bytecode = False  # what pytest makes of a test's file serves all processes of a run
settings.register_profile("no deadline", deadline=None)  # other work on the machine takes time too
settings.load_profile("no deadline")
gc.disable()  # until all tests are read: what that makes stays
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # as in the background of a shell
    signal.signal(signal.SIGINT, signal.default_int_handler)  # else no program of a test minds it
os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # for tests that load the model without a board


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    seed = config.getoption("randomly_seed", None)
    if core.global_force_seed is None:
        core.global_force_seed = seed  # the printed one: it gives the same examples again
    if hasattr(config, "workerinput") and seed is not None:
        config.args = _from_another_end(config)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    seed = terminalreporter.config.getoption("randomly_seed", None)
    if seed is not None:
        terminalreporter.write_line(f"the same order again: --randomly-seed={seed}")


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def _from_another_end(config: pytest.Config) -> list[str]:
    """Each process begins to read the tests elsewhere, so that all profit from what one compiled.

    They run them in the order of the seed all the same.
    """
    if [Path(each).resolve() for each in config.args] != [HERE]:
        return config.args
    rooms = sorted(
        str(path)
        for path in HERE.iterdir()
        if (path.is_dir() and path.name[0] not in "._") or path.match("test_*.py")
    )
    first = (
        len(rooms) * int(config.workerinput["workerid"][2:]) // config.workerinput["workercount"]
    )
    return rooms[first:] + rooms[:first]


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
