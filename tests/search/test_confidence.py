import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pegboard.model.items import Leg
from pegboard.search.confidence import NAMED, confidence

relaxed = settings(max_examples=300, deadline=None)
SETS = [
    frozenset(chosen)
    for size in range(1, len(Leg) + 1)
    for chosen in itertools.combinations(Leg, size)
]
values = st.floats(0, 1)


@relaxed
@given(evidence=values, legs=st.sampled_from(SETS), named=st.booleans())
def test_a_score_lies_between_0_and_1(evidence, legs, named):
    assert 0 <= confidence(evidence, legs, named=named) <= 1


@relaxed
@given(low=values, high=values, legs=st.sampled_from(SETS), named=st.booleans())
def test_more_evidence_never_lowers_a_score(low, high, legs, named):
    low, high = sorted((low, high))
    assert confidence(low, legs, named=named) <= confidence(high, legs, named=named)


@relaxed
@given(one=values, other=values, legs=st.sampled_from(SETS))
def test_what_was_asked_for_by_name_is_never_less_sure_than_what_was_not(one, other, legs):
    assert confidence(one, legs, named=True) >= NAMED >= confidence(other, legs, named=False)


@pytest.mark.parametrize("legs", SETS, ids=lambda legs: "+".join(sorted(legs)))
@pytest.mark.parametrize("named", [True, False])
def test_different_evidence_has_different_scores(legs, named):
    found = [confidence(n / 20, legs, named=named) for n in range(14)]
    assert len(set(found)) == len(found)


@pytest.mark.parametrize("legs", SETS, ids=lambda legs: "+".join(sorted(legs)))
def test_no_evidence_is_no_match_and_all_of_it_is_one(legs):
    assert confidence(0.0, legs, named=False) < 0.5
    assert confidence(1.0, legs, named=False) > 0.5


def test_guessed_words_are_judged_like_words():
    fuzzy, words = frozenset({Leg.FUZZY}), frozenset({Leg.BM25})
    assert confidence(0.3, fuzzy, named=False) == confidence(0.3, words, named=False)
