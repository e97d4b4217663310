"""Somebody who may look, and run what needs no approval."""

import re

import pytest
from playwright.sync_api import expect
from web_parts import serving

from pegboard.app.pegboard import Pegboard
from pegboard.board.trust.tokens import BoardTokens
from pegboard.model.calls import Role

REFUND = "/ui/items/mcptools:payments:refund_payment"


@pytest.fixture(scope="module")
def url(board_file):
    with serving(board_file, "off") as found:
        yield found


@pytest.fixture(scope="module")
def token(board_file):
    with Pegboard.open(str(board_file)) as board:
        return BoardTokens(board.store).make(Role.READER, name="rita").text


@pytest.fixture
def page(visitor, token, url):
    """Of somebody who has signed in."""
    form = {"token": token, "next": "/ui/"}
    answer = visitor.page.request.post(f"{url}/ui/sign-in", form=form, headers={"Origin": url})
    assert answer.status == 200
    return visitor.page


def test_whoever_comes_signs_in_goes_on_to_what_was_wanted_and_leaves(visitor, token):
    page = visitor.open("/ui/rejections?source=laboratory")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    expect(page.get_by_role("navigation", name="Pages")).to_have_count(0)
    page.get_by_label("Token").fill("pegb_000000000000_wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_be_visible()
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Sign in").click()
    expect(page).to_have_url(re.compile(r"/ui/rejections\?source=laboratory$"))
    expect(page.locator(".who")).to_have_text("rita reader")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    page.goto("/ui/status")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")


def test_a_part_of_a_page_is_refused_to_whoever_has_left(visitor, url):
    answer = visitor.page.request.get(f"{url}/ui/?query=refund&part=results")
    assert answer.status == 401
    assert "refund_payment" not in answer.text()
    answer = visitor.page.request.post(f"{url}{REFUND}", form={"do": "refresh"})
    assert answer.status == 401


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
    for path, form, status in (
        (REFUND, {"do": "describe", "description": "Mine."}, 403),
        (REFUND, {"do": "deactivate"}, 403),
        (REFUND, {"do": "refresh"}, 403),
        ("/ui/status", {"do": "backfill"}, 403),
        ("/ui/sources", {"name": "demo"}, 404),  # sources are for members
    ):
        answer = page.request.post(
            f"{url}{path}", form=form, max_redirects=0, headers={"Origin": url}
        )
        assert answer.status == status, path
        assert 'role="alert"' in answer.text()


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
