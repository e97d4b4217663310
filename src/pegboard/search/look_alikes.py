"""Near-duplicates: items that say almost the same under almost the same name."""

from collections.abc import Sequence

from pegboard.model import Item
from pegboard.text import prose, terms

ALIKE = 0.8
"""The share of their terms that two items must have in common."""


def groups(items: Sequence[Item]) -> list[list[int]]:
    """Places of items, each group led by its first; the leaders are not alike one another."""
    held = [frozenset(terms(f"{item.name} {prose(item.description)}")) for item in items]
    found: list[list[int]] = []
    for place, own in enumerate(held):
        for group in found:
            if _likeness(own, held[group[0]]) >= ALIKE:
                group.append(place)
                break
        else:
            found.append([place])
    return found


def _likeness(a: frozenset[str], b: frozenset[str]) -> float:
    return len(a & b) / len(a | b) if a or b else 1.0
