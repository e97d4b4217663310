"""How the page looks: on a phone, in the dark, and to those who cannot see it."""

import pytest
from playwright.sync_api import Page, expect
from web_parts import PHONE, unfold, violations

PAGES = (
    "/ui/",
    "/ui/?query=give+the+customer+their+money+back&category=payments",
    "/ui/?query=a+recipe+for+banana+bread",
    "/ui/items/tools:ops:make_report",
    "/ui/items/knowledge:operations:night-shift",
    "/ui/categories",
    "/ui/categories?category=mail",
    "/ui/sources",
    "/ui/rejections",
    "/ui/changes",
    "/ui/sign-in",
    "/ui/status",
    "/ui/nowhere",
)


def background(page: Page) -> str:
    return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))


def test_no_page_has_to_be_scrolled_sideways_on_a_phone(visit):
    page = visit(viewport=PHONE, has_touch=True, is_mobile=True).page
    for path in PAGES:
        page.goto(path)
        unfold(page)
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= PHONE["width"], path


def test_what_is_long_and_without_spaces_is_wrapped_on_a_phone(visit):
    page = visit(viewport={"width": 320, "height": 600}).page
    page.goto(f"/ui/?query={'Donaudampfschiffahrtsgesellschaft' * 20}")
    expect(page.locator(".empty-head")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


def test_the_dark_follows_the_system_until_somebody_chooses_and_is_remembered(visit):
    page = visit(color_scheme="dark").page
    page.goto("/ui/")
    dark = background(page)
    page.emulate_media(color_scheme="light")
    light = background(page)
    assert dark != light
    page.get_by_role("button", name="Change to dark").click()
    assert background(page) == dark
    page.goto("/ui/status")
    assert background(page) == dark
    page.get_by_role("button", name="Change to light").click()
    page.reload()
    assert background(page) == light


def test_focus_is_always_seen(page):
    page.goto("/ui/?query=refund")
    page.locator("body").press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    for _ in range(25):
        page.keyboard.press("Tab")
        shown = page.evaluate(
            """() => {
              const at = document.activeElement;
              const styles = [getComputedStyle(at), getComputedStyle(at, '::after')];
              const box = at.closest('.search-box');
              return styles.some((each) => each.outlineStyle !== 'none')
                || (box && getComputedStyle(box).boxShadow !== 'none') || at === document.body;
            }"""
        )
        assert shown, page.evaluate("document.activeElement.outerHTML")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(visit, axe, scheme):
    """What is another in the dark is the colours alone."""
    rules = "" if scheme == "light" else "runOnly: ['color-contrast']"
    page = visit(color_scheme=scheme, bypass_csp=True).page
    page.add_init_script(axe)
    pages = PAGES if scheme == "light" else PAGES[1::2]
    assert [each for path in pages for each in violations(page, path, rules)] == []
