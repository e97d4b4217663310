"""Small advantages for items that have proved themselves. They decide between equals, no more."""

import math
from collections.abc import Mapping
from typing import NamedTuple

HALF_LIFE_DAYS = 90.0
DAY = 86_400.0
MANY = 1_000.0
"""Used this often, an item gets the whole advantage of being used."""
MOST = 0.02
"""All together never more than this: a hit that is clearly better stays above."""


class Traits(NamedTuple):
    """What is known of an item apart from what it says about itself."""

    updated_at: float
    download_count: int
    merit: float
    """What it has proved, from -1 to 1 (`pegboard.quality`); 0 if nothing is known."""
    semantic_weight: float


class BoostSettings(NamedTuple):
    """What each may add to the fused value at most; 0 switches it off."""

    recency: float = 0.002
    quality: float = 0.01
    usage: float = 0.01
    semantic_weight: float = 0.01

    @property
    def off(self) -> bool:
        return not any(self)


def boosts(traits: Traits, settings: BoostSettings, now: float) -> Mapping[str, float]:
    """What each adds; those that add nothing are left out.

    Age is counted in whole days, so that an order holds from one moment to the next.
    """
    age = max(now // DAY - traits.updated_at // DAY, 0.0)
    parts = {
        "recency": settings.recency * 0.5 ** (age / HALF_LIFE_DAYS),
        "quality": settings.quality * min(max(traits.merit, -1.0), 1.0),
        "usage": settings.usage * _unit(math.log1p(traits.download_count) / math.log1p(MANY)),
        "semantic_weight": settings.semantic_weight * min(max(traits.semantic_weight - 1, -1), 1),
    }
    return {name: value for name, value in parts.items() if abs(value) >= 1e-6}


def total(parts: Mapping[str, float]) -> float:
    return min(max(sum(parts.values()), -MOST), MOST)


def _unit(value: float) -> float:
    return min(max(value, 0.0), 1.0)
