"""Near-duplicates: items that say almost the same under almost the same name."""

from collections.abc import Sequence

from pegboard.model.items import Item
from pegboard.text import prose, terms

ALIKE = 0.8
"""The share of their terms that two items must have in common."""


def groups(items: Sequence[Item]) -> list[list[int]]:
    """Places of items, each group led by its first; the leaders are not alike one another."""
    held = [_held(item.name, item.description) for item in items]
    found: list[list[int]] = []
    for place, own in enumerate(held):
        for group in found:
            if _share(own, held[group[0]]) >= ALIKE:
                group.append(place)
                break
        else:
            found.append([place])
    return found


def likeness(one: tuple[str, str], other: tuple[str, str]) -> float:
    """Of two items, by name and description: the share of their terms that both have."""
    return _share(_held(*one), _held(*other))


def _held(name: str, description: str) -> frozenset[str]:
    return frozenset(terms(f"{name} {prose(description)}"))


def _share(a: frozenset[str], b: frozenset[str]) -> float:
    return len(a & b) / len(a | b) if a or b else 1.0
