"""How a hit came by its score, for whoever wants to know."""

from collections.abc import Mapping
from typing import NamedTuple

from pegboard.model.answers import Hit, HitFact
from pegboard.model.items import Leg
from pegboard.search.boosts import total
from pegboard.text import terms, words

LEGS = {Leg.BM25.value: "words", Leg.FUZZY.value: "guessed words", Leg.VECTOR.value: "meaning"}


class LegLine(NamedTuple):
    name: str
    score: str
    place: str


class FieldLine(NamedTuple):
    name: str
    words: str


class Breakdown(NamedTuple):
    legs: tuple[LegLine, ...]
    parts: tuple[tuple[str, str], ...]
    """What is added up, by name."""
    fused: str
    score: str
    fields: tuple[FieldLine, ...]


def breakdown_of(hit: Hit, fact: HitFact | None, query: str) -> Breakdown:
    legs = tuple(
        LegLine(LEGS[leg], f"{found['score']:.2f}", _place(found))
        for leg, found in hit.breakdown.items()
        if leg in LEGS
    )
    if fact is None:
        return Breakdown(legs, (), "", f"{hit.score:.4f}", ())
    ranker = {"ranker": fact.ranker} if fact.ranker else {}
    boost = {"boosts": total(fact.boosts)}
    sides = {"meaning": fact.meaning, "words": fact.words} | ranker | boost
    ranked_by = [FieldLine("ranker", "; ".join(fact.ranked_by))] if fact.ranked_by else []
    return Breakdown(
        legs,
        tuple((name, f"{value:.3f}") for name, value in sides.items()),
        f"{fact.fused:.3f}",
        f"{hit.score:.4f}",
        (*_fields(fact.fields, query), *ranked_by),
    )


def _place(found: Mapping[str, float]) -> str:
    return f"{found['rank']:.0f}" if "rank" in found else "none"


def _fields(fields: Mapping[str, tuple[str, ...]], query: str) -> tuple[FieldLine, ...]:
    """Terms are stems; what a reader knows are the words they come from."""
    spelled = {term: word for word in reversed(words(query)) for term in terms(word)}
    return tuple(
        FieldLine(name, ", ".join(dict.fromkeys(spelled.get(term, term) for term in held)))
        for name, held in fields.items()
    )
