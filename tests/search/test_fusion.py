import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pegboard.model.items import ItemId, Leg
from pegboard.search.cosine_scale import CosineScale
from pegboard.search.fusion import (
    HALF_SURE,
    LEVEL,
    READ_AS,
    Candidate,
    Evidence,
    FusionSettings,
    Method,
    fuse,
    meaning_weight,
    words_scale,
)

relaxed = settings(max_examples=200, deadline=None)
WORDS = frozenset({Leg.BM25})
MEANING = frozenset({Leg.VECTOR})
BOTH = WORDS | MEANING
ALL = frozenset(Leg)
bm25 = st.floats(0, 100)
cosine = st.floats(-1, 1)
legs = st.sampled_from([ALL, BOTH, WORDS, MEANING, frozenset({Leg.FUZZY}), WORDS | {Leg.FUZZY}])
tunings = st.builds(
    FusionSettings,
    method=st.sampled_from(Method),
    alpha=st.floats(0, 1),
    k=st.integers(1, 1000),
    bm25_weight=st.floats(0, 100),
    vector_weight=st.floats(0, 100),
    fuzzy_weight=st.floats(0, 100),
    scale=st.builds(CosineScale, slope=st.floats(0.05, 20), offset=st.floats(-20, 1)),
)
shares = st.fixed_dictionaries({Leg.BM25: st.floats(0, 1), Leg.FUZZY: st.floats(0, 1)})


def evidence(rows, asked=BOTH, *, best=None, known=None, named=()):
    """Out of (key, id, scores): the places that the scores give, and the best of each leg."""
    rows = [
        (key, name, {g: s for g, s in scores.items() if g in asked}) for key, name, scores in rows
    ]
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
    found = [
        Candidate(key, ItemId(name), scores, {leg: places[leg][key] for leg in scores})
        for key, name, scores in rows
    ]
    over_words = asked - MEANING
    tops = {g: max((c.scores.get(g, 0.0) for c in found), default=0.0) for g in over_words}
    return Evidence(
        candidates=tuple(found),
        legs=asked,
        best=tops | (best or {}),
        known=dict.fromkeys(over_words, 1.0) | (known or {}),
        named=frozenset(named),
    )


def shelves():
    """Rows of (key, id, scores); an id may hang in two namespaces, a key is given once."""
    name = st.sampled_from(["a", "b", "c", "d"])
    scores = st.fixed_dictionaries(
        {}, optional={Leg.BM25: bm25, Leg.VECTOR: cosine, Leg.FUZZY: bm25}
    ).filter(bool)
    return st.lists(scores, min_size=1, max_size=8).flatmap(
        lambda made: st.tuples(*(name for _ in made)).map(
            lambda ids: [(key, ids[key], each) for key, each in enumerate(made)]
        )
    )


def place_and_value(scored, key):
    return next((p, each.fused) for p, each in enumerate(scored) if each.candidate.key == key)


def ids(scored):
    return [each.candidate.id for each in scored]


@relaxed
@given(rows=shelves(), asked=legs, tuning=tunings, known=shares)
def test_values_lie_between_zero_and_one_and_fall(rows, asked, tuning, known):
    scored = fuse(evidence(rows, asked, known=known), tuning)
    found = [each.fused for each in scored]
    assert len(found) == len(rows)
    assert found == sorted(found, reverse=True)
    for each in scored:
        assert 0.0 <= each.fused <= 1.0
        assert 0.0 <= each.meaning <= 1.0
        assert 0.0 <= each.words <= 1.0


@relaxed
@given(
    rows=shelves(), asked=legs, tuning=tunings, seed=st.randoms(), named=st.sets(st.integers(0, 7))
)
def test_the_order_does_not_depend_on_the_order_of_the_candidates(rows, asked, tuning, seed, named):
    found = evidence(rows, asked, named=named)
    shuffled = list(found.candidates)
    seed.shuffle(shuffled)
    assert fuse(found._replace(candidates=tuple(shuffled)), tuning) == fuse(found, tuning)


def test_equal_values_go_by_id():
    rows = [(key, name, {Leg.VECTOR: 0.5}) for key, name in enumerate("dbac")]
    assert ids(fuse(evidence(rows, MEANING), FusionSettings())) == list("abcd")


def test_one_id_in_two_namespaces_has_a_stable_order_too():
    found = evidence([(key, "same", {Leg.VECTOR: 0.5}) for key in range(5)])
    expected = fuse(found, FusionSettings())
    for seed in range(5):
        shuffled = list(found.candidates)
        random.Random(seed).shuffle(shuffled)
        assert fuse(found._replace(candidates=tuple(shuffled)), FusionSettings()) == expected


