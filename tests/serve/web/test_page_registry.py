"""The registry on the page: looked through, compared, decided about, and the log of that."""

import re

import pytest
from playwright.sync_api import expect
from web_parts import PHONE, make_registry, nobody_at_home, serving, unfold, violations

from pegboard.app.pegboard import Pegboard
from pegboard.board.trust.tokens import BoardTokens
from pegboard.model.calls import Role

CRANE = "/ui/items/tools:paper:fold_crane"
PAGES = (
    "/ui/registry",
    "/ui/registry?category=paper&order=newest",
    "/ui/registry?tag=nothing",
    CRANE,
    "/ui/items/tools:paper:fold_boat",
    "/ui/compare/tools:paper:fold_crane?from=1.0.0&to=1.2.0",
    "/ui/audit",
)


@pytest.fixture(scope="module")
def registry(tmp_path_factory):
    folder = tmp_path_factory.mktemp("registry")
    with nobody_at_home(folder):
        return make_registry(folder)


@pytest.fixture(scope="module")
def url(registry):
    with serving(registry) as found:
        yield found


def downloads(place):
    """As told there. Three were made with the registry, others by a test of this file."""
    expect(place).to_contain_text("downloads")
    return int(re.search(r"(\d+) downloads", place.text_content())[1])


def names(page):
    return page.locator(".offer [data-hit]").all_text_contents()


def test_what_is_published_is_looked_through_by_category_and_tag(page):
    page.goto("/ui/")
    page.get_by_role("link", name="Registry").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Registry")
    assert names(page) == ["count_words", "fold_boat", "fold_crane", "shout"]
    page.get_by_role("list", name="Category").get_by_role("link", name="paper 2").click()
    assert names(page) == ["fold_boat", "fold_crane"]
    page.get_by_role("list", name="Tag").get_by_role("link", name="origami 1").click()
    assert names(page) == ["fold_crane"]
    page.get_by_role("link", name="see all").click()
    page.get_by_role("list", name="Order").get_by_role("link", name="most downloaded").click()
    assert names(page)[0] == "fold_crane"
    line = page.locator(".offer").first
    for said in ("1.2.0", "trusted", "mia"):
        expect(line).to_contain_text(said)
    told = downloads(line)
    assert told >= 3
    page.goto(CRANE)
    assert downloads(page.locator(".release").first) == told


def test_a_deprecated_item_leads_to_what_is_to_be_used_instead(page):
    page.goto("/ui/registry?category=paper")
    boat = page.locator(".offer").filter(has_text="fold_boat")
    expect(boat).to_contain_text("deprecated")
    boat.get_by_role("link", name="tools:paper:fold_crane").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("fold_crane")


def test_versions_are_told_with_who_signed_what_changed_and_what_was_taken_back(page):
    page.goto(CRANE)
    releases = page.locator(".release")
    assert page.locator(".release .release-number").all_text_contents() == [
        "1.2.0",
        "1.1.0",
        "1.0.0",
    ]
    newest, back = releases.nth(0), releases.nth(1)
    for said in ("latest", "trusted", "mia", "paper-mill", "Takes care"):
        expect(newest).to_contain_text(said)
    before = downloads(newest)
    assert before >= 3
    expect(back).to_contain_text("It tears the sheet.")
    with page.expect_download() as found:
        newest.get_by_role("link", name="Bundle").click()
    assert found.value.suggested_filename == "fold_crane-1.2.0.zip"
    with page.expect_download() as found:
        newest.get_by_role("link", name="Signature").click()
    assert found.value.suggested_filename == "fold_crane-1.2.0.sig"
    page.reload()
    assert downloads(newest) == before + 1
    newest.get_by_role("link", name="What changed in 1.2.0").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("What changed from 1.1.0 to 1.2.0")
    expect(page.locator(".diff ins mark").first).to_have_text("2")
    page.get_by_label("From").select_option("1.2.0")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator(".empty-head")).to_have_text("Nothing is different")


