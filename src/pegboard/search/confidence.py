"""Two probabilities of a hit: that it fits the request at all, and that it is the right one.

The *fit* says whether the board has a tool for the request: it grows with the evidence for the
item and falls with the size of the board, because among many items one resembles any question. The
*score* is the fit times the share of the item among its rivals: of five hits with equal evidence,
none is likely to be the right one.

The parameters of each set of retrievers were fitted on questions that boards can and cannot serve
(`training/calibration.py`) and belong to the packaged model.
"""

import json
import math
from collections.abc import Sequence
from functools import cache
from operator import mul
from pathlib import Path
from typing import NamedTuple

from pegboard.model.items import Leg

FILE = Path(__file__).with_name("calibration.json")
RIVALS = 20
"""Candidates that share in the probability: a fixed number, so that a limit changes no score."""
FIELD, NECK = 10.0, 100.0
"""How fast the weight of a rival falls with the distance of its evidence: slowly for the whole
field of rivals, fast for those that are level with the item."""
CROWDED = 2.5
"""The logarithm of the weight of level rivals from which on more of them change nothing."""
_NARROWER = NECK / FIELD
MOST_CROWDED = 50.0
"""Bound of the logarithm of a rival's weight, against overflow."""
FURTHEST_BEHIND, FURTHEST_AHEAD = -0.1, 0.3
"""Bounds of the lead over the best rival."""
SMALLEST_BOARD = 200
"""Boards with fewer items count as that many: on them, one resemblance proves as little."""
NAMED = 0.9
"""The least score of the items together that are asked for by their name."""
WORDS_ALONE = 0.2
"""The least fit of an item that was found by keywords alone: they cannot say that it does not."""


class Curve(NamedTuple):
    """The parameters for one set of retrievers. Each logit is a sum of its terms."""

    offset: float
    slope: float
    """Of the evidence."""
    size: float
    """Of the logarithm of the board's size."""
    served: float
    """Added for the score: most questions are asked where they can be served."""
    share_offset: float
    share_fit: float
    share_field: float
    """Of the rivals within reach, negative like the next: a rival never makes an item likelier."""
    share_level: float
    """Of the rivals with nearly the same evidence."""
    share_lead: float
    """Of the lead over the best rival."""


class Rated(NamedTuple):
    fit: float
    score: float


@cache
def curves() -> dict[str, Curve]:
    return {name: Curve(**found) for name, found in json.loads(FILE.read_text("utf-8")).items()}


def curve_of(legs: frozenset[Leg]) -> Curve:
    if Leg.VECTOR not in legs:
        return curves()["keyword"]
    return curves()["hybrid" if len(legs) > 1 else "vector"]


LEAST_LOGIT, MOST_LOGIT = -6.0, 12.0
"""Bounds beyond which more evidence says nothing more about which item is right."""


def sigmoid(logit: float) -> float:
    return 1 / (1 + math.exp(-min(max(logit, -500.0), 500.0)))


def rated(
    curve: Curve, rivals: Sequence[float], value: float, own: float, log_size: float
) -> Rated:
    """Rate an item by its evidence; `own` is the one of the rivals' values that is its own.

    `rivals` come from `nearest_rivals`.
    """
    logit = curve.offset + curve.slope * value + curve.size * log_size
    among = share_terms(logit, rivals, value, own)
    weights = curve.share_offset, curve.share_fit, curve.share_field, curve.share_level
    share = sum(map(mul, (*weights, curve.share_lead), among))
    return Rated(sigmoid(logit), sigmoid(logit + curve.served) * sigmoid(share))


def nearest_rivals(values: Sequence[float]) -> list[float]:
    return sorted(values, reverse=True)[:RIVALS]


def share_terms(
    logit: float, rivals: Sequence[float], value: float, own: float
) -> tuple[float, float, float, float, float]:
    """The terms of an item's share among its rivals, in the order of the curve's weights.

    `rivals`: the values of the nearest rivals, best first, with the item's own if it is among them.
    """
    others = list(rivals)
    if own in others:
        others.remove(own)
    lead = value - others[0] if others else FURTHEST_AHEAD
    field, level = crowds(others, value)
    return (
        1.0,
        min(max(logit, LEAST_LOGIT), MOST_LOGIT),
        field,
        min(level, CROWDED),
        min(max(lead, FURTHEST_BEHIND), FURTHEST_AHEAD),
    )


def crowds(others: Sequence[float], value: float) -> tuple[float, float]:
    """The logarithms of the number of rivals in the whole field, and level with the item.

    Each counts by its weight, `exp(FIELD * distance)` and `exp(NECK * distance)`, and the item
    itself as one.
    """
    exp = math.exp
    weights = [exp(min(FIELD * (each - value), MOST_CROWDED)) for each in others]
    level = sum([weight**_NARROWER for weight in weights])
    return math.log(1.0 + sum(weights)), math.log(1.0 + level)


class Rater:
    """Rates the candidates of one query."""

    def __init__(self, values: Sequence[float], legs: frozenset[Leg], items: int) -> None:
        self._rivals = nearest_rivals(values)
        self._curve = curve_of(legs)
        self._words_alone = Leg.VECTOR not in legs
        self._size = math.log(max(items, SMALLEST_BOARD) / SMALLEST_BOARD)

    def rate(self, value: float, own: float) -> Rated:
        """Rate an item by its evidence with boosts; `own` is its evidence without them."""
        found = rated(self._curve, self._rivals, value, own, self._size)
        if self._words_alone:
            return found._replace(fit=WORDS_ALONE + (1 - WORDS_ALONE) * found.fit)
        return found
