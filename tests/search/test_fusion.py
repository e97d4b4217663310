import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pegboard.model import ItemId, Leg
from pegboard.search.fusion import (
    HALF_SURE,
    Candidate,
    FusionSettings,
    Method,
    calibrated,
    fuse,
)

relaxed = settings(max_examples=300, deadline=None)
BOTH = frozenset(Leg)
bm25 = st.floats(0, 100)
cosine = st.floats(-1, 1)
legs = st.sampled_from([BOTH, frozenset({Leg.BM25}), frozenset({Leg.VECTOR})])
tunings = st.builds(
    FusionSettings,
    method=st.sampled_from(Method),
    alpha=st.floats(0, 1),
    k=st.integers(1, 1000),
    bm25_weight=st.floats(0, 100),
    vector_weight=st.floats(0, 100),
)


def ranked(rows):
    """Candidates from (key, id, scores), with the places their scores give them in each leg."""
    places = {
        leg: {
            row[0]: place
            for place, row in enumerate(
                sorted((r for r in rows if leg in r[2]), key=lambda r: (-r[2][leg], r[1], r[0])),
                start=1,
            )
        }
        for leg in Leg
    }
    return [
        Candidate(key, ItemId(name), scores, {leg: places[leg][key] for leg in scores})
        for key, name, scores in rows
    ]


def scores():
    return st.fixed_dictionaries({}, optional={Leg.BM25: bm25, Leg.VECTOR: cosine}).filter(bool)


def shelves():
    """Rows of (key, id, scores); an id may hang in two namespaces, a key is given once."""
    name = st.sampled_from(["a", "b", "c", "d"])
    return st.lists(scores(), min_size=1, max_size=8).flatmap(
        lambda made: st.tuples(*(name for _ in made)).map(
            lambda ids: [(key, ids[key], each) for key, each in enumerate(made)]
        )
    )


def place_and_score(fused, key):
    return next((place, s) for place, (each, s) in enumerate(fused) if each.key == key)


@relaxed
@given(rows=shelves(), asked=legs, tuning=tunings)
def test_scores_lie_between_zero_and_one_and_fall(rows, asked, tuning):
    fused = fuse(ranked(rows), asked, tuning)
    found = [score for _, score in fused]
    assert len(found) == len(rows)
    assert found == sorted(found, reverse=True)
    assert all(0.0 <= score <= 1.0 for score in found)


@relaxed
@given(rows=shelves(), asked=legs, tuning=tunings, seed=st.randoms())
def test_the_order_does_not_depend_on_the_order_of_the_candidates(rows, asked, tuning, seed):
    candidates = ranked(rows)
    shuffled = candidates.copy()
    seed.shuffle(shuffled)
    assert fuse(shuffled, asked, tuning) == fuse(candidates, asked, tuning)


def test_equal_scores_go_by_id():
    rows = [(key, name, {Leg.VECTOR: 0.5}) for key, name in enumerate("dbac")]
    fused = fuse(ranked(rows), frozenset({Leg.VECTOR}), FusionSettings())
    assert [each.id for each, _ in fused] == list("abcd")


def test_one_id_in_two_namespaces_has_a_stable_order_too():
    rows = [(key, "same", {Leg.VECTOR: 0.5}) for key in range(5)]
    candidates = ranked(rows)
    expected = fuse(candidates, BOTH, FusionSettings())
    for seed in range(5):
        random.Random(seed).shuffle(candidates)
        assert fuse(candidates, BOTH, FusionSettings()) == expected


@relaxed
@given(
    rows=shelves(),
    asked=legs,
    tuning=tunings,
    pick=st.integers(0, 7),
    leg=st.sampled_from(Leg),
    better=st.floats(0, 100),
)
def test_a_better_score_in_one_leg_never_makes_an_item_worse(
    rows, asked, tuning, pick, leg, better
):
    """Monotone: neither the fused score nor the place falls when all else stays as it was."""
    key, name, scores = rows[pick % len(rows)]
    low = scores.get(leg, -1.0 if leg is Leg.VECTOR else 0.0)
    high = max(low, better if leg is Leg.BM25 else min(better, 1.0))
    raised = [row if row[0] != key else (key, name, {**scores, leg: high}) for row in rows]
    place, score = place_and_score(fuse(ranked(rows), asked, tuning), key)
    new_place, new_score = place_and_score(fuse(ranked(raised), asked, tuning), key)
    assert new_score >= score - 1e-12
    assert new_place <= place