def test_an_owner_decides_with_forms_and_without_script(tmp_path, visit):
    with nobody_at_home(tmp_path), serving(make_registry(tmp_path)) as at:
        page = visit(at, java_script_enabled=False).page
        page.goto("/ui/items/tools:text:shout")
        expect(page.get_by_role("button", name="Take back 2.0.0")).to_be_hidden()
        page.locator(".release summary").click()
        page.get_by_label("Why, for those who have it").fill("Too loud.")
        page.get_by_role("button", name="Take back 2.0.0").click()
        expect(page.locator(".notice.good")).to_contain_text("taken back")
        expect(page.locator(".release")).to_contain_text("Too loud.")
        page.get_by_role("button", name="Offer 2.0.0 again").click()
        expect(page.locator(".notice.good")).to_contain_text("offered again")
        page.get_by_text("Mark as deprecated").click()
        page.get_by_label("What to use instead").fill("tools:text:count_words")
        page.get_by_role("button", name="Mark it").click()
        expect(page.locator(".notice").nth(1)).to_contain_text("Use tools:text:count_words")
        page.get_by_role("button", name="No longer deprecated").click()
        page.get_by_text("Change who sees it").click()
        page.get_by_label("Who sees it").select_option("unlisted")
        page.get_by_role("button", name="Save who sees it").click()
        expect(page.locator(".facts dd").get_by_text("unlisted")).to_be_visible()
        page.get_by_text("Give it to another").click()
        page.get_by_label("A name, or @public").fill("@elsewhere")
        page.get_by_role("button", name="Give it away").click()
        expect(page.locator(".notice.bad")).to_contain_text("cannot own what is in namespace")
        page.get_by_label("A name, or @public").fill("@public")
        page.get_by_role("button", name="Give it away").click()
        expect(page.locator(".facts dd").get_by_text("@public").first).to_be_visible()
        page.goto("/ui/audit?id=tools:text:shout")
        told = page.locator("tbody .badge").all_text_contents()
        assert told == [
            "transfer",
            "visibility",
            "deprecate",
            "deprecate",
            "unyank",
            "yank",
            "publish",
        ]
        page.goto("/ui/registry")
        assert "shout" not in names(page)


def test_a_reader_reads_and_decides_nothing(registry, visit):
    with nobody_at_home(registry.parent):
        with Pegboard.open(str(registry)) as board:
            token = BoardTokens(board.store).make(Role.READER, name="rita").text
        with serving(registry, "off") as at:
            page = visit(at).page
            form = {"token": token, "next": "/ui/"}
            page.request.post(f"{at}/ui/sign-in", form=form, headers={"Origin": at})
            page.goto(CRANE)
            expect(page.locator(".release").first).to_contain_text("1.2.0")
            for name in ("Take back", "Offer", "Give it away", "Save who sees it"):
                expect(page.get_by_role("button", name=re.compile(name))).to_have_count(0)
            page.goto("/ui/audit")
            expect(page.locator("main")).to_contain_text("for admins")
            answer = page.request.post(
                f"{at}{CRANE}", form={"do": "yank", "version": "1.2.0"}, headers={"Origin": at}
            )
            assert answer.status == 403
            elsewhere = page.request.post(
                f"{at}{CRANE}", form={"do": "yank"}, headers={"Origin": "https://evil.example"}
            )
            assert elsewhere.status == 403


def test_an_empty_registry_says_so(browser, tmp_path, visit):
    with nobody_at_home(tmp_path):
        board = tmp_path / "empty.db"
        Pegboard.open(str(board), create=True).close()
        with serving(board) as at:
            page = visit(at).page
            page.goto("/ui/registry")
            expect(page.locator(".empty-head")).to_have_text("Nothing is published here")


def test_no_page_has_to_be_scrolled_sideways_on_a_phone(visit):
    page = visit(viewport=PHONE, has_touch=True, is_mobile=True).page
    for path in PAGES:
        page.goto(path)
        unfold(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], path


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(visit, axe, scheme):
    rules = "" if scheme == "light" else "runOnly: ['color-contrast']"
    page = visit(color_scheme=scheme, bypass_csp=True).page
    page.add_init_script(axe)
    assert [each for path in PAGES for each in violations(page, path, rules)] == []
