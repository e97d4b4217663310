"""Which passage of a long text answers a query, and how a hit names it."""

from collections.abc import Sequence

from pegboard.formats.markdown import sentences
from pegboard.text import Passage, clipped, harmless, terms

LONGEST_EXCERPT = 160
LONGEST_HEADING = 80


def by_words(passages: Sequence[Passage], wanted: frozenset[str]) -> int:
    """The passage with the most of these terms; of several, and if none has any, the first."""
    counts = [len(wanted.intersection(terms(_own(each)))) for each in passages]
    return max(range(len(counts)), key=lambda place: (counts[place], -place), default=0)


def _own(passage: Passage) -> str:
    """Without the title, which all passages of the body have."""
    return f"{passage.heading or passage.label} {passage.told}"


def shown(passage: Passage, wanted: frozenset[str]) -> str:
    """Its heading, and the sentence that has the most of these terms, on one line."""
    said = [each for each in sentences(passage.told) if any(map(str.isalpha, each))]  # no "1."
    best = max(said, key=lambda each: len(wanted.intersection(terms(each))), default="")
    excerpt = clipped(harmless(best), LONGEST_EXCERPT)
    heading = clipped(harmless(passage.heading), LONGEST_HEADING)
    return f"{heading}: {excerpt}" if heading else excerpt
