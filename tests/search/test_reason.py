import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from making import items, make_item
from pegboard.model.items import ItemId, Leg, MatchType
from pegboard.search import reason as reasons
from pegboard.search.fusion import Candidate
from pegboard.search.query import parse
from pegboard.search.reason import SEMANTIC_FLOOR, fields_with, match_type

relaxed = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
LETTER = make_item("sendLetter", description="Send a letter to the office.", tags=("post",))


def reason(found, item, query, read_as=None, *, named=False):
    return reasons.reason(found, item, query, read_as or {}, named=named)


def candidate(**scores):
    found = {Leg(name): score for name, score in scores.items()}
    return Candidate(1, ItemId("a:b:c"), found, dict.fromkeys(found, 1))


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ({"bm25": 1.0}, MatchType.KEYWORD),
        ({"bm25": 1.0, "vector": SEMANTIC_FLOOR - 0.01}, MatchType.KEYWORD),
        ({"bm25": 1.0, "vector": SEMANTIC_FLOOR}, MatchType.BOTH),
        ({"bm25": 0.0, "vector": 0.9}, MatchType.SEMANTIC),
        ({"vector": 0.9}, MatchType.SEMANTIC),
        ({"fuzzy": 1.0}, MatchType.FUZZY),
        ({"fuzzy": 1.0, "vector": 0.9}, MatchType.FUZZY),
        ({"fuzzy": 1.0, "bm25": 1.0}, MatchType.KEYWORD),
        ({"fuzzy": 0.0, "vector": 0.1}, MatchType.SEMANTIC),
        ({"vector": 0.1}, MatchType.SEMANTIC),
    ],
)
def test_the_match_type_tells_which_legs_found_it(scores, expected):
    assert match_type(candidate(**scores)) is expected


@pytest.mark.parametrize(
    ("cosine", "word"), [(0.9, "very close"), (0.5, "close"), (0.3, "related"), (0.1, "far")]
)
def test_the_reason_says_how_near_the_meaning_is(cosine, word):
    said = reason(candidate(vector=cosine), LETTER, parse("weather"))
    assert said == f"meaning {word} ({cosine:.2f})"


def test_the_reason_names_the_readers_own_words_once_each():
    said = reason(candidate(bm25=3.0), LETTER, parse("Sending LETTERS, letters! by mail?"))
    assert said == "shares “sending”, “letters”, “mail”"


def test_the_reason_names_words_and_meaning_together():
    said = reason(candidate(bm25=3.0, vector=0.45), LETTER, parse("a letter for mom"))
    assert said == "shares “letter”; meaning close (0.45)"


def test_words_that_say_nothing_are_no_reason():
    said = reason(candidate(bm25=3.0), LETTER, parse("send it to the moon"))
    assert said == "shares “send”"


def test_the_words_may_stand_in_any_field_of_the_item():
    item = make_item(
        "x",
        aliases=("dispatch",),
        keywords=("courier",),
        body="parcel",
        input_schema={"properties": {"recipient": {"description": "the addressee"}}},
    )
    said = reason(candidate(bm25=1.0), item, parse("dispatch courier parcel recipient addressee"))
    assert said == "shares “dispatch”, “courier”, “parcel”, “recipient”, “addressee”"


def test_at_most_five_words_are_named():
    item = make_item("x", description="one two three four five six seven")
    said = reason(candidate(bm25=1.0), item, parse("one two three four five six seven"))
    assert said.count("“") == 5


def test_other_scripts_are_named_too():
    item = make_item("创建问题", description="在仓库中创建问题")
    assert "创建" in reason(candidate(bm25=1.0), item, parse("创建 天气"))


def test_nobody_being_sure_is_said_as_well():
    assert reason(candidate(), LETTER, parse("weather")) == "no leg is sure of it"


def test_a_guessed_word_is_named_with_what_it_was_read_as():
    read_as = {"leter": ("letter", "later"), "ofice": ("offer",)}
    said = reason(candidate(fuzzy=3.0), LETTER, parse("leter ofice"), read_as)
    assert said == "“leter” read as “letter”"


def test_the_name_comes_first_among_the_reasons():
    said = reason(candidate(bm25=3.0, vector=0.7), LETTER, parse("send letter"), named=True)
    assert said == "its name is the query; shares “send”, “letter”; meaning very close (0.70)"


def test_the_terms_of_a_query_are_told_by_the_field_that_has_them():
    found = fields_with(LETTER, set(parse("sending letters by post from the moon").terms))
    assert found == {
        "name": ("letter", "send"),
        "labels": ("post",),
        "description": ("letter", "send"),
    }


@relaxed
@given(
    item=items(),
    text=st.text(max_size=100),
    scores=st.dictionaries(st.sampled_from(["bm25", "vector", "fuzzy"]), st.floats(-1, 50)),
)
def test_every_hit_has_a_reason_of_one_line(item, text, scores):
    said = reason(candidate(**scores), item, parse(text))
    assert said
    assert len(said.splitlines()) == 1


@relaxed
@given(item=items())
def test_an_item_asked_for_by_its_own_name_shares_a_word_with_it(item):
    query = parse(item.name)
    if query.terms:
        assert reason(candidate(bm25=1.0), item, query).startswith("shares")
