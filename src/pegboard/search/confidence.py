"""What a score means: how sure one can be, from 0 to 1, that this item serves the query.

A logistic curve over the evidence, one for each set of legs, fitted on queries that a board can
serve and on queries that it cannot (`benchmarks/calibrate.py`). It grows with the evidence, so it
never changes an order; and it holds no figure of one query or one board, so 0.7 is 0.7 everywhere,
as long as the packaged model makes the vectors: the cosines of another may lie elsewhere.
"""

import math
from typing import NamedTuple

from pegboard.model.items import Leg


class Curve(NamedTuple):
    middle: float
    """The evidence at which one half is reached."""
    steepness: float


CURVES = {
    frozenset({Leg.BM25, Leg.VECTOR}): Curve(0.23, 21.0),
    frozenset({Leg.VECTOR}): Curve(0.37, 16.6),
    frozenset({Leg.BM25}): Curve(0.12, 17.5),
}
NAMED = 0.9
"""The least score of an item that was asked for by its name, and the most of any other: what
stands first by its name is not to look less sure than what stands after it. So the upper fifth of
the curve is drawn together below it."""


def confidence(evidence: float, legs: frozenset[Leg], *, named: bool) -> float:
    sides = frozenset(Leg.VECTOR if leg is Leg.VECTOR else Leg.BM25 for leg in legs)
    curve = CURVES[sides]
    found = 1 / (1 + math.exp(-curve.steepness * (evidence - curve.middle)))
    return NAMED + (1 - NAMED) * found if named else min(found, NAMED - (1 - found) / 2)
