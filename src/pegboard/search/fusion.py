"""One ranking out of several. Pure, monotone in every leg, and stable: equal scores go by id.

Two ways, by setting:

- `sum`: a weighted sum of calibrated scores. Cosine is taken as it is; a BM25 score is divided by
  the best one of this query plus a constant, so that a weak best match stays weak. Measured on the
  seven sets this beats RRF on each of them (benchmarks/README.md), so it is the default.
- `rrf`: reciprocal rank fusion, scaled so that first place in every leg is 1.
"""

from collections.abc import Mapping, Set
from enum import StrEnum
from typing import NamedTuple

from pegboard.model import ItemId, Leg


class Method(StrEnum):
    SUM = "sum"
    RRF = "rrf"


class FusionSettings(NamedTuple):
    method: Method = Method.SUM
    alpha: float = 0.7
    """The weight of meaning; words get the rest."""
    k: int = 60
    bm25_weight: float = 1.0
    vector_weight: float = 1.0


EXACT_FLOOR = 0.9
"""The least score of an item that was asked for by its name."""

HALF_SURE = 8.0
"""A best BM25 score of this size counts for half."""


class Candidate(NamedTuple):
    """An item that some leg found, with its score and place in each leg that knows it."""

    key: int
    id: ItemId
    scores: Mapping[Leg, float]
    ranks: Mapping[Leg, int]


def fuse(
    candidates: list[Candidate], legs: frozenset[Leg], settings: FusionSettings
) -> list[tuple[Candidate, float]]:
    """Candidates with a score in 0..1, best first. `legs` are those that were asked."""
    if settings.method is Method.RRF:
        scored = [(each, _rrf(each, legs, settings)) for each in candidates]
    else:
        best = max((each.scores.get(Leg.BM25, 0.0) for each in candidates), default=0.0)
        scored = [(each, _sum(each, legs, settings, best)) for each in candidates]
    return sorted(scored, key=lambda pair: (-pair[1], pair[0].id, pair[0].key))


def prefer(ranked: list[tuple[Candidate, float]], exact: Set[int]) -> list[tuple[Candidate, float]]:
    """Items whose name is the query come before all others, in their own order."""
    raised = [
        (each, EXACT_FLOOR + (1 - EXACT_FLOOR) * score if each.key in exact else score)
        for each, score in ranked
    ]
    return sorted(
        raised, key=lambda pair: (pair[0].key not in exact, -pair[1], pair[0].id, pair[0].key)
    )


def calibrated(leg: Leg, score: float, best: float) -> float:
    """A leg's raw score in 0..1."""
    if leg is Leg.BM25:
        return max(score, 0.0) / (best + HALF_SURE)
    return min(max(score, 0.0), 1.0)


def _sum(each: Candidate, legs: frozenset[Leg], settings: FusionSettings, best: float) -> float:
    shares = _shares(legs, {Leg.BM25: 1.0 - settings.alpha, Leg.VECTOR: settings.alpha})
    return sum(
        share * calibrated(leg, each.scores.get(leg, 0.0), best) for leg, share in shares.items()
    )


def _rrf(each: Candidate, legs: frozenset[Leg], settings: FusionSettings) -> float:
    """The sum of weight / (k + rank), as a share of what first place in every leg would give."""
    weights = {Leg.BM25: settings.bm25_weight, Leg.VECTOR: settings.vector_weight}
    first = settings.k + 1
    found = sum(
        share * first / (settings.k + each.ranks[leg])
        for leg, share in _shares(legs, weights).items()
        if leg in each.ranks
    )
    return min(found, 1.0)


def _shares(legs: frozenset[Leg], weights: Mapping[Leg, float]) -> dict[Leg, float]:
    """The weights of the legs that were asked, adding up to 1; equal if all of them are 0."""
    total = sum(weights[leg] for leg in legs)
    return {leg: weights[leg] / total if total else 1 / len(legs) for leg in sorted(legs)}
