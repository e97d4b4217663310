"""The score of an item, and what of it counts in a search."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from making import make_item
from pegboard.model.content import Signature
from pegboard.model.items import Kind
from pegboard.quality import EXPECTED, cost, documented, merit, quality, smoothed

BARE = make_item("send", description="Send.")
LONG = (
    "Send an e-mail to one or more recipients, with a subject and a text, "
    + "and files beside it " * 3
)
PARAMETERS = {"properties": {"to": {"description": "Whom."}, "text": {}}}
TRUSTED = Signature("ada", "ed25519", "x", "now", "trusted")
FULL = BARE._replace(
    description=LONG,
    input_schema={"properties": {"to": {"description": "Whom."}}},
    output_schema={"type": "object"},
    examples=("write to Ada",),
)


def test_documentation_is_what_a_reader_needs():
    assert documented(FULL) == 1.0
    assert documented(BARE) == pytest.approx(0.4 / 20 + 0.3)
    half = FULL._replace(input_schema=PARAMETERS)
    assert documented(half) == pytest.approx(0.85)
    text = make_item("guide", kind=Kind.KNOWLEDGE, description=LONG, body="# How")
    assert documented(text) == 1.0
    assert (
        documented(make_item("x", description="電子メールを一人以上の宛先に送信します。" * 3))
        == 0.7
    )


def test_few_runs_prove_little():
    assert smoothed(None, 0) == EXPECTED
    assert smoothed(1.0, 1) == pytest.approx(9 / 11)
    assert smoothed(1.0, 5) < smoothed(1.0, 20) < smoothed(1.0, 4_000) < 1.0
    assert smoothed(0.0, 5) > smoothed(0.0, 20) > smoothed(0.0, 4_000) > 0.0
    assert smoothed(1.0, 0) == smoothed(1.0, 10)


def test_the_score_is_the_sum_of_its_parts():
    assert quality(FULL._replace(signature=TRUSTED), 1.0, 10**9) == pytest.approx(1.0)
    assert quality(FULL, 0.0, 10**9) == pytest.approx(0.25)
    assert quality(FULL, None, 0) == pytest.approx(0.73)
    old = FULL._replace(deprecated=True)
    assert quality(old, None, 0) == pytest.approx(0.365)
    doubted = FULL._replace(signature=TRUSTED._replace(state="expired"))
    assert quality(doubted, None, 0) == quality(FULL, None, 0)


def test_of_what_nothing_is_known_there_is_no_merit_however_well_it_is_documented():
    assert merit(FULL, None, None, 0) == merit(BARE, None, None, 0) == 0.0


def test_success_counts_once_for_what_works_and_against_what_does_not():
    assert merit(BARE, None, 1.0, 20) == pytest.approx(2 / 3)
    assert merit(BARE, None, 0.8, 20) == pytest.approx(0.0)
    assert merit(BARE, None, 0.2, 20) == -1.0
    assert merit(BARE, 1.0, None, 0) == 1.0
    assert merit(BARE._replace(signature=TRUSTED), None, None, 0) == 0.25
    assert merit(BARE._replace(deprecated=True), None, None, 0) == -0.5


figures = st.none() | st.floats(-100, 100)


@given(figures, figures, st.integers(0, 10**9), st.booleans(), st.text(max_size=300))
def test_both_stay_within_their_bounds(rating, rate, runs, deprecated, text):
    item = FULL._replace(deprecated=deprecated, description=text)
    assert 0.0 <= quality(item, rate, runs) <= 1.0
    assert -1.0 <= merit(item, rating, rate, runs) <= 1.0


@pytest.mark.parametrize(
    ("said", "found"),
    [
        (0.02, 0.02),
        (1, 1.0),
        (0, 0.0),
        (None, None),
        ("much", None),
        (True, None),
        (-1, None),
        (float("nan"), None),
        (10**400, None),
    ],
)
def test_what_a_call_costs_is_what_its_author_says(said, found):
    assert cost(BARE._replace(executor={"estimated_cost_usd": said})) == found
