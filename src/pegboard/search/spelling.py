"""Misspelled and unfinished words, read as words the board knows. Pure."""

from collections.abc import Sequence

SHORTEST = 3
"""Of fewer letters, every word begins some other; of only so many, it is near some other."""
LONG = 8
"""From this length on a word may be two typing errors away."""
MOST_READINGS = 3
MOST_LOOKED_UP = 10


def nearest(word: str, near: Sequence[str]) -> tuple[str, ...]:
    """The words that this one may be a misspelling of."""
    allowed = 2 if len(word) >= LONG else 1
    if len(word) <= SHORTEST:
        return ()
    measured = [(distance(word, each, allowed), each) for each in near if len(each) >= SHORTEST]
    close = sorted((d, each[0] != word[0], each) for d, each in measured if 0 < d <= allowed)
    return tuple(each for d, _, each in close if d == close[0][0])[:MOST_LOOKED_UP]


def endings(word: str, beginning: Sequence[str]) -> tuple[str, ...]:
    """The words that this one may be the beginning of, the shortest first."""
    longer = sorted((len(each), each) for each in beginning if each != word)
    return tuple(each for _, each in longer)[:MOST_LOOKED_UP]


def distance(a: str, b: str, most: int) -> int:
    """Letters put in, left out, changed or swapped with a neighbour; `most + 1` if more."""
    if abs(len(a) - len(b)) > most:
        return most + 1
    before: list[int] = []
    last = list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        row = [i]
        for j, y in enumerate(b, start=1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
        before, last = last, row
    return last[-1]
