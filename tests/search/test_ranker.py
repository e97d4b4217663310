"""The ranker: what it compares, and what it may never do."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from making import make_item
from pegboard.search import ranker
from pegboard.search.query import parse
from pegboard.text import card

SIGNALS = ranker.Signals(0.5, 0.2, 0.35)


def values(text, *items):
    """The ranking values of items that the retrievers find equally good."""
    cards = [ranker.parse_card(card(item)) for item in items]
    return ranker.rank_values(parse(text), cards, [SIGNALS] * len(items))


def test_the_packaged_file_belongs_to_these_features():
    data = json.loads(ranker.FILE.read_text("utf-8"))
    assert data["features"] == list(ranker.FEATURES)
    assert data["trees"]
    columns = {node[0] for tree in data["trees"] for node in tree}
    assert columns <= set(range(-1, len(ranker.FEATURES)))


@pytest.mark.parametrize(
    ("text", "right", "wrong"),
    [
        ("create a pull request", "pulls/create", "pulls/get"),
        ("add a webhook", "create_webhook", "get_webhook"),
        ("remove a webhook", "delete_webhook", "list_webhooks"),
        ("show the invoice", "get_invoice", "delete_invoice"),
        ("list the repos of an org", "list_organization_repositories", "list_user_repositories"),
    ],
)
def test_the_action_that_is_asked_for_decides_between_look_alikes(text, right, wrong):
    first, second = values(text, make_item(right), make_item(wrong))
    assert first > second


def test_an_identifier_in_one_word_is_found_by_two():
    first, second = values(
        "list pull requests", make_item("list_pullrequests"), make_item("list_pushrequests")
    )
    assert first > second


def test_an_item_without_a_card_is_ranked_by_its_fused_value_alone_or_below():
    (value,) = ranker.rank_values(parse("send a letter"), [ranker.parse_card("")], [SIGNALS])
    assert value <= SIGNALS.fused + 0.2


def test_no_candidates_have_no_values():
    assert ranker.rank_values(parse("anything"), [], []) == []


@given(text=st.text(max_size=80), names=st.lists(st.text(min_size=1, max_size=30), max_size=6))
def test_a_value_depends_on_its_own_item_alone(text, names):
    cards = [ranker.parse_card(card(make_item(name=name))) for name in names]
    together = ranker.rank_values(parse(text), cards, [SIGNALS] * len(cards))
    alone = [ranker.rank_values(parse(text), [each], [SIGNALS])[0] for each in cards]
    assert together == pytest.approx(alone)


def test_more_cosine_is_never_worse():
    item = ranker.parse_card(card(make_item("send_letter", description="Send a letter.")))
    found = [
        ranker.rank_values(parse("send a letter"), [item], [ranker.Signals(c, 0.2, 0.2 + c / 2)])
        for c in (0.1, 0.3, 0.5, 0.7, 0.9)
    ]
    assert found == sorted(found)


def test_an_abbreviation_in_another_item_does_not_change_the_features():
    named = ("send_mail", "list_repo")
    text = "Send mail to many people at once.\n\nIt can hold a repo."
    items = [make_item(name, description=text) for name in named]
    cards = [ranker.parse_card(card(item)) for item in items]
    question = ranker.Question(parse("send repository"))
    (alone,) = ranker.features(question, cards[:1], [SIGNALS])
    together = ranker.features(question, cards, [SIGNALS, SIGNALS])
    assert together[0] == alone
