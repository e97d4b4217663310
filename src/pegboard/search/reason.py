"""Why a hit is a hit, in one line."""

from collections.abc import Mapping
from functools import lru_cache

from pegboard.model.items import Item, Leg, MatchType
from pegboard.search.fusion import Candidate
from pegboard.search.query import Query
from pegboard.text import Passage, index_fields, parameters, terms

SEMANTIC_FLOOR = 0.25
"""A cosine below this says nothing: unrelated texts reach it too."""
ENOUGH = 250
"""Letters of each text that a reason looks at."""


def match_type(candidate: Candidate) -> MatchType:
    by_words = candidate.scores.get(Leg.BM25, 0.0) > 0
    by_meaning = candidate.scores.get(Leg.VECTOR, 0.0) >= SEMANTIC_FLOOR
    if by_words and by_meaning:
        return MatchType.BOTH
    if by_words:
        return MatchType.KEYWORD
    if candidate.scores.get(Leg.FUZZY, 0.0) > 0:
        return MatchType.FUZZY
    return MatchType.SEMANTIC


def reason(
    candidate: Candidate,
    item: Item,
    query: Query,
    read_as: Mapping[str, tuple[str, ...]],
    *,
    named: bool,
    titled: bool = False,
    passage: Passage | None = None,
) -> str:
    """With the passage of the item's text that it was found by, if it is not the item itself."""
    parts = ["its name is the query"] if named else ["its title is the query"] if titled else []
    if shared := _shared_words(item, query, passage):
        parts.append("shares " + ", ".join(f"“{word}”" for word in shared))
    parts += _read_words(item, read_as)
    cosine = candidate.scores.get(Leg.VECTOR)
    if cosine is not None:
        parts.append(f"meaning {_nearness(cosine)} ({cosine:.2f})")
    if passage is not None:
        parts.append(f"found in “{passage.heading}”" if passage.heading else "found in its text")
    return "; ".join(parts) or "no leg is sure of it"


def fields_with(item: Item, wanted: frozenset[str]) -> dict[str, tuple[str, ...]]:
    """The terms that an item has, by the field they stand in."""
    found = {
        name: tuple(sorted(wanted.intersection(text.split())))
        for name, text in index_fields(item)._asdict().items()
    }
    return {name: held for name, held in found.items() if held}


def _shared_words(item: Item, query: Query, passage: Passage | None) -> list[str]:
    """The reader's own words, not the stems that were matched, at most five."""
    wanted = set(query.terms)
    held = wanted.intersection(_first_terms(item))
    if passage is not None:
        held |= wanted.intersection(terms(f"{passage.heading} {passage.told}"))
    shared = [word for word, parts in _words_and_terms(query.text) if not held.isdisjoint(parts)]
    return list(dict.fromkeys(word.strip(".,;:!?\"'()").lower() for word in shared))[:5]


def _first_terms(item: Item) -> list[str]:
    """Of a long item only the beginning: this is a hint, and it is worked out for every hit."""
    told = " ".join(f"{name} {text}" for name, text in parameters(item.input_schema))
    labels = (item.name, item.category, item.subcategory, *item.tags, *item.aliases, *item.keywords)
    return terms(" ".join((*labels, item.description[:ENOUGH], told[:ENOUGH], item.body[:ENOUGH])))


@lru_cache(maxsize=32)
def _words_and_terms(text: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Once for a query, not once for each of its hits."""
    return tuple((word, tuple(terms(word))) for word in text.split())


def _read_words(item: Item, read_as: Mapping[str, tuple[str, ...]]) -> list[str]:
    if not read_as:
        return []
    held = set(_first_terms(item))
    found = [
        (word, next((each for each in known if held.intersection(terms(each))), None))
        for word, known in read_as.items()
    ]
    return [f"“{word}” read as “{known}”" for word, known in found if known][:5]


def _nearness(cosine: float) -> str:
    if cosine >= 0.6:
        return "very close"
    if cosine >= 0.4:
        return "close"
    return "related" if cosine >= SEMANTIC_FLOOR else "far"
