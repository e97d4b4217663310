"""The pages about the board as a whole, and those that tell what went wrong."""

import re

from playwright.sync_api import expect
from web_parts import change

from pegboard.app.pegboard import Pegboard


def test_sources_tell_where_they_are_and_how_they_were(page):
    page.goto("/ui/sources")
    demo = page.locator(".source", has_text="demo")
    expect(demo.first).to_contain_text("read")
    workshop = page.locator(".source", has_text="workshop").first
    expect(workshop.locator(".badge")).to_have_text("read")
    workshop.get_by_role("button", name="Read again").click()
    expect(page.get_by_role("status").first).to_contain_text("It is being read again")


def test_rejections_tell_what_was_refused_and_why_and_can_be_narrowed(page):
    page.goto("/ui/rejections")
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.filter(has_text="odd_tags")).to_contain_text("tags is 3")
    expect(rows.first).to_contain_text("laboratory")
    codes = page.get_by_role("list", name="Reason").get_by_role("link")
    codes.first.click()
    expect(rows).to_have_count(1)
    expect(codes.first).to_have_attribute("aria-current", "true")
    codes.first.click()
    expect(rows).to_have_count(2)


def test_a_changed_definition_is_shown_word_by_word_and_approved_exactly(page, board_file):
    page.goto("/ui/changes")
    card = page.locator(".change")
    expect(card.get_by_role("heading", level=2)).to_have_text("post")
    expect(card.locator(".badge")).to_have_text("held back")
    expect(card.locator("del mark").first).to_have_text("friend")
    expect(card.locator("ins mark").first).to_have_text("stranger")
    with Pegboard.open(str(board_file)) as board:
        change(board, "post", "Where it goes.", "Post a note to a spy.")
    page.get_by_role("button", name="Approve exactly this").click()
    expect(page.get_by_role("status").first).to_contain_text("It changed once more")
    expect(page.locator("ins mark").first).to_have_text("spy")
    page.get_by_role("button", name="Approve exactly this").click()
    expect(page.get_by_role("status").first).to_contain_text("It is approved")
    expect(page.get_by_text("Nothing has changed")).to_be_visible()
    page.goto("/ui/?query=post+a+note+to+a+spy")
    expect(page.locator("[data-hit]").first).to_have_text("post")


def test_the_status_counts_every_state_and_offers_upkeep(page):
    page.goto("/ui/status")
    total = page.locator('[data-count="total"]')
    expect(total).to_have_text(re.compile(r"^1\d\d$"))
    for name in ("ready", "pending", "failed", "disabled", "blank"):
        expect(page.locator(f'[data-count="{name}"]')).to_have_text(re.compile(r"^\d+$"))
    for name, done in (("Backfill", "is being queued"), ("Retry what failed", "tried again")):
        page.get_by_role("button", name=name).click()
        expect(page.get_by_role("status").first).to_contain_text(done)
    page.get_by_text("Refresh everything").click()
    page.get_by_role("button", name="Yes, all of it").click()
    expect(page.get_by_role("status").first).to_contain_text("embedded anew")
    expect(page.locator('[data-count="ready"]')).to_have_text(total.inner_text())


def test_everything_is_browsed_by_category_and_page_by_page(page):
    page.goto("/ui/categories")
    page.get_by_role("link", name=re.compile("^mail")).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("mail")
    expect(page.locator(".list-line")).to_have_count(10)
    page.goto("/ui/categories?all=yes")
    seen = page.locator(".hit-id").all_inner_texts()
    while page.get_by_role("link", name="Next page").count():
        page.get_by_role("link", name="Next page").click()
        expect(page.locator(".hit-id").first).not_to_have_text(seen[-1])
        seen += page.locator(".hit-id").all_inner_texts()
    assert len(seen) == len(set(seen)) > 115
    page.get_by_role("link", name="First page").click()
    expect(page.locator(".hit-id").first).to_have_text(seen[0])


def test_what_is_not_there_or_cannot_be_read_is_a_page_of_the_same_look(page, url):
    for path, status in (
        ("/ui/nowhere", 404),
        ("/ui/categories?all=yes&after=nonsense", 400),
        ("/ui/?query=a&mode=psychic", 400),
        ("/ui/?query=a&kind=gadget", 400),
    ):
        answer = page.goto(path)
        assert answer is not None and answer.status == status, path
        expect(page.get_by_role("navigation", name="Pages")).to_be_visible()
        expect(page.get_by_role("alert")).to_be_visible()
    answer = page.request.post(f"{url}/ui/nowhere", form={"a": "b"})
    assert answer.status == 404
    answer = page.request.post(f"{url}/ui/status", data={"do": "retry"})
    assert answer.status == 400  # JSON is no form
    answer = page.request.post(f"{url}/ui/status", form={"do": "dance"})
    assert answer.status == 400


def test_every_page_answers_head_as_it_answers_get(page, url):
    paths = ["/ui/", "/ui/items/mcptools:text:count_words", "/ui/categories", "/ui/sources"]
    for path in [*paths, "/ui/rejections", "/ui/changes", "/ui/status", "/ui/sign-in"]:
        answer = page.request.head(f"{url}{path}")
        assert (answer.status, answer.body()) == (200, b""), path
    assert page.request.head(f"{url}/ui/nowhere").status == 404


def test_the_root_and_its_bare_name_lead_to_the_page(page, url):
    for path in ("/", "/ui"):
        page.goto(path)
        expect(page).to_have_url(f"{url}/ui/")


def test_files_of_the_page_are_kept_by_browsers_for_as_long_as_they_are_the_same(page, url):
    page.goto("/ui/")
    style = page.locator("link[rel=stylesheet]").get_attribute("href")
    fixed = page.request.get(f"{url}{style}")
    assert "immutable" in fixed.headers["cache-control"]
    bare = page.request.get(f"{url}/ui/static/pegboard.css")
    assert bare.headers["cache-control"] == "no-cache"
    again = page.request.get(
        f"{url}/ui/static/pegboard.css", headers={"If-None-Match": bare.headers["etag"]}
    )
    assert again.status == 304
    for name in ("nothing.css", "..%2Froutes.py", "%2e%2e%2frouting.py"):
        assert page.request.get(f"{url}/ui/static/{name}").status == 404


def test_whoever_has_to_sign_in_is_led_there_and_nowhere_else(page, url):
    page.goto("/ui/sign-in?next=/ui/status%3Fa=b")
    expect(page.get_by_label("Token")).to_be_focused()
    assert page.locator("[name=next]").get_attribute("value") == "/ui/status?a=b"
    for wanted in ("https://evil.example/", "//evil.example", "/ui/\\evil", "javascript:alert(1)"):
        page.goto(f"/ui/sign-in?next={wanted}")
        assert page.locator("[name=next]").get_attribute("value") == "/ui/"
