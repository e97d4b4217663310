"""Rerank the candidates of the retrievers by what their names, titles and parameters say.

A gradient-boosted ranker adds a correction to the fused value of each candidate. It was trained by
`training/ranker.py` on labelled questions and is kept in `ranker.json`: the trees, a table of how
often a request's verb leads to a tool's verb, and the weight of common words. Every feature is a
property of one question and one item, so neither filters nor hidden items change an order.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pegboard.search.query import EMPTY_STEMS, Query
from pegboard.text import stems, words
from pegboard.verbs import requested_verb, word_set

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FILE = Path(__file__).with_name("ranker.json")
SCALE = 20.0
"""The weight of the fused value in the ranking value; the trees were trained on top of it."""
CARD_LINES = 11
"""Lines of a ranking card. A card of another release is treated as empty."""
PREFIX_SHARE = 0.7
"""The share that an abbreviation counts: "repo" for "repository"."""
SHORTEST_PREFIX = 3
UNLIKELY = 3.0
"""Bound of the association of two verbs, as a logarithm of odds."""

FEATURES = (
    *("cosine", "words", "fused", "in_name", "in_title", "in_name_or_title", "in_description"),
    *("anywhere", "in_parameters", "in_parameter_texts", "in_labels", "of_name", "of_title"),
    *("more_in_name", "more_in_title", "verb", "method", "least_verb", "spelling", "pairs"),
    *("title_overlap", "own", "number", "in_path", "more_in_path"),
)
"""The columns of the ranker, in order. A test compares them with those in `ranker.json`."""
INCREASING = frozenset(FEATURES) - {"more_in_name", "more_in_title", "more_in_path"}
"""Features of which more is never worse; of the others, less is never worse."""

_OWN = frozenset(stems("my me mine myself i"))
_OWN_ITEM = frozenset(stems("authenticated current me my self own calling"))
_MANY = word_set("all every each list whole everything any entire")
_MANY_VERBS = word_set("list search")


class Card(NamedTuple):
    """The ranking card of an item (`pegboard.text.card`), parsed."""

    name: frozenset[str]
    title: frozenset[str]
    title_with_empty: frozenset[str]
    """The title's stems, with those that say nothing, such as "the"."""
    labels: frozenset[str]
    parameters: frozenset[str]
    parameter_texts: frozenset[str]
    description: frozenset[str]
    spelled: frozenset[str]
    verbs: tuple[str, ...]
    method: str
    number: int
    """1 for an item about many things, -1 for one about one thing, 0 if unknown."""
    path: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    title_key: str
    name_weight: float
    title_weight: float


class Tables(NamedTuple):
    weights: Mapping[str, float]
    """Inverse document frequencies of common stems."""
    rare: float
    """The weight of every other stem."""
    verbs: Mapping[str, Mapping[str, float]]
    """By the verb of a request and the verb of a tool: how often they meet, against chance."""
    unseen: Mapping[str, Mapping[str, float]]
    """The same for pairs that never met although both verbs are common."""


class _Trees(NamedTuple):
    """All trees, node by node. A leaf leads to itself."""

    feature: "NDArray[np.intp]"
    threshold: "NDArray[np.float32]"
    children: "NDArray[np.intp]"
    value: "NDArray[np.float64]"
    roots: "NDArray[np.intp]"
    depth: int


class Signals(NamedTuple):
    """The scores of one candidate by the retrievers."""

    cosine: float
    words: float
    fused: float


@cache
def _data() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(FILE.read_text("utf-8"))
    return found


@cache
def tables() -> Tables:
    data = _data()
    return Tables(data["weights"], data["rare"], data["verbs"], data["unseen"])


