"""Scale of a model's cosines: where they lie, on the scale of the packaged model's.

Weights, trees and curves of the ranking were fitted to the cosines of the packaged model. Other
models put theirs elsewhere, some all in 0.7..1, so a search maps them before it weighs them.
"""

from collections.abc import Sequence
from math import fsum, sqrt
from typing import NamedTuple

NEAREST = 10
"""Items of each question that a scale is fitted on: those that a search would weigh."""
LEAST_SPREAD = 1e-4
"""Standard deviation of cosines below which a model tells nothing apart."""
LEAST_SLOPE = 0.05
"""A slope below which more of one cosine is not more of the other."""


class CosineScale(NamedTuple):
    """An increasing line. The default leaves cosines as they are."""

    slope: float = 1.0
    offset: float = 0.0

    def meaning(self, cosine: float) -> float:
        """Return the cosine on the scale of the packaged model, in 0..1."""
        return min(max(self.slope * cosine + self.offset, 0.0), 1.0)


def fit_scale(
    own: Sequence[Sequence[float]], reference: Sequence[Sequence[float]]
) -> CosineScale | None:
    """Fit the line that takes a model's own cosines to those of the packaged model.

    Both have a row for each question and a column for each item. The line is the mean of two. One
    gives the best cosines of the questions the same mean and spread; it trusts a weak model like
    the packaged one. The other predicts the packaged cosines of the items nearest by the own ones;
    it is flat for a weak model, and refuses too much. None if the cosines do not grow together.
    """
    best = _matched([max(row, default=0.0) for row in own], [max(row) for row in reference])
    near, other = [], []
    for row, there in zip(own, reference, strict=True):
        for place in sorted(range(len(row)), key=lambda place: -row[place])[:NEAREST]:
            near.append(row[place])
            other.append(there[place])
    predicted = _regressed(near, other)
    if best is None or predicted is None:
        return None
    slope, offset = (round((a + b) / 2, 4) for a, b in zip(best, predicted, strict=True))
    return CosineScale(slope, offset)


class _Moments(NamedTuple):
    """Means, variances and covariance of pairs."""

    mean_x: float
    mean_y: float
    xx: float
    yy: float
    xy: float

    def line(self, slope: float) -> CosineScale | None:
        """Return the line of this slope through the means; None if it hardly grows."""
        if not slope >= LEAST_SLOPE:  # NaN is refused as well
            return None
        return CosineScale(slope, self.mean_y - slope * self.mean_x)


def _moments(x: Sequence[float], y: Sequence[float]) -> _Moments | None:
    """Return None if the values of x do not differ."""
    count = len(x) or 1
    mean_x, mean_y = fsum(x) / count, fsum(y) / count
    xx = fsum((each - mean_x) ** 2 for each in x) / count
    yy = fsum((each - mean_y) ** 2 for each in y) / count
    xy = fsum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True)) / count
    return _Moments(mean_x, mean_y, xx, yy, xy) if xx > LEAST_SPREAD**2 else None


def _matched(x: Sequence[float], y: Sequence[float]) -> CosineScale | None:
    """Return the increasing line that gives x the mean and the spread of y."""
    found = _moments(x, y)
    return found and found.line(sqrt(found.yy / found.xx))


def _regressed(x: Sequence[float], y: Sequence[float]) -> CosineScale | None:
    """Return the least squares line of y on x."""
    found = _moments(x, y)
    return found and found.line(found.xy / found.xx)
