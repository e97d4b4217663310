"""One board and one gateway for all tests, and a browser for each file of them."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright
from web_parts import AXE, CHROMIUM, FLAGS, Visitor, make_board, nobody_at_home, serving

expect.set_options(timeout=20_000)


@pytest.fixture(scope="session")
def board_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same for all tests: to embed everything, and to begin to serve it, takes a while."""
    folder = tmp_path_factory.mktemp("board")
    with nobody_at_home(folder):
        return make_board(folder)


@pytest.fixture(scope="session")
def url(board_file: Path) -> Iterator[str]:
    with serving(board_file) as found:
        yield found


@pytest.fixture(scope="session")
def axe() -> str:
    return AXE.read_text("utf-8")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Not for longer: while it is there, other tests cannot run an event loop in this thread."""
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=[*FLAGS])
        yield found
        found.close()


@pytest.fixture
def visitor(browser: Browser, url: str) -> Iterator[Visitor]:
    found = Visitor(browser, url)
    yield found
    found.close()


@pytest.fixture
def visit(browser: Browser, url: str) -> Iterator[Callable[..., Visitor]]:
    """Further visitors, with browsers set up in another way."""
    made: list[Visitor] = []

    def more(at: str = url, **options: Any) -> Visitor:
        made.append(Visitor(browser, at, **options))
        return made[-1]

    yield more
    for each in made:
        each.close()


@pytest.fixture
def page(visitor: Visitor) -> Page:
    return visitor.page