@lru_cache(maxsize=20_000)
def parse_card(text: str) -> Card:
    """Parse a card; an empty text gives an empty card."""
    lines = text.split("\n")
    if len(lines) != CARD_LINES:
        lines = [""] * CARD_LINES
    name, title = lines[0].split(), lines[1].split()
    telling = [stem for stem in name if stem not in EMPTY_STEMS] or name
    heading = [stem for stem in title if stem not in EMPTY_STEMS]
    verbs = tuple(lines[7].split())
    method, _, one = lines[8].partition(" ")
    many = any(verb in _MANY_VERBS for verb in verbs)
    name_set, title_set = frozenset(telling), frozenset(heading)
    return Card(
        name=name_set,
        title=title_set,
        title_with_empty=frozenset(title),
        labels=frozenset(lines[2].split()),
        parameters=frozenset(lines[3].split()),
        parameter_texts=frozenset(lines[4].split()),
        description=frozenset(lines[5].split()),
        spelled=frozenset(lines[6].split()),
        verbs=verbs,
        method=method,
        number={"many": 1, "one": -1}.get(one, 0) if method else int(many),
        path=frozenset(lines[9].split()),
        pairs=frozenset((*pairwise(telling), *pairwise(heading))),
        title_key=lines[10],
        name_weight=_total(name_set),
        title_weight=_total(title_set),
    )


def _total(found: frozenset[str]) -> float:
    known = tables()
    return sum(known.weights.get(stem, known.rare) for stem in found) or 1.0


class Question:
    """The part of a query that all its candidates are compared with."""

    def __init__(self, query: Query, known: Tables | None = None) -> None:
        known = known or tables()
        said = words(query.plain)
        all_stems = stems(query.plain)
        telling = [each for each in dict.fromkeys(all_stems) if each not in EMPTY_STEMS]
        self.stems = tuple(telling or dict.fromkeys(all_stems))
        self.weights = {each: known.weights.get(each, known.rare) for each in self.stems}
        self.total = sum(self.weights.values()) or 1.0
        self.all = frozenset(all_stems)
        self.pairs = frozenset(pairwise(all_stems))
        self.spelled = frozenset(said)
        verb = requested_verb(said)
        self.verbs = {**known.unseen.get(verb, {}), **known.verbs.get(verb, {})}
        self.own = not _OWN.isdisjoint(all_stems)
        self.many = verb == "list" or not _MANY.isdisjoint(said)
        self.joined = {
            joined[0]: (first[0], second[0])
            for a, b in pairwise(said)
            if len(joined := stems(a + b)) == 1
            and len(first := stems(a)) == 1
            and len(second := stems(b)) == 1
        }


def features(
    question: Question, cards: Sequence[Card], signals: Sequence[Signals]
) -> list[list[float]]:
    """One row of `FEATURES` for each candidate."""
    related = _related(question, cards)
    return [
        _row(question, related, card, signal) for card, signal in zip(cards, signals, strict=True)
    ]


def _related(question: Question, cards: Sequence[Card]) -> dict[str, tuple[str, float]]:
    """Stems of candidates that stand for a stem of the question, and the share they count."""
    found = {stem: (stem, 1.0) for stem in question.stems}
    held: set[str] = set().union(*(card.name | card.title | card.path for card in cards))
    longer = [stem for stem in question.stems if len(stem) >= SHORTEST_PREFIX]
    for other in held - found.keys():
        if len(other) < SHORTEST_PREFIX:
            continue
        for stem in longer:
            if other.startswith(stem) or stem.startswith(other):
                found[other] = (stem, PREFIX_SHARE)
                break
    return found