def test_the_sum_is_as_computed_by_hand():
    rows = [
        (1, "a", {Leg.BM25: 12.0, Leg.VECTOR: 0.5}),
        (2, "b", {Leg.BM25: 3.0}),
        (3, "c", {Leg.VECTOR: 0.9}),
        (4, "d", {Leg.VECTOR: -0.4}),
    ]
    fused = fuse(ranked(rows), BOTH, FusionSettings(Method.SUM, alpha=0.6))
    by_id = {each.id: score for each, score in fused}
    assert by_id == pytest.approx(
        {
            "a": 0.4 * 12 / (12 + 8) + 0.6 * 0.5,
            "b": 0.4 * 3 / (12 + 8),
            "c": 0.6 * 0.9,
            "d": 0.0,
        }
    )
    assert [each.id for each, _ in fused] == ["a", "c", "b", "d"]


def test_reciprocal_ranks_are_as_computed_by_hand():
    tuning = FusionSettings(Method.RRF, k=60, bm25_weight=2.0, vector_weight=1.0)
    candidates = [
        Candidate(1, ItemId("a"), {}, {Leg.BM25: 1, Leg.VECTOR: 3}),
        Candidate(2, ItemId("b"), {}, {Leg.BM25: 2}),
        Candidate(3, ItemId("c"), {}, {Leg.VECTOR: 1}),
        Candidate(4, ItemId("d"), {Leg.BM25: 5.0}, {}),
    ]
    fused = fuse(candidates, BOTH, tuning)
    best = 3 / 61
    assert {each.id: score for each, score in fused} == pytest.approx(
        {"a": (2 / 61 + 1 / 63) / best, "b": (2 / 62) / best, "c": (1 / 61) / best, "d": 0.0}
    )
    assert [each.id for each, _ in fused] == ["a", "b", "c", "d"]


@pytest.mark.parametrize("method", Method)
def test_first_in_every_leg_is_the_most_there_is(method):
    first = (1, "a", {Leg.BM25: 10_000.0, Leg.VECTOR: 1.0})
    [(_, score)] = fuse(ranked([first]), BOTH, FusionSettings(method))
    assert score == pytest.approx(1.0, abs=1e-3)


def test_rounding_never_lifts_a_score_above_one():
    first = Candidate(1, ItemId("a"), {}, {Leg.BM25: 1, Leg.VECTOR: 1})
    tuning = FusionSettings(Method.RRF, k=60, bm25_weight=2.0, vector_weight=3.0)
    assert fuse([first], BOTH, tuning) == [(first, 1.0)]


def test_a_weak_best_match_by_words_stays_weak():
    assert calibrated(Leg.BM25, 0.1, 0.1) < 0.02
    assert calibrated(Leg.BM25, HALF_SURE, HALF_SURE) == 0.5
    assert calibrated(Leg.BM25, 100.0, 100.0) > 0.9


@pytest.mark.parametrize(("raw", "expected"), [(-1.0, 0.0), (0.0, 0.0), (0.3, 0.3), (1.0000001, 1)])
def test_a_cosine_is_taken_as_it_is_within_its_bounds(raw, expected):
    assert calibrated(Leg.VECTOR, raw, 0.0) == expected


@pytest.mark.parametrize(
    ("leg", "tuning"),
    [
        (Leg.BM25, FusionSettings(Method.SUM, alpha=1.0)),
        (Leg.VECTOR, FusionSettings(Method.SUM, alpha=0.0)),
        (Leg.BM25, FusionSettings(Method.RRF, bm25_weight=0.0)),
        (Leg.VECTOR, FusionSettings(Method.RRF, vector_weight=0.0)),
    ],
)
def test_a_leg_that_is_asked_alone_ranks_whatever_its_weight(leg, tuning):
    """So does a search by words when the embedder is gone, even if meaning has all the weight."""
    rows = [(1, "a", {leg: 0.2}), (2, "b", {leg: 0.9}), (3, "c", {leg: 0.5})]
    fused = fuse(ranked(rows), frozenset({leg}), tuning)
    assert [each.id for each, _ in fused] == ["b", "c", "a"]
    assert all(score > 0 for _, score in fused)


@pytest.mark.parametrize("method", Method)
def test_a_leg_that_was_not_asked_has_no_say(method):
    rows = [(1, "a", {Leg.BM25: 1.0, Leg.VECTOR: 1.0}), (2, "b", {Leg.BM25: 2.0})]
    fused = fuse(ranked(rows), frozenset({Leg.BM25}), FusionSettings(method))
    assert [each.id for each, _ in fused] == ["b", "a"]


@pytest.mark.parametrize("method", Method)
def test_no_candidates_give_no_hits(method):
    assert fuse([], BOTH, FusionSettings(method)) == []
