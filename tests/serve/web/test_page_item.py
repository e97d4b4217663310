"""The page of one item: what it tells, and what can be done there."""

import json
import re
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Page, expect

REFUND = "/ui/items/mcptools:payments:refund_payment"
COUNT = "/ui/items/mcptools:text:count_words"
REPORT = "/ui/items/tools:ops:make_report"
WIPE = "/ui/items/tools:ops:wipe_disk"
NIGHT = "/ui/items/knowledge:operations:night-shift"


def embedding(page: Page):
    return page.locator("[data-embedding-state]")


def edit_description(page: Page, text: str) -> None:
    page.get_by_text("Edit description").click()
    page.get_by_label("Description, as agents read it").fill(text)
    page.get_by_role("button", name="Save description").click()


def run(page: Page):
    page.get_by_role("button", name="Run", exact=True).click()
    return page.locator("[data-tried]")


def test_everything_about_a_tool_is_told(page):
    page.goto(REPORT)
    expect(page.get_by_role("heading", level=1)).to_have_text("make_report")
    expect(page.locator(".item-id")).to_have_text("tools:ops:make_report")
    expect(page.locator("[data-description] strong")).to_have_text("file")
    expect(page.locator("[data-description] a")).to_have_attribute(
        "href", "https://example.com/guide"
    )
    rows = page.get_by_role("table", name="What it takes").locator("tbody th code")
    fields = ["title", "pages", "draft", "style", "readers", "layout", "margin", "parts"]
    expect(rows).to_have_text([*fields, "(each)", "heading", "inside", "(each)"])
    table = page.get_by_role("table", name="What it takes")
    expect(table.locator("tr", has_text="title")).to_contain_text("at most 60 characters")
    expect(table.locator("tr", has_text="pages")).to_contain_text("at least 1; at most 50")
    expect(table.locator("tr", has_text="style")).to_contain_text('"short"')
    expect(table.locator("tbody tr").last).to_contain_text("part, as above")
    expect(page.locator(".example code").first).to_contain_text("/tools/tools:ops:make_report/call")
    expect(page.get_by_text("main.py")).to_be_visible()
    expect(page.locator(".facts", has_text="Signature")).to_contain_text("not signed")
    expect(embedding(page)).to_contain_text("all-MiniLM")


def test_a_document_is_shown_as_it_is_meant_and_as_it_is_written(page):
    page.goto(NIGHT)
    said = page.locator(".card .prose")
    expect(said.locator("em")).to_have_text("night")
    expect(said.locator(".prose-entry")).to_have_count(2)
    expect(said.locator("blockquote")).to_have_text("Sleep well afterwards.")
    expect(said).to_contain_text("[Bad link](javascript:alert(1)) and <script>alert(2)</script>")
    expect(said.locator("a")).to_have_count(0)
    page.get_by_text("As it is written").click()
    expect(page.locator(".card pre").last).to_contain_text("title: The night shift")


def test_a_description_is_saved_shown_at_once_and_embedded_without_a_reload(visitor):
    page = visitor.open(REFUND)
    text = "Pay money back to a customer. Ask before amounts over 500 euros."
    edit_description(page, text)
    expect(page.get_by_role("status").first).to_contain_text("The description is saved")
    expect(page.locator("[data-description]")).to_have_text(text)
    expect(page.locator(".said > .note")).to_contain_text("Described by local")
    visitor.stay()
    expect(embedding(page)).to_have_attribute("data-embedding-state", "ready")
    assert visitor.stayed
    page.goto("/ui/?query=ask+before+amounts+over+500+euros")
    expect(page.locator("[data-hit]").first).to_have_text("refund_payment")
    page.goto(REFUND)
    page.get_by_text("Edit description").click()
    page.get_by_role("button", name="Reset to what its source says").click()
    expect(page.locator("[data-description]")).to_contain_text("in full or in part")
    expect(page.locator(".lines", has_text="described")).to_contain_text("reset by local")


def test_a_description_that_the_gate_refuses_is_refused_with_the_reason(page):
    page.goto(REFUND)
    edit_description(page, "Pay it\u200b back.")
    expect(page.get_by_role("alert")).to_contain_text("ZERO WIDTH SPACE")
    expect(page.locator("[data-description]")).not_to_contain_text("Pay it")
    written = page.get_by_label("Description, as agents read it")
    expect(written).to_be_visible()
    expect(written).to_have_value("Pay it\u200b back.")