@relaxed
@given(rows=shelves(), asked=legs, tuning=tunings, named=st.sets(st.integers(0, 7)))
def test_what_the_query_names_comes_before_all_else(rows, asked, tuning, named):
    scored = fuse(evidence(rows, asked, named=named), tuning)
    said = [each.candidate.key in named for each in scored]
    assert said == sorted(said, reverse=True)


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
    """Monotone, all else staying as it was, the board's best included."""
    best = {Leg.BM25: 100.0, Leg.FUZZY: 100.0}
    key, name, scores = rows[pick % len(rows)]
    if leg is Leg.VECTOR:
        scores = {Leg.VECTOR: -1.0} | scores
        rows = [row if row[0] != key else (key, name, scores) for row in rows]
    low = scores.get(leg, 0.0)
    high = max(low, min(better, 1.0) if leg is Leg.VECTOR else better)
    raised = [row if row[0] != key else (key, name, {**scores, leg: high}) for row in rows]
    place, value = place_and_value(fuse(evidence(rows, asked, best=best), tuning), key)
    new_place, new_value = place_and_value(fuse(evidence(raised, asked, best=best), tuning), key)
    assert new_value >= value - 1e-12
    assert new_place <= place


@relaxed
@given(rows=shelves(), asked=legs, tuning=tunings, hidden=st.sets(st.integers(0, 7)))
def test_leaving_items_out_changes_no_value_and_no_order_of_the_sum(rows, asked, tuning, hidden):
    tuning = tuning._replace(method=Method.SUM)
    whole = evidence(rows, asked)
    fewer = tuple(each for each in whole.candidates if each.key not in hidden)
    expected = [each for each in fuse(whole, tuning) if each.candidate.key not in hidden]
    assert fuse(whole._replace(candidates=fewer), tuning) == expected


def test_the_sum_is_as_computed_by_hand():
    rows = [
        (1, "a", {Leg.BM25: 12.0, Leg.VECTOR: 0.5}),
        (2, "b", {Leg.BM25: 3.0, Leg.VECTOR: 0.0}),
        (3, "c", {Leg.VECTOR: 0.9}),
        (4, "d", {Leg.VECTOR: -0.4}),
    ]
    scored = fuse(evidence(rows, known={Leg.BM25: 0.5}), FusionSettings(Method.SUM, alpha=0.6))
    sure = 0.5 * 12 / (12 + HALF_SURE)
    expected = {
        "a": 0.4 * sure * 12 / (12 + LEVEL) + 0.6 * 0.5,
        "b": 0.4 * sure * 3 / (12 + LEVEL),
        "c": 0.6 * 0.9,
        "d": 0.0,
    }
    assert {each.candidate.id: each.fused for each in scored} == pytest.approx(expected)
    assert {each.candidate.id: each.seen for each in scored} == pytest.approx(expected)
    assert ids(scored) == ["c", "a", "b", "d"]


def test_an_item_whose_vector_is_still_to_come_is_weighed_by_its_words_alone():
    rows = [(1, "a", {Leg.BM25: 9.0}), (2, "b", {Leg.BM25: 9.0, Leg.VECTOR: 0.2})]
    waiting, ready = fuse(evidence(rows), FusionSettings(alpha=0.5))
    assert (waiting.candidate.id, waiting.alpha) == ("a", 0.0)
    assert waiting.fused == waiting.words == ready.words
    assert ready.alpha == 0.5


def test_guessed_words_count_less_than_the_same_words_as_written():
    rows = [(1, "a", {Leg.FUZZY: 10.0}), (2, "b", {Leg.BM25: 10.0})]
    scored = fuse(evidence(rows, ALL - MEANING), FusionSettings())
    assert ids(scored) == ["b", "a"]
    assert scored[1].words == pytest.approx(READ_AS * scored[0].words)


def test_of_equals_the_one_with_words_as_written_comes_first():
    rows = [(1, "a", {Leg.FUZZY: 9.0}), (2, "b", {Leg.FUZZY: 9.0, Leg.BM25: 0.001})]
    assert ids(fuse(evidence(rows, ALL), FusionSettings(alpha=1.0))) == ["b", "a"]


