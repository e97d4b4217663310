"""The tables of the reference are what the code says, and every face says it in the same words."""

import importlib.util
import sys
from pathlib import Path

import pytest

from pegboard.config.settings import Settings
from pegboard.serve.http.searching import LIMIT as HTTP_LIMIT
from pegboard.serve.http.searching import SearchQuery
from pegboard.serve.web.searching import LIMIT as PAGE_LIMIT

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def reference():
    found = importlib.util.spec_from_file_location("reference", ROOT / "scripts" / "reference.py")
    module = importlib.util.module_from_spec(found)
    sys.modules["reference"] = module
    found.loader.exec_module(module)
    yield module
    del sys.modules["reference"]


PAGES = ("errors.md", "mcp-tools.md", "names.md")


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_what_is_made_from_the_code(reference, page):
    assert set(reference.PAGES) == set(PAGES)
    now = (reference.DOCS / page).read_text("utf-8")
    made = reference.written(now, reference.PAGES[page])
    assert now == made, f"docs/reference/{page} is not up to date: make reference"


def test_what_only_one_face_asks_for_has_a_reason(reference):
    alone = {name for name, faces in reference.asked().items() if len(faces) == 1}
    assert alone == set(reference.ONE_FACE)


def test_a_search_is_asked_for_in_the_same_words_on_every_face(reference):
    for name, faces in reference.asked().items():
        for face, said in faces.items():
            one = said.lstrip("-").replace("-", "_").lower().removeprefix("filters.")
            same = {name, f"{name}s", f"{name.removesuffix('y')}ies"}
            same |= reference.OTHERWISE.get(name, set())
            assert one in same, f"{face} calls {name} {said}"


def test_how_many_hits_there_are_is_told_as_it_is(reference):
    page = (reference.DOCS / "names.md").read_text("utf-8")
    assert f"An answer has {Settings().search.limit} hits" in page
    assert f"on the page there are {HTTP_LIMIT}" in page
    assert HTTP_LIMIT == SearchQuery(query="x").limit == PAGE_LIMIT


def test_a_code_a_flag_or_a_route_that_is_not_told_is_noticed(reference, monkeypatch):
    monkeypatch.setattr(reference, "ADVICE", {})
    with pytest.raises(SystemExit, match="ADVICE has nothing of board_busy"):
        [*reference.errors()]
    monkeypatch.setattr(reference, "OPERATIONS", reference.OPERATIONS[1:])
    with pytest.raises(SystemExit, match="'init'"):
        [*reference.operations()]
    monkeypatch.setattr(reference, "ONE_FACE", {})
    with pytest.raises(SystemExit, match="compact"):
        [*reference.searches()]
