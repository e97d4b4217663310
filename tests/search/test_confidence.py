"""Fits and scores of hits, from the evidence for them, their rivals and the size of the board."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pegboard.model.items import Leg
from pegboard.search.confidence import RIVALS, WORDS_ALONE, Rater, curves

relaxed = settings(max_examples=300, deadline=None)
SETS = [
    frozenset(chosen)
    for size in range(1, len(Leg) + 1)
    for chosen in itertools.combinations(Leg, size)
]
HYBRID = frozenset({Leg.BM25, Leg.VECTOR})
values = st.floats(-0.2, 1.2)
pools = st.lists(values, min_size=1, max_size=40)
legs = st.sampled_from(SETS)
sizes = st.integers(0, 1_000_000)


def ratings(pool, legs=HYBRID, items=500):
    rater = Rater(pool, legs, items)
    return [rater.rate(each, each) for each in sorted(pool, reverse=True)]


@relaxed
@given(pools, legs, sizes)
def test_fits_and_scores_are_probabilities_in_the_order_of_the_evidence(pool, legs, items):
    found = ratings(pool, legs, items)
    assert all(0 <= each.score <= 1 and 0 <= each.fit <= 1 for each in found)
    for better, worse in itertools.pairwise(found):
        assert better.fit >= worse.fit
        assert better.score >= worse.score - 1e-12


@relaxed
@given(pools, legs, sizes)
def test_a_larger_board_makes_less_sure_that_an_item_fits(pool, legs, items):
    small, large = ratings(pool, legs, items), ratings(pool, legs, 10 * items)
    assert all(a.fit >= b.fit for a, b in zip(small, large, strict=True))


@relaxed
@given(pools, values, legs, sizes)
def test_a_rival_lowers_the_score_and_not_the_fit(pool, rival, legs, items):
    best = max(pool)
    alone, beside = Rater(pool, legs, items), Rater([*pool, rival], legs, items)
    assert beside.rate(best, best).score <= alone.rate(best, best).score + 1e-12
    assert beside.rate(best, best).fit == alone.rate(best, best).fit


def test_five_level_hits_cannot_each_be_the_right_one():
    [alone], level = ratings([0.6]), ratings([0.6] * 5)
    assert alone.score > 0.9
    assert all(each.score < 0.6 for each in level)
    assert all(each.fit == alone.fit > 0.9 for each in level)


def test_scores_do_not_depend_on_how_many_candidates_there_are_behind_the_rivals():
    pool = [0.7 - place / 100 for place in range(2 * RIVALS)]
    whole, cut = Rater(pool, HYBRID, 500), Rater(pool[:RIVALS], HYBRID, 500)
    assert [whole.rate(each, each) for each in pool] == [cut.rate(each, each) for each in pool]


@pytest.mark.parametrize("items", [50, 500, 5_000, 20_000])
def test_no_evidence_does_not_fit_and_much_of_it_does(items):
    nothing, much = ratings([0.0], items=items), ratings([0.7], items=items)
    assert nothing[0].fit < 0.1
    assert much[0].fit > 0.9


def test_keywords_alone_never_say_that_an_item_does_not_fit():
    for only in (frozenset({Leg.BM25}), frozenset({Leg.FUZZY}), frozenset({Leg.BM25, Leg.FUZZY})):
        assert ratings([0.0], only, 100_000)[0].fit >= WORDS_ALONE


def test_guessed_words_are_judged_like_words():
    fuzzy, words = frozenset({Leg.FUZZY}), frozenset({Leg.BM25})
    assert ratings([0.3], fuzzy) == ratings([0.3], words)


def test_more_evidence_and_fewer_rivals_count_for_an_item_in_every_curve():
    for curve in curves().values():
        assert curve.slope > 0 > curve.size
        assert curve.share_fit >= 0 > curve.share_field
        assert curve.share_level <= 0 <= curve.share_lead
