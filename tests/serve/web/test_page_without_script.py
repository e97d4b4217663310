"""The page for those whose browser runs no script."""

import re

import pytest
from playwright.sync_api import expect

PAGES = ("/ui/", "/ui/categories", "/ui/sources", "/ui/rejections", "/ui/changes", "/ui/status")


@pytest.fixture
def page(visit):
    return visit(java_script_enabled=False).page


def test_everything_can_be_read(page):
    for path in PAGES:
        page.goto(path)
        expect(page.get_by_role("heading", level=1)).to_have_count(1)
    page.goto("/ui/")
    page.get_by_role("searchbox").fill("give the customer their money back")
    page.get_by_role("button", name="Search").click()
    expect(page.locator("[data-hit]").first).to_have_text("refund_payment")
    page.locator(".why summary").first.click()
    expect(page.locator(".legs").first).to_be_visible()
    page.locator("[data-hit]").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("refund_payment")
    expect(page.get_by_role("table", name="What it takes")).to_be_visible()


def test_filters_are_applied_with_a_button(page):
    page.goto("/ui/?query=send+a+message")
    page.get_by_role("checkbox", name=re.compile("^mail")).check()
    page.get_by_role("button", name="Apply").click()
    expect(page).to_have_url(re.compile("category=mail"))
    expect(page.locator(".hit .hit-place a").first).to_have_text("mail")


def test_forms_work(page):
    page.goto("/ui/items/mcptools:maps:encode_geohash")
    page.get_by_text("Edit description").click()
    page.get_by_label("Description, as agents read it").fill("Shorten a place to a few letters.")
    page.get_by_role("button", name="Save description").click()
    expect(page.locator("[data-description]")).to_have_text("Shorten a place to a few letters.")


def test_a_tool_is_tried_and_approved(page):
    page.goto("/ui/items/tools:ops:wipe_disk")
    page.get_by_label(re.compile("^disk")).fill("sda1")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator(".question")).to_contain_text('"disk": "sda1"')
    page.get_by_role("button", name="Yes, run it").click()
    expect(page.locator("[data-tried]")).to_contain_text('"wiped": "sda1"')
    expect(page.get_by_label(re.compile("^disk"))).to_have_value("sda1")
    page.goto(page.url.partition("#")[0])  # the address of a call leads back to the tool
    expect(page.get_by_role("heading", level=1)).to_have_text("wipe_disk")
    expect(page.locator("[data-tried]")).to_have_count(0)
