"""Pages that follow the board, held against a service that makes vectors when it is told to."""

import re
import threading

import pytest
from playwright.sync_api import expect
from web_parts import SECONDS, nobody_at_home, serving

from embedding_server import running_server, status, unless, well
from making import make_item
from pegboard.app.pegboard import Pegboard

ITEMS = 30
SOON = 12_000
"""Milliseconds: before a page that hears of events would have looked by itself."""


class Held:
    """Every text waits here until it may have its vector."""

    def __init__(self) -> None:
        self.open = threading.Event()

    def __call__(self, exchange) -> None:
        assert self.open.wait(SECONDS)
        well(exchange)


@pytest.fixture(scope="module")
def service():
    with running_server() as server:
        yield server


@pytest.fixture
def held(service):
    service.always = found = Held()
    yield found
    found.open.set()


@pytest.fixture(scope="module")
def url(service, tmp_path_factory):
    folder = tmp_path_factory.mktemp("live")
    said = {
        "PEGBOARD_EMBED_PROVIDER": "local-http",
        "PEGBOARD_EMBED_MODEL": "slow",
        "PEGBOARD_EMBED_BASE_URL": service.url,
        "PEGBOARD_EMBED_BATCH_SIZE": "10",
        "PEGBOARD_EMBED_CACHE": "off",
        "PEGBOARD_EMBED_MAX_ATTEMPTS": "1",
        "PEGBOARD_EMBED_TIMEOUT_SECONDS": str(SECONDS),
    }
    file = folder / "board.db"
    with nobody_at_home(folder) as _, pytest.MonkeyPatch.context() as patch:
        for name, value in said.items():
            patch.setenv(name, value)
        with Pegboard.open(str(file), create=True) as board:
            board.store.items.put([make_item(f"tool{n}") for n in range(ITEMS)], board.target)
            board.backfill()
    with serving(file, **said) as found:
        yield found


def test_an_edited_description_waits_for_its_vector_and_gets_it_before_ones_eyes(visitor, held):
    page = visitor.open("/ui/items/mcptools:mail:tool7")
    state = page.locator("[data-embedding-state]")
    expect(state).to_have_attribute("data-embedding-state", "ready")
    page.get_by_text("Edit description").click()
    page.get_by_label("Description, as agents read it").fill("Write to somebody far away.")
    with page.expect_response(re.compile("/events[?]item=mcptools")) as events:
        page.get_by_role("button", name="Save description").click()
    assert events.value.status == 200
    expect(page.locator("[data-description]")).to_have_text("Write to somebody far away.")
    expect(state).to_have_attribute("data-embedding-state", "pending")
    visitor.stay()
    held.open.set()
    expect(state).to_have_attribute("data-embedding-state", "ready", timeout=SOON)
    assert visitor.stayed


def test_the_status_is_live_while_everything_is_embedded_anew(visitor, held):
    page = visitor.open("/ui/status")
    counted = page.locator('[data-count="waiting"]')
    expect(counted).to_have_text("0")
    page.get_by_text("Refresh everything").click()
    page.get_by_role("button", name="Yes, all of it").click()
    visitor.stay()
    expect(counted).to_have_text(str(ITEMS))
    expect(page.locator(".at-work")).to_be_visible()
    expect(page.get_by_text("the oldest for")).to_be_visible()
    held.open.set()
    expect(counted).to_have_text("0", timeout=SOON)
    expect(page.get_by_text("up to date")).to_be_visible()
    expect(page.locator('[data-count="ready"]')).to_have_text(str(ITEMS))
    assert visitor.stayed


def test_without_events_the_page_looks_again_by_itself(visitor, held):
    page = visitor.page
    page.route(re.compile(r"/events"), lambda route: route.abort())
    visitor.open("/ui/items/mcptools:mail:tool3")
    page.get_by_role("button", name="Refresh").click()
    state = page.locator("[data-embedding-state]")
    expect(state).to_have_attribute("data-embedding-state", "pending")
    visitor.stay()
    held.open.set()
    expect(state).to_have_attribute("data-embedding-state", "ready")
    assert visitor.stayed


def test_an_embedding_that_failed_can_be_tried_again(visitor, service):
    poisoned = status(400, "this text is not for me")
    service.always = unless(lambda asked: "poison" in str(asked.texts), poisoned)
    page = visitor.open("/ui/items/mcptools:mail:tool5")
    page.get_by_text("Edit description").click()
    page.get_by_label("Description, as agents read it").fill("Drink some poison.")
    page.get_by_role("button", name="Save description").click()
    state = page.locator("[data-embedding-state]")
    expect(state).to_have_attribute("data-embedding-state", "failed")
    expect(state).to_contain_text("this text is not for me")
    service.always = well
    page.get_by_role("button", name="Retry").click()
    expect(state).to_have_attribute("data-embedding-state", "ready")
