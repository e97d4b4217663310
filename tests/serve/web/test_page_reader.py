"""Somebody who may look, and run what needs no approval."""

import re

import pytest
from playwright.sync_api import expect
from web_parts import serving

REFUND = "/ui/items/mcptools:payments:refund_payment"


@pytest.fixture(scope="module")
def url(board_file):
    with serving(board_file, "reader") as found:
        yield found


def test_a_reader_is_offered_nothing_that_is_not_allowed(page):
    page.goto(REFUND)
    expect(page.get_by_role("heading", level=1)).to_have_text("refund_payment")
    expect(page.locator(".edit")).to_have_count(0)
    expect(page.get_by_role("button", name="Refresh")).to_have_count(0)
    page.goto("/ui/status")
    expect(page.get_by_role("button", name="Backfill")).to_have_count(0)
    expect(page.get_by_role("heading", name="The board")).to_have_count(0)
    page.goto("/ui/")
    expect(page.get_by_text("State", exact=True)).to_have_count(0)


def test_a_reader_may_not_do_it_by_other_ways_either(page, url):
    for path, form in (
        (REFUND, {"do": "describe", "description": "Mine."}),
        (REFUND, {"do": "deactivate"}),
        (REFUND, {"do": "refresh"}),
        ("/ui/status", {"do": "backfill"}),
        ("/ui/sources", {"name": "demo"}),
    ):
        answer = page.request.post(f"{url}{path}", form=form, max_redirects=0)
        assert answer.status == 403, path
        assert "That is not allowed" in answer.text()


def test_a_reader_runs_what_needs_no_approval_and_nothing_else(page):
    page.goto("/ui/items/mcptools:text:count_words")
    page.get_by_label(re.compile("^text")).fill("one two three")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator("[data-tried]")).to_contain_text('"words": 3')
    page.goto("/ui/items/tools:ops:wipe_disk")
    page.get_by_label(re.compile("^disk")).fill("sda1")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator("[data-tried]")).to_contain_text("An author or an admin can.")
    expect(page.get_by_role("button", name="Yes, run it")).to_have_count(0)