def test_of_two_who_edit_the_same_text_the_second_sees_both(visitor, visit):
    page, other = visitor.open(COUNT), visit()
    other.open(COUNT)
    first = "Count the words of a text, says the first."
    edit_description(page, first)
    expect(page.get_by_role("status").first).to_contain_text("saved")
    edit_description(other.page, "Count words, says the second.")
    expect(other.page.get_by_role("heading", level=1)).to_have_text("Somebody was quicker")
    expect(other.page.locator("[data-theirs]")).to_have_text(
        "Count the words of a text, says the first."
    )
    own = other.page.get_by_label("What you wrote")
    expect(own).to_have_value("Count words, says the second.")
    expect(other.page.locator(".diff del mark").last).to_have_text("first")
    page.reload()
    expect(page.locator("[data-description]")).to_have_text(
        "Count the words of a text, says the first."
    )
    own.fill("Count words, say both.")
    other.page.get_by_role("button", name="Save mine instead").click()
    expect(other.page.locator("[data-description]")).to_have_text("Count words, say both.")


def test_tags_are_edited_and_reset(page):
    page.goto(WIPE)
    page.get_by_text("Edit tags").click()
    page.get_by_label("Tags, with commas between them").fill("storage, careful, storage")
    page.get_by_role("button", name="Save tags").click()
    expect(page.locator(".item-side .chips bdi")).to_have_text(["storage", "careful"])
    page.get_by_text("Edit tags").click()
    expect(page.get_by_text("Its source says: storage, danger")).to_be_visible()
    page.get_by_role("button", name="Reset to these").click()
    expect(page.locator(".item-side .chips bdi")).to_have_text(["storage", "danger"])


def test_a_tool_is_switched_off_with_a_reason_and_on_again(page):
    pin = "/ui/items/mcptools:chat:pin_message"
    page.goto(pin)
    page.get_by_text("Switch off", exact=True).click()
    page.get_by_label("Why, for those who wonder").fill("not before the audit")
    page.get_by_role("button", name="Switch it off").click()
    expect(page.locator(".item-place .badge.bad")).to_have_text("switched off")
    expect(page.get_by_text("not before the audit").first).to_be_visible()
    expect(page.locator("[data-try]")).to_have_count(0)
    page.goto("/ui/?query=pin+a+message")
    expect(page.locator("[data-hit]").first).not_to_have_text("pin_message")
    page.get_by_role("checkbox", name="inactive").check()
    expect(page.locator("[data-hit]")).to_have_text(["pin_message"])
    page.goto(pin)
    page.get_by_role("button", name="Switch on").click()
    expect(page.locator(".item-place .badge.good")).to_have_text("active")


def test_a_vector_is_refreshed(page):
    page.goto(COUNT)
    page.get_by_role("button", name="Refresh").click()
    expect(page.get_by_role("status").first).to_contain_text("A new vector is on its way")
    expect(embedding(page)).to_have_attribute("data-embedding-state", "ready")


def test_a_tool_is_tried_and_its_result_shown_where_one_is(visitor):
    page = visitor.open(COUNT)
    visitor.stay()
    page.get_by_label(re.compile("^text")).fill("to be or\nnot to be")
    tried = run(page)
    expect(tried).to_contain_text('"words": 6')
    expect(tried).to_contain_text("in a sandbox")
    expect(tried).to_be_focused()
    expect(page.get_by_label(re.compile("^text"))).to_have_value("to be or\nnot to be")
    assert visitor.stayed
    page.reload()
    expect(page.locator(".item-side")).to_contain_text(re.compile(r"100% of \d runs? went well"))


def test_a_form_gives_every_kind_of_argument_as_what_it_is(page):
    page.goto(REPORT)
    expect(page.get_by_label(re.compile("^pages"))).to_have_value("2")
    page.get_by_label(re.compile("^title")).fill("Findings")
    page.get_by_label(re.compile("^pages")).fill("3")
    page.get_by_label(re.compile("^draft")).select_option("yes")
    page.get_by_label(re.compile("^style")).select_option("long")
    page.get_by_label(re.compile("^readers")).fill("Ada\nGrace")
    page.get_by_label(re.compile("^layout")).fill('{"margin": 2.5}')
    tried = run(page)
    expect(tried).to_contain_text("ok")
    assert json.loads(tried.locator("pre").first.inner_text()) == {
        "title": "Findings",
        "pages": 3,
        "draft": True,
        "style": "long",
        "readers": ["Ada", "Grace"],
        "layout": {"margin": 2.5},
    }
    tried.get_by_text("What it printed").click()
    expect(tried).to_contain_text("writing Findings")
    with page.expect_download() as download:
        tried.get_by_role("link", name="report.txt").click()
    assert Path(download.value.path()).read_text("utf-8") == "Findings" * 3


