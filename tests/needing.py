"""Which tests need a server: PostgreSQL, a gateway, an MCP server, a browser, containers, S3.

Most are told by where they are, or by what they ask for; the others say so with
`pytestmark = pytest.mark.server`. `loopback` finds those that should and do not.
"""

from pathlib import Path

import pytest

HERE = Path(__file__).parent
QUICK = "not server"

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

FIXTURES = {"postgres_server", "s3", "server"}
"""Whoever asks for these needs one."""

PARAMETERS = {"postgres", "shared", "bucket"}
"""Whoever is run with these does too: such fixtures ask for the others when they are made."""


LONG = ("tiers/test_registry_processes.py", "reliability", "strangers", "cli/test_cli_serving.py")
"""Few tests that take long. They come first: at the end, one process would run them alone."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Folders that will not be needed are not even read."""
    if config.option.markexpr == QUICK and _is_served(collection_path):
        return True
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if _is_served(item.path) or _asks_for_one(item):
            item.add_marker("server")
    items.sort(key=lambda item: not any(item.path.is_relative_to(HERE / each) for each in LONG))


def _is_served(path: Path) -> bool:
    return any(path.is_relative_to(HERE / folder) for folder in FOLDERS)


def _asks_for_one(item: pytest.Item) -> bool:
    if not isinstance(item, pytest.Function):
        return False
    chosen = item.callspec.params.values() if hasattr(item, "callspec") else ()
    return not FIXTURES.isdisjoint(item.fixturenames) or any(
        isinstance(each, str) and not PARAMETERS.isdisjoint(each.split()) for each in chosen
    )
