"""Order the candidates of a question: fuse the retrievers, then rerank the best."""

from collections.abc import Sequence
from typing import NamedTuple

from pegboard.board.find.gathering import Gathered
from pegboard.model.items import Leg
from pegboard.ports.store import Store
from pegboard.search.fusion import FusionSettings, Method, Scored, fuse
from pegboard.search.query import Query
from pegboard.search.ranker import Question, Signals, parse_card, rank_values

RANKED = 30
"""Candidates that are compared with the question, by fused value. Comparing all takes half as long
again and changes the first ten of 3 % of the questions (`benchmarks/ranker_cost.py`)."""


class Order(NamedTuple):
    """Candidates, best first."""

    scored: list[Scored]
    titled: frozenset[int] = frozenset()
    """Items whose whole title the query is."""
    others: Sequence[Scored] = ()
    """Candidates that were not ranked: too many had a higher fused value."""


def ranked_candidates(
    store: Store, query: Query, gathered: Gathered, fusion: FusionSettings, most: int = RANKED
) -> Order:
    """Fuse the retrievers; items that the query names, or whose title it is, come first.

    Where both were asked, comparing the query with names, titles and verbs corrects the values of
    the `most` best candidates, and their places where places come from sums.
    """
    evidence, ready = gathered.evidence, gathered.ready
    scored = fuse(evidence, fusion)
    hybrid = is_hybrid(evidence.legs)
    others: Sequence[Scored] = ()
    if hybrid:
        scored, others = scored[:most], scored[most:]
    keys = [each.candidate.key for each in scored]
    texts = dict(ready.cards) if ready else {}
    texts |= store.index.cards([key for key in keys if key not in texts])
    cards = [parse_card(texts.get(key, "")) for key in keys]
    wanted = query.name_key
    titled = frozenset(
        key for key, card in zip(keys, cards, strict=True) if wanted and card.title_key == wanted
    )
    named = evidence.named | titled
    if not hybrid:
        scored.sort(key=lambda each: each.candidate.key not in named)
        return Order(scored, titled)
    signals = [Signals(each.meaning, each.words, each.value) for each in scored]
    question = ready.question if ready else Question(query, gathered.read_as)
    values = rank_values(question, cards, signals)
    found = [_corrected(each, value, fusion) for each, value in zip(scored, values, strict=True)]
    found.sort(key=lambda each: (each.candidate.key not in named, -each.fused, each.candidate.id))
    return Order(found, titled, others)


def _corrected(each: Scored, value: float, fusion: FusionSettings) -> Scored:
    if fusion.method is Method.RRF:
        return each._replace(value=value)
    return each._replace(value=value, fused=each.fused + value - each.value)


def is_hybrid(legs: frozenset[Leg]) -> bool:
    return Leg.VECTOR in legs and len(legs) > 1