def _row(
    question: Question, related: Mapping[str, tuple[str, float]], card: Card, signal: Signals
) -> list[float]:
    known = tables()
    asked = related.keys()
    name, title = _with_compounds(question, card.name), card.title
    both = name | title
    in_name, in_title = name & asked, title & asked
    own = not _OWN_ITEM.isdisjoint(both)
    verbs = [question.verbs.get(verb, 0.0) for verb in card.verbs]
    method = question.verbs.get(card.method, 0.0)
    weight = known.weights.get
    exact = len(both & question.weights.keys())
    overlap = len(card.title_with_empty & question.all)
    return [
        signal.cosine,
        signal.words,
        signal.fused,
        _covered(question, related, in_name),
        _covered(question, related, in_title),
        _covered(question, related, in_name | in_title),
        _covered(question, related, card.description & asked),
        _covered(
            question,
            related,
            (both | card.labels | card.parameters | card.description) & asked,
        ),
        _covered(question, related, card.parameters & asked),
        _covered(question, related, card.parameter_texts & asked),
        _covered(question, related, card.labels & asked),
        sum(weight(stem, known.rare) for stem in in_name) / card.name_weight,
        sum(weight(stem, known.rare) for stem in in_title) / card.title_weight,
        len(name) - len(in_name),
        len(title) - len(in_title),
        max(verbs, default=0.0),
        method,
        min(method, *verbs) if verbs else min(method, 0.0),
        len(card.spelled & question.spelled) / exact if exact else 0.0,
        len(card.pairs & question.pairs),
        overlap / len(card.title_with_empty | question.all) if overlap else 0.0,
        (1.0 if question.own else -1.0) if own else 0.0,
        float(card.number) if question.many else 0.0,
        _covered(question, related, card.path & asked) if card.method else 0.5,
        len(card.path - asked - name) if card.method else 0,
    ]


def _with_compounds(question: Question, name: frozenset[str]) -> frozenset[str]:
    """With `pullrequest` as `pull` and `request`, if the question says it in two words."""
    for joined, parts in question.joined.items():
        if joined in name and name.isdisjoint(parts):
            name = (name - {joined}).union(parts)
    return name


def _covered(
    question: Question, related: Mapping[str, tuple[str, float]], held: frozenset[str] | set[str]
) -> float:
    """The share of the question, by weight, that these stems stand for."""
    if not held:
        return 0.0
    shares: dict[str, float] = {}
    for other in held:
        stem, share = related[other]
        if share > shares.get(stem, 0.0):
            shares[stem] = share
    return sum(question.weights[stem] * share for stem, share in shares.items()) / question.total


@cache
def _trees() -> _Trees:
    import numpy as np

    data = _data()
    feature: list[int] = []
    threshold: list[float] = []
    children: list[list[int]] = []
    value: list[float] = []
    roots: list[int] = []
    for tree in data["trees"]:
        start = len(feature)
        roots.append(start)
        for place, (column, bound, left, right, leaf) in enumerate(tree):
            is_leaf = column < 0
            feature.append(max(column, 0))
            threshold.append(bound)
            own = start + place
            children.append([own, own] if is_leaf else [start + left, start + right])
            value.append(leaf)
    return _Trees(
        np.array(feature),
        np.array(threshold, dtype=np.float32),
        np.array(children),
        np.array(value),
        np.array(roots),
        data["depth"],
    )


def corrections(rows: Sequence[Sequence[float]]) -> list[float]:
    """The sum of all trees for each row of features."""
    import numpy as np

    if not rows:
        return []
    trees = _trees()
    table = np.asarray(rows, dtype=np.float32)
    width = table.shape[1]
    flat = table.ravel()
    places = np.tile(trees.roots, (len(rows), 1))
    offsets = (np.arange(len(rows)) * width)[:, None]
    for _ in range(trees.depth):
        seen = flat.take(offsets + trees.feature.take(places))
        right = seen > trees.threshold.take(places)
        places = trees.children.ravel().take(2 * places + right)
    found: list[float] = trees.value.take(places).sum(axis=1).tolist()
    return found


def rank_values(query: Query, cards: Sequence[Card], signals: Sequence[Signals]) -> list[float]:
    """The ranking value of each candidate, in units of the fused value."""
    question = Question(query)
    found = corrections(features(question, cards, signals))
    return [signal.fused + more / SCALE for signal, more in zip(signals, found, strict=True)]
