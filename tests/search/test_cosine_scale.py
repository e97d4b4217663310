"""Scale of a model's cosines, fitted to those of the packaged model without labels."""

import math
import random

import pytest

from pegboard.model.items import Leg
from pegboard.search.cosine_scale import CosineScale, fit_scale
from pegboard.search.fusion import Candidate, Evidence, FusionSettings, fuse

RAISED = 0.7


def cosines(seed: int = 1, questions: int = 60, items: int = 40) -> list[list[float]]:
    """Rows as a model has them: one near item for each question, and others further away."""
    chance = random.Random(seed)
    rows = [[chance.gauss(0.15, 0.1) for _ in range(items)] for _ in range(questions)]
    for row in rows:
        row[chance.randrange(items)] = chance.uniform(0.2, 0.9)
    return rows


def raised(rows: list[list[float]]) -> list[list[float]]:
    return [[RAISED + (1 - RAISED) * each for each in row] for row in rows]


def noisy() -> list[list[float]]:
    noise = random.Random(3)
    return [[each + noise.gauss(0.0, 0.15) for each in row] for row in cosines()]


def test_without_a_calibration_a_cosine_is_left_as_it_is():
    assert CosineScale().meaning(0.37) == 0.37
    assert [CosineScale().meaning(each) for each in (-0.2, 1.2)] == [0.0, 1.0]


def test_the_packaged_model_is_its_own_scale():
    assert fit_scale(cosines(), cosines()) == CosineScale(1.0, 0.0)


def test_raised_cosines_are_taken_back_to_where_they_came_from():
    found = fit_scale(raised(cosines()), cosines())
    assert found is not None
    for cosine in (0.1, 0.4, 0.8):
        there = RAISED + (1 - RAISED) * cosine
        assert found.meaning(there) == pytest.approx(cosine, abs=0.01)


def test_a_scale_keeps_the_order_and_stays_within_0_and_1():
    found = fit_scale(noisy(), cosines())
    assert found is not None
    values = [found.meaning(step / 100 - 1) for step in range(201)]
    assert values == sorted(values)
    assert (values[0], values[-1] <= 1.0) == (0.0, True)


def test_the_same_cosines_give_the_same_scale():
    assert fit_scale(noisy(), cosines()) == fit_scale(noisy(), cosines())


def test_a_model_that_knows_less_is_trusted_less():
    found = fit_scale(noisy(), cosines())
    assert found is not None
    assert found.meaning(0.6) < 0.6


@pytest.mark.parametrize(
    "own",
    [
        [],
        [[]] * 60,
        [[0.9] * 40] * 60,
        [[math.nan] * 40] * 60,
        [[-each for each in row] for row in cosines()],
    ],
    ids=["no questions", "no items", "all equal", "not numbers", "the wrong way round"],
)
def test_cosines_that_tell_nothing_give_no_scale(own):
    assert fit_scale(own, cosines() if len(own) == 60 else []) is None


def test_fusion_weighs_cosines_on_the_scale_of_the_packaged_model():
    def value(cosine: float, scale: CosineScale) -> float:
        found = Candidate(1, "eval:a", {Leg.VECTOR: cosine}, {Leg.VECTOR: 1})
        evidence = Evidence((found,), frozenset((Leg.VECTOR, Leg.BM25)), {}, {})
        [only] = fuse(evidence, FusionSettings(scale=scale))
        return only.value

    assert value(0.85, CosineScale(2.0, -1.4)) == pytest.approx(value(0.3, CosineScale()))
