"""Pictures of the page for the documents: a board is made, served, and looked at in a browser.

    .venv/bin/python scripts/screenshots.py docs/images

It needs chromium, and Pillow, which comes with `.[bench]`. The board is the one of the page's own
tests.
"""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "serve" / "web")]

from web_parts import (  # noqa: E402
    CHROMIUM,
    FLAGS,
    make_board,
    make_registry,
    nobody_at_home,
    serving,
)

LARGEST = 150_000
"""Bytes of a picture."""
COLOURS = 250
"""Enough for a page without photographs."""
DESK = (1120, 760)
PHONE = (390, 760)


def nothing(page: Page) -> None:
    """The page as it comes."""


def explain(page: Page) -> None:
    page.locator(".why summary").first.click()
    page.mouse.move(0, 0)


def try_it(page: Page) -> None:
    page.get_by_label("title").fill("Quarterly findings")
    page.get_by_role("button", name="Run", exact=True).click()
    page.locator("[data-tried]").wait_for()
    page.locator("#try").scroll_into_view_if_needed()
    page.evaluate("document.getElementById('try').scrollIntoView()")


def ask_first(page: Page) -> None:
    page.get_by_label("disk").fill("sda1")
    page.get_by_role("button", name="Run", exact=True).click()
    page.locator(".question").wait_for()
    page.evaluate("document.getElementById('try').scrollIntoView({block: 'center'})")


def to_versions(page: Page) -> None:
    page.evaluate("document.getElementById('versions').scrollIntoView()")


class Shot(NamedTuple):
    name: str
    path: str
    first: Callable[[Page], None] = nothing
    size: tuple[int, int] = DESK
    scheme: str = "light"


QUESTION = "/ui/?query=give+the+customer+their+money+back"
SHOTS = (
    Shot("search", QUESTION, explain),
    Shot("search-dark", "/ui/?query=refnd+a+paymnet", scheme="dark"),
    Shot("search-phone", QUESTION, size=PHONE),
    Shot("item", "/ui/items/tools:ops:make_report"),
    Shot("item-tried", "/ui/items/tools:ops:make_report", try_it),
    Shot("item-asked", "/ui/items/tools:ops:wipe_disk", ask_first),
    Shot(
        "item-phone-dark", "/ui/items/mcptools:payments:refund_payment", size=PHONE, scheme="dark"
    ),
    Shot("changes", "/ui/changes"),
    Shot("rejections", "/ui/rejections"),
    Shot("status", "/ui/status"),
)


OF_RELEASES = (
    Shot("registry", "/ui/registry"),
    Shot("versions", "/ui/items/tools:paper:fold_crane", to_versions),
)


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        with nobody_at_home(Path(scratch)):
            boards = {make_board(Path(scratch)): SHOTS, make_registry(Path(scratch)): OF_RELEASES}
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*FLAGS])
        for board, shots in boards.items():
            with serving(board) as url:
                for shot in shots:
                    take(browser, url, shot, folder / f"{shot.name}.png")
        browser.close()


def take(browser: Browser, url: str, shot: Shot, file: Path) -> None:
    width, height = shot.size
    context = browser.new_context(
        base_url=url, viewport={"width": width, "height": height}, color_scheme=shot.scheme
    )
    page = context.new_page()
    page.goto(shot.path)
    shot.first(page)
    page.screenshot(path=file, animations="disabled")
    context.close()
    with Image.open(file) as picture:
        fewer = picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    fewer.save(file, optimize=True)
    size = file.stat().st_size
    print(f"{file} {size:,} bytes")
    assert size <= LARGEST, f"{file} is too large for the documents"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
