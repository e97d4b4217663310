"""Answers as text: what fits into the terminal, and what an explanation says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from making_hits import make_hit
from pegboard.cli.answers import Form, print_answer
from pegboard.cli.render import cells, clipped
from pegboard.model.answers import Answer, Explanation, HitFact, WordFact
from pegboard.model.items import ItemId, Kind

CLEAN = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=60)


def fact(name="mail:send", **fields):
    said = {
        "fields": {},
        "ranks": {"bm25": 1},
        "raw": {"bm25": 3.25, "vector": 0.5},
        "meaning": 0.25,
        "words": 0.1,
        "boosts": {},
        "fused": 0.35,
        "score": 0.5,
        "fate": "shown",
    }
    return HitFact(id=ItemId(name), **(said | fields))


@pytest.fixture
def explained(capsys, monkeypatch):
    """An explanation of one query as it is printed."""

    def run(query="send mail", words=(), items=(), weights=None, columns=100) -> str:
        monkeypatch.setenv("COLUMNS", str(columns))
        weights = {"alpha": 0.5, "best bm25": 3.25} if weights is None else weights
        found = Explanation(query, tuple(words), weights, 0.3, tuple(items))
        print_answer(Answer((), explanation=found), Form(explain=True))
        return capsys.readouterr().out

    return run


WORDS = {
    "known": (WordFact("mail", True, True, None), "mail  known"),
    "counted": (WordFact("mail", True, True, 12_345), "mail  known, in about 12,345 items"),
    "common": (
        WordFact("mail", True, False, 40_000),
        "mail  known, in about 40,000 items, left out as too common",
    ),
    "unknown": (WordFact("mail", False, False, None), "mail  unknown"),
    "misspelled": (
        WordFact("mail", False, False, None, ("mall", "main")),
        "mail  unknown, read as “mall”, “main”",
    ),
}


@pytest.mark.parametrize(("word", "line"), WORDS.values(), ids=WORDS.keys())
def test_an_explanation_tells_what_became_of_each_word(explained, word, line):
    assert f"  {line}\n" in explained(words=[word])


def test_an_explanation_uses_the_readers_words_and_not_their_stems(explained):
    out = explained(
        "queries, Paymnets",
        words=[WordFact("queri", True, True, None), WordFact("paymnet", False, False, None)],
        items=[fact(fields={"name": ("queri",), "body": ("queri",)})],
    )
    assert "  queries   known\n" in out
    assert "  paymnets  unknown\n" in out
    assert "    name: queries; body: queries\n" in out


def test_an_explanation_says_that_only_the_named_services_were_searched(capsys):
    found = Explanation("post", (), {"alpha": 1.0}, 0.3, (), services=("jira", "slack"))
    print_answer(Answer((), explanation=found), Form(explain=True))
    line = "services   jira, slack: named in the query; only these sources were searched\n"
    assert line in capsys.readouterr().out


@pytest.mark.parametrize(
    ("title", "shown"),
    [("Mail service", ["    Mail service"]), ("send a mail", []), ("", []), ("\x1b[1mM", None)],
)
def test_a_title_stands_above_the_description_unless_that_begins_with_it(capsys, title, shown):
    print_answer(Answer((make_hit(title=title),)), Form())
    lines = capsys.readouterr().out.splitlines()
    assert "\x1b" not in "".join(lines)
    if shown is not None:
        assert lines[1:3] == [*shown, "    Send a mail.", lines[-1]][:2]


def test_an_explanation_adds_up_what_an_item_is_worth(explained):
    boosted = fact(boosts={"usage": 0.01, "recency": -0.002}, fused=0.358)
    assert (
        "    fused 0.358 = meaning 0.250 + words 0.100 + boosts 0.008 "
        "(usage 0.010, recency -0.002)\n" in explained(items=[boosted])
    )


def test_an_explanation_of_rrf_adds_up_places(explained):
    out = explained(items=[fact(fused=0.9)], weights={"alpha": 0.5, "best bm25": 3.0, "k": 60.0})
    assert "fused 0.900 = places 0.900 + boosts 0.000\n" in out


def test_an_explanation_gives_score_and_place_in_each_leg(explained):
    assert "    bm25 3.25, place 1; vector 0.50, no place\n" in explained(items=[fact()])


@pytest.mark.parametrize("fate", ["shown", "below the threshold", "beyond the limit", "like a:b:c"])
def test_an_explanation_tells_an_items_fate(explained, fate):
    assert f" 1. mail:send  0.50  {fate}\n" in explained(items=[fact(fate=fate)])


def test_an_explanation_shows_hidden_characters_of_the_query(explained):
    assert "\x1b" not in explained("\x1b[31mred")


def test_an_explanation_fits_a_narrow_terminal(explained):
    out = explained(
        words=[WordFact("mail", False, False, None, ("mall", "main", "maid"))],
        items=[fact("m:send", boosts={"usage": 0.01}, fields={"name": ("mail",)})],
        columns=32,
    )
    assert max(map(len, out.splitlines())) <= 32


@pytest.mark.parametrize("columns", [24, 40, 100])
def test_hits_fit_the_terminal_whatever_their_script(capsys, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    hit = make_hit("a:b:c", description="顧客にお金を全額または一部返金する" * 5, reason="é" * 200)
    print_answer(Answer((hit._replace(like_it=(ItemId("x"),) * 90),)), Form())
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert max(map(cells, lines)) <= columns


def test_a_hit_without_a_description_has_no_blank_line(capsys):
    print_answer(Answer((make_hit("a:b:c", description=""),)), Form())
    assert "" not in [line.strip() for line in capsys.readouterr().out.splitlines()]


def test_a_score_below_the_threshold_never_looks_as_if_it_reached_it(capsys):
    print_answer(Answer((), nearest=(make_hit("a:b:c", score=0.2999),)), Form(nearest=True))
    assert "  - a:b:c  0.29 " in capsys.readouterr().out


@given(CLEAN, st.integers(2, 50))
def test_a_clipped_text_takes_no_more_room_than_there_is(text, room):
    found = clipped(text, room)
    assert cells(found) <= room
    assert found == text or (found.endswith("…") and text.startswith(found[:-1]))


def test_what_is_no_tool_says_what_it_is_and_where_it_was_found(capsys):
    hit = make_hit(kind=Kind.SKILL, passage="Signatures: Never draw\u202e one.")
    print_answer(Answer((hit,)), Form())
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == " 1. mcptools:mail:send  0.50 both  skill"
    assert lines[2] == "    … Signatures: Never draw\\u202e one."
    print_answer(Answer((make_hit(),)), Form())
    assert capsys.readouterr().out.splitlines()[0] == " 1. mcptools:mail:send  0.50 both"
