"""Which tests need a server (PostgreSQL, a gateway, an MCP server, a browser, containers, S3) or
start another program (a tool in its sandbox, a worker that is killed, a second Pegboard).

Most are told by where they are, or by what they ask for; the others say so with
`pytest.mark.server` or `pytest.mark.program`. `loopback` finds those that should and do not.
"""

from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings

HERE = Path(__file__).parent
QUICK = "not server and not program"
FEW = 5
"""Examples of Hypothesis when it has to be quick."""

FOLDERS = (
    "examples",
    "execute/api",
    "execute/container",
    "remote",
    "serve/http",
    "serve/http_api",
    "serve/running",
    "serve/web",
    "strangers",
)
"""All of whose tests need one."""

PROGRAMS = (
    "embed/test_loading_together.py",
    "execute/test_bash.py",
    "execute/test_escapes.py",
    "execute/test_pipes.py",
    "execute/test_process.py",
    "execute/test_python_tool.py",
    "operate",
    "reliability",
    "store/test_blobs_commands.py",
    "store/test_rights_of_logins.py",
    "test_peers.py",
    "tiers/test_copying.py",
    "tiers/test_rebuilding.py",
)
"""Folders and files all of whose tests start others."""

FIXTURES = {"postgres_server", "s3", "server"}
"""Whoever asks for these needs one."""

PARAMETERS = {"postgres", "shared", "bucket"}
"""Whoever is run with these does too: such fixtures ask for the others when they are made."""


LONG = (
    "tiers/test_registry_processes.py",
    "reliability",
    "strangers",
    "cli/test_cli_serving.py",
    "sources/test_watch.py",
    "board/test_sweep.py",
    "test_live.py",
)
"""Few tests that take long. They come first: at the end, one process would run them alone."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Folders that will not be needed are not even read."""
    if is_quick(config) and _is_in(FOLDERS + PROGRAMS, collection_path):
        return True
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if is_quick(config):
            _ask_for_few_examples(item)
        if _is_in(FOLDERS, item.path) or _asks_for_one(item):
            item.add_marker("server")
        if _is_in(PROGRAMS, item.path):
            item.add_marker("program")
    items.sort(key=lambda item: not _is_in(LONG, item.path))


@pytest.fixture(scope="session")
def share(pytestconfig: pytest.Config) -> float:
    """How much is tried of what is tried thousands of times."""
    return 0.05 if is_quick(pytestconfig) else 1.0


def is_quick(config: pytest.Config) -> bool:
    return str(config.option.markexpr) == QUICK


@cache
def _is_in(places: tuple[str, ...], path: Path) -> bool:
    return any(path.is_relative_to(HERE / place) for place in places)


def _ask_for_few_examples(item: pytest.Item) -> None:
    """Hypothesis has no public way to do so to a test that says how many it wants."""
    test = getattr(item, "obj", None)
    if getattr(test, "is_hypothesis_test", False):
        said = test._hypothesis_internal_use_settings
        test._hypothesis_internal_use_settings = settings(
            said, max_examples=min(said.max_examples, FEW)
        )


def _asks_for_one(item: pytest.Item) -> bool:
    if not isinstance(item, pytest.Function):
        return False
    chosen = item.callspec.params.values() if hasattr(item, "callspec") else ()
    return not FIXTURES.isdisjoint(item.fixturenames) or any(
        isinstance(each, str) and not PARAMETERS.isdisjoint(each.split()) for each in chosen
    )