def test_reciprocal_ranks_are_as_computed_by_hand():
    tuning = FusionSettings(Method.RRF, k=60, bm25_weight=2.0, vector_weight=1.0)
    candidates = (
        Candidate(1, ItemId("a"), {}, {Leg.BM25: 1, Leg.VECTOR: 3}),
        Candidate(2, ItemId("b"), {}, {Leg.BM25: 2}),
        Candidate(3, ItemId("c"), {}, {Leg.VECTOR: 1}),
        Candidate(4, ItemId("d"), {Leg.BM25: 5.0}, {}),
    )
    scored = fuse(Evidence(candidates, BOTH, {}, {}), tuning)
    best = 3 / 61
    assert {each.candidate.id: each.fused for each in scored} == pytest.approx(
        {"a": (2 / 61 + 1 / 63) / best, "b": (2 / 62) / best, "c": (1 / 61) / best, "d": 0.0}
    )
    assert ids(scored) == ["a", "b", "c", "d"]


@pytest.mark.parametrize("method", Method)
def test_first_in_every_leg_is_the_most_there_is(method):
    first = (1, "a", {Leg.BM25: 100_000.0, Leg.VECTOR: 1.0})
    [only] = fuse(evidence([first]), FusionSettings(method))
    assert only.fused == pytest.approx(1.0, abs=1e-3)


def test_rounding_never_lifts_a_value_above_one():
    first = Candidate(1, ItemId("a"), {}, {Leg.BM25: 1, Leg.VECTOR: 1})
    tuning = FusionSettings(Method.RRF, k=60, bm25_weight=2.0, vector_weight=3.0)
    [only] = fuse(Evidence((first,), BOTH, {}, {}), tuning)
    assert only.fused == 1.0


def test_a_weak_best_match_by_words_stays_weak_and_a_strong_one_is_strong():
    def words_of_the_best(score):
        return score * words_scale(Leg.BM25, evidence([(1, "a", {Leg.BM25: score})]))

    assert words_of_the_best(0.1) < 0.02
    assert words_of_the_best(100.0) > 0.8
    assert words_of_the_best(200.0) > 0.85
    values = [words_of_the_best(score) for score in (0.0, 0.1, 1, 5, 20, 100)]
    assert values == sorted(values)


def test_the_fewer_of_its_words_the_board_knows_the_less_a_query_goes_by_words():
    def words_if(share):
        found = evidence([(1, "a", {Leg.BM25: 9.0})], known={Leg.BM25: share})
        return fuse(found, FusionSettings())[0].words

    assert words_if(0.0) == 0.0
    assert words_if(0.25) < words_if(0.5) < words_if(1.0)


@pytest.mark.parametrize(("raw", "expected"), [(-1.0, 0.0), (0.0, 0.0), (0.3, 0.3), (1.0000001, 1)])
def test_a_cosine_is_taken_as_it_is_within_its_bounds(raw, expected):
    [only] = fuse(evidence([(1, "a", {Leg.VECTOR: raw})], MEANING), FusionSettings())
    assert only.meaning == only.fused == expected


def test_meaning_has_its_weight_only_where_both_sides_were_asked():
    tuning = FusionSettings(alpha=0.7)
    assert meaning_weight(BOTH, tuning) == meaning_weight(ALL, tuning) == 0.7
    assert meaning_weight(MEANING, tuning) == 1.0
    assert meaning_weight(WORDS, tuning) == meaning_weight(ALL - MEANING, tuning) == 0.0


@pytest.mark.parametrize(
    ("leg", "tuning"),
    [
        (Leg.BM25, FusionSettings(Method.SUM, alpha=1.0)),
        (Leg.FUZZY, FusionSettings(Method.SUM, alpha=1.0)),
        (Leg.VECTOR, FusionSettings(Method.SUM, alpha=0.0)),
        (Leg.BM25, FusionSettings(Method.RRF, bm25_weight=0.0)),
        (Leg.VECTOR, FusionSettings(Method.RRF, vector_weight=0.0)),
        (Leg.FUZZY, FusionSettings(Method.RRF, fuzzy_weight=0.0)),
    ],
)
def test_a_leg_that_is_asked_alone_ranks_whatever_its_weight(leg, tuning):
    """So does a search by words when the embedder is gone, even if meaning has all the weight."""
    rows = [(1, "a", {leg: 0.2}), (2, "b", {leg: 0.9}), (3, "c", {leg: 0.5})]
    scored = fuse(evidence(rows, frozenset({leg})), tuning)
    assert ids(scored) == ["b", "c", "a"]
    assert all(each.fused > 0 for each in scored)


@pytest.mark.parametrize("method", Method)
def test_no_candidates_give_no_hits(method):
    assert fuse(evidence([]), FusionSettings(method)) == []
