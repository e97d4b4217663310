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
from pathlib import Path
from typing import NamedTuple

from pegboard.model.items import Leg

FILE = Path(__file__).with_name("calibration.json")
RIVALS = 20
"""Candidates that share in the probability: a fixed number, so that a limit changes no score."""
SHARPNESS = 20.0
"""How fast the weight of a rival falls with the distance of its evidence."""
CROWDED = 2.5
"""The logarithm of the weight of rivals from which on more of them count less."""
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
    share_rivals: float
    share_far: float
    """Of the rivals beyond `CROWDED`: of two hits far behind the first, neither is impossible."""
    share_size: float


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
    """Rate an item by its evidence; `own` is the one of the rivals' values that is its own."""
    logit = curve.offset + curve.slope * value + curve.size * log_size
    crowded = crowd(rivals, value, own)
    share = (
        curve.share_offset
        + curve.share_fit * min(max(logit, LEAST_LOGIT), MOST_LOGIT)
        + curve.share_rivals * min(crowded, CROWDED)
        + curve.share_far * max(crowded - CROWDED, 0.0)
        + curve.share_size * log_size
    )
    return Rated(sigmoid(logit), sigmoid(logit + curve.served) * sigmoid(share))


def crowd(rivals: Sequence[float], value: float, own: float) -> float:
    """The logarithm of the number of rivals, each by its weight, with the item itself as one."""
    first = sorted(rivals, reverse=True)[:RIVALS]
    others = sum(math.exp(min(SHARPNESS * (each - value), 50.0)) for each in first)
    itself = math.exp(min(SHARPNESS * (own - value), 50.0)) if own in first else 0.0
    return math.log(max(1.0 + others - itself, 1.0))


class Rater:
    """Rates the candidates of one query."""

    def __init__(self, values: Sequence[float], legs: frozenset[Leg], items: int) -> None:
        self._rivals = sorted(values, reverse=True)[:RIVALS]
        self._curve = curve_of(legs)
        self._words_alone = Leg.VECTOR not in legs
        self._size = math.log(max(items, SMALLEST_BOARD) / SMALLEST_BOARD)

    def rate(self, value: float, own: float) -> Rated:
        """Rate an item by its evidence with boosts; `own` is its evidence without them."""
        found = rated(self._curve, self._rivals, value, own, self._size)
        if self._words_alone:
            return found._replace(fit=WORDS_ALONE + (1 - WORDS_ALONE) * found.fit)
        return found
