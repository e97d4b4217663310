"""One ranking out of several legs. Pure, monotone in every leg, and stable: equal ones go by id.

Two ways, by setting:

- `sum`: meaning and words, each in 0..1, weighted by `alpha`. Meaning is the cosine, on the scale
  of the packaged model. Words are the BM25 score as a share of the board's best for this query,
  times how sure words can be here: sure if the board knows the query's words and its best match is
  strong. So on a query that paraphrases everything the words stand back, and on one that names
  things they decide. No filter changes these numbers. Measured on seven sets it beats RRF and each
  leg (benchmarks/README.md).
- `rrf`: reciprocal rank fusion, scaled so that first place in every leg is 1.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import NamedTuple

from pegboard.model.items import ItemId, Leg
from pegboard.search.cosine_scale import CosineScale


class Method(StrEnum):
    SUM = "sum"
    RRF = "rrf"


class FusionSettings(NamedTuple):
    method: Method = Method.SUM
    alpha: float = 0.5
    """The weight of meaning; words get the rest."""
    k: int = 60
    bm25_weight: float = 1.0
    vector_weight: float = 1.0
    fuzzy_weight: float = 0.5
    scale: CosineScale = CosineScale()
    """Of the model that is searched by. No setting, but known with them."""


LEVEL = 4.0
"""Added to the best BM25 score before others are held against it: a weak best stays weak."""
HALF_SURE = 16.0
"""With a best BM25 score of this size, words count for half."""
READ_AS = 0.8
"""What words count that were not written but read as others."""


class Candidate(NamedTuple):
    """An item that some leg found, with its score and place in each leg that knows it."""

    key: int
    id: ItemId
    scores: Mapping[Leg, float]
    ranks: Mapping[Leg, int]


class Evidence(NamedTuple):
    """All that the legs say to one query, before anything is weighed."""

    candidates: tuple[Candidate, ...]
    legs: frozenset[Leg]
    """Those that were asked."""
    best: Mapping[Leg, float]
    """The best score on the whole board in each leg over words, whatever the filters."""
    known: Mapping[Leg, float]
    """The share of the query's words that each of them could look for."""
    named: frozenset[int] = frozenset()
    """Items whose whole name the query is."""


class Scored(NamedTuple):
    candidate: Candidate
    alpha: float
    """How much meaning weighs here: nothing for an item whose vector is still to come."""
    meaning: float
    words: float
    fused: float
    """What the ranking goes by."""
    value: float
    """The evidence for it on a scale that no setting changes: what its score goes by."""

    @property
    def seen(self) -> float:
        """Meaning and words together, by their weights."""
        return self.alpha * self.meaning + (1 - self.alpha) * self.words


def fuse(evidence: Evidence, settings: FusionSettings) -> list[Scored]:
    """Candidates with a value in 0..1, best first; those that the query names before all others."""
    weigh = _weigher(evidence, settings)
    scored = [weigh(each) for each in evidence.candidates]
    return sorted(
        scored,
        key=lambda each: (
            each.candidate.key not in evidence.named,
            -each.fused,
            each.candidate.scores.get(Leg.BM25, 0.0) <= 0,  # words as written before guessed ones
            each.candidate.id,
            each.candidate.key,
        ),
    )


def _weigher(evidence: Evidence, settings: FusionSettings) -> Callable[[Candidate], Scored]:
    alpha = meaning_weight(evidence.legs, settings)
    usual = meaning_weight(evidence.legs, FusionSettings())
    only_meaning = evidence.legs == {Leg.VECTOR}
    written = words_scale(Leg.BM25, evidence)
    read = READ_AS * words_scale(Leg.FUZZY, evidence)

    def weigh(each: Candidate) -> Scored:
        scores = each.scores
        cosine = scores.get(Leg.VECTOR)
        judged = cosine is not None or only_meaning
        own, plain = (alpha, usual) if judged else (0.0, 0.0)
        meaning = 0.0 if cosine is None else settings.scale.meaning(cosine)
        words = max(written * scores.get(Leg.BM25, 0.0), read * scores.get(Leg.FUZZY, 0.0), 0.0)
        value = plain * meaning + (1 - plain) * words
        by_places = settings.method is Method.RRF
        fused = (
            _rrf(each, evidence.legs, settings) if by_places else own * meaning + (1 - own) * words
        )
        return Scored(each, own, meaning, words, fused, value)

    return weigh


def words_scale(leg: Leg, evidence: Evidence) -> float:
    """What takes a score of a leg over words into 0..1."""
    best = evidence.best.get(leg, 0.0)
    if best <= 0:
        return 0.0
    sure = evidence.known.get(leg, 0.0) * best / (best + HALF_SURE)
    return sure / (best + LEVEL)


def meaning_weight(legs: frozenset[Leg], settings: FusionSettings) -> float:
    """`alpha`, unless only one side was asked."""
    if Leg.VECTOR not in legs:
        return 0.0
    return settings.alpha if len(legs) > 1 else 1.0


def _rrf(each: Candidate, legs: frozenset[Leg], settings: FusionSettings) -> float:
    """The sum of weight / (k + rank), as a share of what first place in every leg would give."""
    weights = {
        Leg.BM25: settings.bm25_weight,
        Leg.VECTOR: settings.vector_weight,
        Leg.FUZZY: settings.fuzzy_weight,
    }
    total = sum(weights[leg] for leg in legs)
    first = settings.k + 1
    found = sum(
        (weights[leg] / total if total else 1 / len(legs)) * first / (settings.k + each.ranks[leg])
        for leg in sorted(legs)
        if leg in each.ranks
    )
    return min(found, 1.0)
