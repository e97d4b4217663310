import re
from urllib.parse import unquote

import pytest
from api_parts import items, job
from api_service import STYLES, heard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pegboard.model.calls import Outcome

TEXT = st.text(max_size=12)
NAME = st.text(min_size=1, max_size=6)
VALUE = st.one_of(
    TEXT,
    st.lists(TEXT, min_size=1, max_size=4),
    st.dictionaries(NAME, TEXT, min_size=1, max_size=3),
)
DELIMITER = {"spaceDelimited": " ", "pipeDelimited": "|", "tabDelimited": "\t"}


@pytest.fixture(scope="module")
def tools(running):
    return items(f"{running.url}/openapi.json")


@pytest.mark.parametrize(("place", "style", "explode"), STYLES)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=VALUE)
def test_what_the_service_reads_is_what_was_given(run, tools, place, style, explode, value):
    result = run(job(tools[f"{place}_{style}_{explode}"], {"value": value}))
    if result.outcome is Outcome.INVALID_ARGUMENTS:
        assert is_ambiguous(place, style, explode, value), result
        return
    assert result.outcome is Outcome.OK, result
    asked = heard(result.structured)
    assert READ[place](asked, style, explode, type(value)) == value


def parts_of(value):
    if isinstance(value, dict):
        return [text for pair in value.items() for text in pair]
    return value if isinstance(value, list) else [value]


def is_ambiguous(place, style, explode, value):
    """Whether the style has no way to write it."""
    whole, parts = isinstance(value, str), parts_of(value)
    if place == "path":
        return all(not part.strip(".") for part in parts)
    if place == "header":
        bad = any(re.search(r"[\x00-\x08\x0a-\x1f\x7f]", part) for part in parts)
        around = any(part[:1] in (" ", "\t") or part[-1:] in (" ", "\t") for part in parts)
        equals = explode and isinstance(value, dict) and any("=" in name for name in value)
        return bad or around or equals or (not whole and any("," in part for part in parts))
    if style == "deepObject":
        return isinstance(value, dict) and any("[" in name or "]" in name for name in value)
    return not whole and any(DELIMITER.get(style, "\0") in part for part in parts)


def split(written, delimiter, kind, explode):
    """What is joined by a delimiter, taken apart again."""
    if kind is str:
        return unquote(written)
    pieces = written.split(delimiter)
    if kind is list:
        return [unquote(piece) for piece in pieces]
    if explode:
        pairs = [piece.split("=", 1) for piece in pieces]
    else:
        flat = written.split(",") if delimiter == "." else pieces
        pairs = list(zip(flat[::2], flat[1::2], strict=True))
    return {unquote(name): unquote(value) for name, value in pairs}


def from_pairs(pairs, style, explode, kind):
    """A query or cookies, as pairs of what is written."""
    if style == "deepObject" and kind is dict:
        named = [(re.fullmatch(r"value\[(.*)\]", unquote(name), re.S)[1], v) for name, v in pairs]
        return {name: unquote(value) for name, value in named}
    if kind is dict and explode:
        return {unquote(name): unquote(value) for name, value in pairs}
    assert {unquote(name) for name, _ in pairs} == {
        "value[]" if style == "deepObject" and kind is list else "value"
    }
    if kind is list and (explode or style == "deepObject"):
        return [unquote(value) for _, value in pairs]
    [(_, value)] = pairs
    delimiter = {"spaceDelimited": "%20", "pipeDelimited": "%7C", "tabDelimited": "%09"}
    return split(value, delimiter.get(style, ","), kind, False)


def in_path(asked, style, explode, kind):
    written = asked.path.rpartition("/")[2]
    if style == "simple":
        return split(written, ",", kind, explode)
    if style == "label":
        assert written[0] == "."
        return split(written[1:], "." if explode else ",", kind, explode)
    assert written[0] == ";"
    pairs = [tuple([*piece.split("=", 1), ""][:2]) for piece in written[1:].split(";")]
    return from_pairs(pairs, "form", explode, kind)


def in_query(asked, style, explode, kind):
    pairs = [tuple(piece.split("=", 1)) for piece in asked.query.split("&")]
    return from_pairs(pairs, style, explode, kind)


def in_header(asked, style, explode, kind):
    written = asked.header("value").encode("latin-1").decode("utf-8")
    if kind is str:
        return written
    pieces = written.split(",")
    if kind is list:
        return pieces
    if explode:
        return dict(piece.split("=", 1) for piece in pieces)
    return dict(zip(pieces[::2], pieces[1::2], strict=True))


def in_cookie(asked, style, explode, kind):
    pairs = [tuple(piece.split("=", 1)) for piece in asked.header("cookie").split("; ")]
    return from_pairs(pairs, style, explode, kind)


READ = {"path": in_path, "query": in_query, "header": in_header, "cookie": in_cookie}
