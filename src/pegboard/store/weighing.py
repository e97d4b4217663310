"""BM25 as FTS5 of SQLite has it, for stores that weigh terms themselves."""

import math
from collections.abc import Mapping, Sequence
from typing import TypeAlias

Alternatives: TypeAlias = "tuple[tuple[str, Alternatives], ...]"
"""An item has at least one of these terms, with one of the term's own alternatives, if any."""

MOST_PHRASES = 40
"""Bound on the terms of an expression: the text index opens a list of items for each."""
DEEPEST = 2
K1, B = 1.2, 0.75
"""How soon a term that comes often is enough, and how much the length of an item counts."""
EVEN = K1 * (1 - B)
"""What BM25 adds to a frequency, however long the item is."""
DIGITS = 9
"""A sum of the same numbers in another order is the same score."""


def weight(items: int, having: int) -> float:
    """How telling a term is: inverse document frequency, times what BM25 adds."""
    odds = (items - having + 0.5) / (having + 0.5) if items > having else 0.0
    return (K1 + 1) * (max(math.log(odds), 1e-6) if odds > 0 else 1e-6)


def alternatives(weights: Mapping[str, float], least: float) -> Alternatives:
    """What an item must have for its score to exceed `least`; empty if no item can.

    An item scores less than the weights of its terms together. Few items have the terms that this
    asks for, so scoring them finds the best one. The expression leaves no such item out. It is cut
    short where it would be long, and then lets others in.
    """
    heaviest = sorted(weights.items(), key=lambda each: (-each[1], each[0]))
    found: Alternatives = ()
    for depth in range(DEEPEST + 1):
        deeper = _alternatives(heaviest, least, depth)
        if depth and _phrases(deeper) > MOST_PHRASES:
            break
        found = deeper
    return found


def _alternatives(heaviest: Sequence[tuple[str, float]], least: float, depth: int) -> Alternatives:
    found: list[tuple[str, Alternatives]] = []
    for place, (term, own) in enumerate(heaviest):
        if sum(weight for _, weight in heaviest[place:]) < least:
            break  # nor can any that has only lighter terms
        if own >= least or not depth:
            found.append((term, ()))
        elif others := _alternatives(heaviest[place + 1 :], least - own, depth - 1):
            found.append((term, others))
    return tuple(found)


def _phrases(found: Alternatives) -> int:
    return sum(1 + _phrases(others) for _, others in found)


def tilt(items: int, terms: int) -> float:
    """How much each term of an item counts against it, by how many one has on the average."""
    return K1 * B * max(items, 1) / max(terms, 1)
