"""BM25 as FTS5 of SQLite has it, for stores that weigh terms themselves."""

import math

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


def tilt(items: int, terms: int) -> float:
    """How much each term of an item counts against it, by how many one has on the average."""
    return K1 * B * max(items, 1) / max(terms, 1)
