import re
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pegboard.search.query import MAX_CHARACTERS, MAX_TERMS, parse

relaxed = settings(max_examples=300, deadline=None)
anything = st.text(st.characters(), max_size=300)
SYNTAX = re.compile(r"""["'*():^+{}\[\]\\.,;<>=!?&|~/%\s-]""")


@relaxed
@given(raw=anything)
@example(raw="")
@example(raw="\0" * 50)
@example(raw="\ud800 lone \udfff surrogates")
def test_no_text_upsets_the_parser(raw):
    query = parse(raw)
    assert query == parse(raw)
    assert len(query.text) <= MAX_CHARACTERS
    assert len(query.terms) <= MAX_TERMS
    assert len(set(query.terms)) == len(query.terms)
    assert query.text == " ".join(query.text.split())
    query.text.encode()


@relaxed
@given(raw=anything)
def test_no_syntax_is_left_in_any_term(raw):
    for term in parse(raw).terms:
        assert term
        assert not SYNTAX.search(term)
        assert not any(unicodedata.category(each) in ("Cc", "Cs", "Zs") for each in term)


@relaxed
@given(raw=anything)
def test_a_parsed_text_parses_to_itself(raw):
    query = parse(raw)
    assert parse(query.text) == query


@relaxed
@given(piece=st.text(st.characters(), min_size=1, max_size=5))
@example(piece="a")
@example(piece="aB")
@example(piece="_")
@example(piece="A")
@example(piece="\u0301")
@example(piece="文")
@example(piece="\ufdfa")
@example(piece='" OR ')
@example(piece="(")
@example(piece="𝕒")
def test_a_hundred_kilobytes_of_anything_are_cut_to_size(piece):
    query = parse(piece * (100_000 // len(piece)))
    assert len(query.text) <= MAX_CHARACTERS
    assert len(query.terms) <= MAX_TERMS
    assert sum(map(len, query.terms)) <= 40 * MAX_CHARACTERS


@pytest.mark.parametrize(
    ("raw", "terms"),
    [
        ("send AND letter", {"send", "letter"}),
        ('"send" OR letter*', {"send", "letter"}),
        ("name:send -letter", {"name", "send", "letter"}),
        ("NEAR(send letter, 5)", {"near", "send", "letter", "5"}),
        ("^send + {letter}", {"send", "letter"}),
        ("send'; DROP TABLE items; --", {"send", "drop", "tabl", "item"}),
    ],
)
def test_operators_become_words_or_vanish(raw, terms):
    assert set(parse(raw).terms) == terms


def test_words_that_say_nothing_are_left_out():
    assert parse("how do I send a letter to the office?").terms == ("send", "letter", "offic")


def test_words_that_say_nothing_are_kept_when_there_are_no_others():
    assert parse("who are you").terms == ("who", "are", "you")


def test_a_word_said_twice_counts_once():
    assert parse("send Send SENDING").terms == ("send",)


@pytest.mark.parametrize("raw", ["", "   ", "\n\t\u3000"])
def test_a_query_of_nothing_but_spaces_is_blank(raw):
    assert parse(raw).blank
    assert parse(raw).terms == ()


@pytest.mark.parametrize("raw", ["!!!", "?", "—", "🎉"])
def test_a_query_without_words_is_not_blank_and_has_no_terms(raw):
    assert not parse(raw).blank
    assert parse(raw).terms == ()


@pytest.mark.parametrize(
    "raw", ["创建问题", "イシュー", "สร้าง", "создать", "إنشاء", "बनाएँ", "만들기"]
)
def test_a_query_in_any_script_has_terms(raw):
    assert parse(raw).terms


def test_spaces_of_all_kinds_become_one():
    assert parse(" send\u3000\n a\t\u2028letter ").text == "send a letter"
