"""What is on the board, in few words: sources, categories, and how many items each has."""

from collections import Counter
from collections.abc import Iterator, Sequence

from pegboard.model.calls import CensusLine
from pegboard.search.budget import tokens
from pegboard.serve.mcp.replies import one_line
from pegboard.text import clipped

MOST_TOKENS = 120
MOST_SOURCES = 8
LONGEST_NAME = 40
EMPTY = "The board is empty."
NONE = "(none)"
"""What stands where there is no name."""


def census(lines: Sequence[CensusLine]) -> str:
    """One line, at most `MOST_TOKENS` whatever the board holds; the largest categories first."""
    sources: Counter[str] = Counter()
    categories: Counter[str] = Counter()
    for line in lines:
        sources[line.source] += line.items
        categories[line.category] += line.items
    if not sources:
        return EMPTY
    ranked = _ranked(categories)
    told = ""
    for text in _growing(sum(sources.values()), _ranked(sources), ranked):
        if told and tokens(text) > MOST_TOKENS:
            break
        told = text
    return told


def _growing(
    total: int, sources: Sequence[tuple[str, int]], categories: Sequence[tuple[str, int]]
) -> Iterator[str]:
    """The census with ever more of it told."""
    head = f"On the board: {total:,} {'item' if total == 1 else 'items'}"
    yield f"{head}."
    for shown in range(1, min(len(sources), MOST_SOURCES) + 1):
        told = f"{head} ({_listed(sources, shown)})"
        yield f"{told}."
    for shown in range(1, len(categories) + 1):
        yield f"{told}. Categories: {_listed(categories, shown)}."


def _listed(counts: Sequence[tuple[str, int]], shown: int) -> str:
    more = f" and {len(counts) - shown:,} more" if shown < len(counts) else ""
    return ", ".join(f"{label(name)} {count:,}" for name, count in counts[:shown]) + more


def _ranked(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda each: (-each[1], each[0]))


def label(name: str) -> str:
    """A name that some source made up, fit to stand in a sentence of ours."""
    return clipped(one_line(name), LONGEST_NAME) or NONE


def categories_of(labels: str | Sequence[str]) -> tuple[str, ...]:
    """One category or several, as they were told: what has none is asked for by what that says."""
    given = (labels,) if isinstance(labels, str) else labels
    return tuple("" if each == NONE else each for each in given)