def test_what_cannot_be_read_is_told_at_its_field_and_nothing_is_run(page):
    page.goto(REPORT)
    page.get_by_label(re.compile("^title")).fill("Findings")
    page.get_by_label(re.compile("^pages")).fill("three")
    page.get_by_label(re.compile("^layout")).fill("{margin")
    page.get_by_role("button", name="Run", exact=True).click()
    wrong = page.locator("[data-try] .wrong")
    expect(wrong).to_have_text(["'three' is no number", re.compile("^this is not JSON")])
    expect(page.get_by_label(re.compile("^title"))).to_have_value("Findings")
    page.get_by_label(re.compile("^pages")).fill("99")
    page.get_by_label(re.compile("^layout")).fill("")
    tried = run(page)
    expect(tried).to_contain_text("invalid arguments")
    expect(tried).to_contain_text("99 is greater than the maximum of 50")


def test_arguments_can_be_written_as_json(page):
    page.goto(COUNT)
    page.get_by_text("All arguments as JSON instead").click()
    page.get_by_label("All arguments as a JSON object").fill('{"text": "one two", "top": 1}')
    page.get_by_label(re.compile("^text")).fill("not this")
    expect(run(page)).to_contain_text('"words": 2')


def test_a_tool_that_breaks_tells_what_it_said(page):
    page.goto("/ui/items/tools:ops:fail_loudly")
    tried = run(page)
    expect(tried.locator(".badge.bad")).to_have_text("failed")
    expect(tried).to_contain_text("the reactor is too hot")
    expect(tried).to_contain_text("about to break")


def test_what_can_destroy_something_is_run_only_after_a_yes_to_exactly_that(visitor):
    page = visitor.open(WIPE)
    visitor.stay()
    page.get_by_label(re.compile("^disk")).fill("sda1")
    question = run(page).locator(".question")
    expect(question).to_contain_text("Run tools:ops:wipe_disk? Consider:")
    expect(question).to_contain_text('"disk": "sda1"')
    page.evaluate("document.querySelector('.question [name=\"arg:disk\"]').value = 'sdb9'")
    page.get_by_role("button", name="Yes, run it").click()
    expect(page.locator(".question")).to_contain_text('"disk": "sdb9"')
    page.get_by_role("button", name="Yes, run it").click()
    expect(page.locator("[data-tried]")).to_contain_text('"wiped": "sdb9"')
    assert visitor.stayed


def test_a_call_can_be_stopped(page):
    page.goto(COUNT)
    page.route(re.compile("/call"), lambda route: None)
    page.get_by_label(re.compile("^text")).fill("never")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_text("Running")).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("alert")).to_have_text("Stopped.")
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_enabled()


def test_an_item_that_is_not_there_is_a_page_that_says_so(page):
    answer = page.goto("/ui/items/nothing:like:it")
    assert answer is not None and answer.status == 404
    expect(page.get_by_role("heading", level=1)).to_have_text("There is nothing here")
    expect(page.get_by_role("alert")).to_contain_text("'nothing:like:it'")
    expect(page.get_by_role("link", name="Browse")).to_be_visible()


def test_a_tool_that_was_made_here_can_be_deleted(page, board_file, tmp_path):
    """By the command that makes one, while the gateway serves the same board."""
    script = tmp_path / "greet.py"
    script.write_text('def run(name: str):\n    """Say hello to somebody by name."""\n', "utf-8")
    made = [sys.executable, "-m", "pegboard", "create", str(script), "--category", "people"]
    subprocess.run([*made, "--board", str(board_file)], check=True, capture_output=True)
    page.goto("/ui/items/created:people:greet")
    expect(page.get_by_text("nobody signed it")).to_be_visible()
    page.get_by_text("Delete", exact=True).click()
    page.get_by_role("button", name="Delete it for good").click()
    expect(page.get_by_role("status").first).to_have_text("created:people:greet is deleted.")
    answer = page.goto("/ui/items/created:people:greet")
    assert answer is not None and answer.status == 404
