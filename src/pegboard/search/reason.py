"""Why a hit is a hit, in one line."""

from pegboard.model import Item, Leg, MatchType
from pegboard.search.fusion import Candidate
from pegboard.search.query import Query
from pegboard.text import index_fields, terms

SEMANTIC_FLOOR = 0.25
"""A cosine below this says nothing: unrelated texts reach it too."""


def match_type(candidate: Candidate) -> MatchType:
    by_words = candidate.scores.get(Leg.BM25, 0.0) > 0
    by_meaning = candidate.scores.get(Leg.VECTOR, 0.0) >= SEMANTIC_FLOOR
    if by_words and by_meaning:
        return MatchType.BOTH
    return MatchType.KEYWORD if by_words else MatchType.SEMANTIC


def reason(candidate: Candidate, item: Item, query: Query) -> str:
    parts = []
    if words := _shared_words(item, query):
        parts.append("shares " + ", ".join(f"“{word}”" for word in words))
    cosine = candidate.scores.get(Leg.VECTOR)
    if cosine is not None:
        parts.append(f"meaning {_nearness(cosine)} ({cosine:.2f})")
    return "; ".join(parts) or "no leg is sure of it"


def _shared_words(item: Item, query: Query) -> list[str]:
    """The reader's own words, not the stems that were matched, at most five."""
    held = set(" ".join(index_fields(item)).split())
    wanted = set(query.terms)
    shared = [
        word for word in query.text.split() if any(t in held and t in wanted for t in terms(word))
    ]
    return list(dict.fromkeys(word.strip(".,;:!?\"'()").lower() for word in shared))[:5]


def _nearness(cosine: float) -> str:
    if cosine >= 0.6:
        return "very close"
    if cosine >= 0.4:
        return "close"
    return "related" if cosine >= SEMANTIC_FLOOR else "far"
