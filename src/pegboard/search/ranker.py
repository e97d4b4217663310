"""Rerank the candidates of the retrievers by what their names, titles and parameters say.

A gradient-boosted ranker adds a correction to the fused value of each candidate. It was trained by
`training/ranker.py` on labelled questions and is kept in `ranker.json`: the trees, and the weight
of common words. Every feature is a property of one question and one item, so neither filters nor
hidden items change an order.
"""

import json
import re
from collections.abc import Container, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pegboard.search.action_fit import fit_action
from pegboard.search.query import EMPTY_STEMS, Query
from pegboard.search.request_verb import requested_verb
from pegboard.text import WORD, head, stems, word_stems, words
from pegboard.verbs import effect_of, word_set

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FILE = Path(__file__).with_name("ranker.json")
SCALE = 20.0
"""The weight of the fused value in the ranking value; the trees were trained on top of it."""
CARD_LINES = 12
"""Lines of a ranking card. A card of another release is treated as empty."""
PREFIX_SHARE = 0.7
"""The share that an abbreviation counts: "repo" for "repository"."""
SHORTEST_PREFIX = 3
SHORTEST_PART = 4
"""Letters of the parts of a compound: "invoice items" is not abbreviated to "invoice"."""
SAME_REQUEST = 0.05
"""Added to the value of an item whose name or title is the question in a synonym of its verb."""
OWN_REQUEST = 0.15
"""The same where both are about the caller's own: "list my organizations"."""
FEATURES = (
    *("cosine", "words", "fused", "in_name", "in_title", "in_name_or_title", "in_description"),
    *("anywhere", "in_parameters", "in_parameter_texts", "in_labels", "of_name", "of_title"),
    *("more_in_name", "more_in_title", "spelling", "pairs"),
    *("title_overlap", "own", "number", "in_path", "more_in_path"),
    *("same_verb", "effect", "least_effect", "head_said", "same_head", "denied"),
)
"""The columns of the ranker, in order. A test compares them with those in `ranker.json`."""
INCREASING = frozenset(FEATURES) - {"more_in_name", "more_in_title", "more_in_path"}
"""Features of which more is never worse; of the others, less is never worse."""

_OWN_PHRASE = re.compile(
    r" (?:(?:authent|current|call) (?:user|account|member|session)|authent|me|my|mine|self)(?= )"
)
"""In stems: the caller, as names and titles say it. A question says "my" for the same."""
_OWN_STEMS = frozenset(("authent", "current", "call", "me", "my", "mine", "self"))
"""Stems that such a phrase begins with."""
_OWN_QUESTION = re.compile(r" (?:(?:authent|current) (?:user|account)|authent|my|mine|myself)(?= )")
_MY = "my"
_MANY = word_set("all every each list whole everything any entire")
_ONE = word_set("single one specific particular")
_EXCLUSION = re.compile(
    r"\b(?:but not|not|without|except(?: for)?|instead of|rather than|other than|no|never"
    r"|do ?n['’]t|does ?n['’]t|leave)\b([^,.;:!?()]*)",
    re.IGNORECASE,
)
"""A part of a question that says what is not meant."""
_IDENTIFIER = re.compile(r"#\d|\b(?=\w*\d)\w{2,}")
"""A number or an identifier with a digit: the question is about one thing."""
_SINGULAR = word_set(
    "address analytics contents details does has metrics news properties settings statistics stats"
)
"""Words that end like a plural."""
_MANY_STEMS = frozenset(["all", "batch", "bulk", "collect", "list", "mani", "multipl"])
"""Stems by which names and titles say that they are about many things."""


class Card(NamedTuple):
    """The ranking card of an item (`pegboard.text.card`), parsed.

    Names, titles and paths are split into stems. Longer lines stay text with a space at both ends:
    finding the few stems of a question in them is faster than splitting them.
    """

    name: tuple[str, ...]
    title: tuple[str, ...]
    title_with_empty: frozenset[str]
    """The title's stems, with those that say nothing, such as "the"."""
    text: str
    """All lines."""
    labels: str
    parameters: str
    parameter_texts: str
    description: str
    spelled: str
    acts: tuple[str, str]
    """Verbs of name and title; and the effect of calling it (`pegboard.text`), if known."""
    path: tuple[str, ...]
    runs: str
    """The telling stems of name and title in their order."""
    title_key: str
    heads: tuple[str, ...] = ()
    """The stems of what name, title and path are about."""
    number: int = 0
    """1 if the name is about several things, -1 if about one, 0 if unknown."""
    mine: "Card | None" = None
    """The card as its owner would say it: "my repositories", not "of the authenticated user"."""


class StemWeights(NamedTuple):
    weights: Mapping[str, float]
    """Inverse document frequencies of common stems."""
    rare: float
    """The weight of every other stem."""


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
def stem_weights() -> StemWeights:
    data = _data()
    return StemWeights(data["weights"], data["rare"])


@lru_cache(maxsize=5_000)
def parse_card(text: str) -> Card:
    """Parse a card; an empty text gives an empty card."""
    padded = f" {text} ".replace("\n", " \n ")
    lines = padded.split("\n")
    if len(lines) != CARD_LINES:
        lines = ["  "] * CARD_LINES
    all_name, all_title = lines[0].split(), lines[1].split()
    heads = lines[11].split()
    name = [stem for stem in all_name if stem not in EMPTY_STEMS] or all_name
    title = [stem for stem in all_title if stem not in EMPTY_STEMS]
    found = Card(
        tuple(dict.fromkeys(name)),
        tuple(dict.fromkeys(title)),
        frozenset(all_title),
        padded,
        lines[2],
        lines[3],
        lines[4],
        lines[5],
        lines[6],
        (lines[7], lines[8]),
        tuple(lines[9].split()),
        f" {' '.join(name)} \n {' '.join(title)} ",
        lines[10].strip(),
        tuple(dict.fromkeys([stem for word in heads for stem in word_stems(word)[-1:]])),
        (1 if is_plural(heads[0]) else -1) if heads else 0,
    )
    if _OWN_STEMS.isdisjoint(all_name) and _OWN_STEMS.isdisjoint(all_title):
        return found
    return found._replace(mine=_as_mine(found, lines[0], lines[1]))


def _as_mine(card: Card, all_name: str, all_title: str) -> Card | None:
    """Return the card as its owner would say it; None if it is about anything else."""
    if not (_OWN_PHRASE.search(all_name) or _OWN_PHRASE.search(all_title)):
        return None
    name, title = (
        [stem for stem in _OWN_PHRASE.sub("", line).split() if stem not in EMPTY_STEMS]
        for line in (all_name, all_title)
    )
    return card._replace(
        name=tuple(dict.fromkeys(name)) or card.name,
        title=tuple(dict.fromkeys(title)),
        title_with_empty=frozenset((*title, _MY)) if title else card.title_with_empty,
        runs=f" {' '.join(name)} \n {' '.join(title)} ",
    )


class _Matches(dict[str, int]):
    """By stems of items: the bits of the stem of the question that each stands for.

    One bit for a stem of the question: a low one if equal, a high one if abbreviated. 0 for stems
    that stand for none. Filled while items are compared.
    """

    def __init__(self, question_stems: Sequence[str], known: Container[str]) -> None:
        """`known`: stems of which compounds are made."""
        self._count = len(question_stems)
        self._known = known
        self._starts: dict[str, list[tuple[int, str]]] = {}
        for place, stem in enumerate(question_stems):
            self.setdefault(stem, 1 << place)
            if len(stem) >= SHORTEST_PREFIX:
                self._starts.setdefault(stem[:SHORTEST_PREFIX], []).append((place, stem))

    def __missing__(self, stem: str) -> int:
        found = self[stem] = (
            self._abbreviated(stem) if stem[:SHORTEST_PREFIX] in self._starts else 0
        )
        return found

    def _abbreviated(self, stem: str) -> int:
        for place, other in self._starts[stem[:SHORTEST_PREFIX]]:
            short, long = sorted((stem, other), key=len)
            if long.startswith(short) and not self._is_compound(long, len(short)):
                return 1 << (place + self._count)
        return 0

    def _is_compound(self, stem: str, length: int) -> bool:
        """Whether a stem is a word of this length with another word behind it.

        Stems have lost the last "e": `invoiceitem` and `filenam` begin with `invoic` and `file`.
        """
        rest = stem[length:]
        parts = (rest, rest[1:] if rest.startswith("e") else "")
        return length >= SHORTEST_PART and any(
            len(part) >= SHORTEST_PART and part in self._known
            for each in parts
            for part in (each, f"{each}e")
        )


class _Coverage(dict[int, float]):
    """The share of the question, by weight, that the bits of matches stand for."""

    def __init__(self, weights: Sequence[float]) -> None:
        self._weights = weights
        self._total = sum(weights) or 1.0
        self._all = (1 << len(weights)) - 1
        self[0] = 0.0

    def __missing__(self, bits: int) -> float:
        count = len(self._weights)
        left = bits | bits >> count & ~bits
        found = 0.0
        while left := left & self._all:
            place = (left & -left).bit_length() - 1
            weight = self._weights[place]
            found += weight if bits >> place & 1 else weight * PREFIX_SHARE
            left &= left - 1
        share = self[bits] = found / self._total
        return share


def is_plural(word: str) -> bool:
    return word.endswith("s") and not word.endswith(("ss", "us", "is")) and word not in _SINGULAR


class Question:
    """The part of a query that all its candidates are compared with."""

    def __init__(
        self,
        query: Query,
        read_as: Mapping[str, Sequence[str]] | None = None,
        known: StemWeights | None = None,
    ) -> None:
        """`read_as`: words of the query that no item has, and the words they were taken for."""
        known = known or stem_weights()
        readings = read_as or {}
        plain = _corrected(query.plain, readings)
        said, all_stems = words(plain), stems(plain)
        telling = [each for each in dict.fromkeys(all_stems) if each not in EMPTY_STEMS]
        self.stems = tuple(telling or dict.fromkeys(all_stems))
        self.matches = _Matches(self.stems, known.weights)
        self._weights, self._rare = known.weights, known.rare
        self.covered = _Coverage([self._weights.get(each, self._rare) for each in self.stems])
        self.equal = (1 << len(self.stems)) - 1
        """The bits of all stems, without those of abbreviations."""
        self._read_also(readings)
        self.sought = tuple((f" {stem} ", bits) for stem, bits in self.matches.items() if bits)
        self.all = frozenset(all_stems)
        adjacent = dict.fromkeys(pairwise(all_stems))
        self.pairs = tuple(
            f" {a} {b} " for a, b in adjacent if a in self.matches and b in self.matches
        )
        self.spelled = frozenset(said)
        self.said = said
        asking = requested_verb(plain)
        self.verb = asking.verb
        used = {stem for word in asking.used for stem in stems(word)}
        self.subject = self.equal & ~sum(
            1 << place for place, stem in enumerate(self.stems) if stem in used
        )
        """The bits of all stems but those of the verb."""
        self.own = bool(_OWN_QUESTION.search(f" {' '.join(all_stems)} "))
        reads = effect_of(self.verb) in ("", "read", "compute")
        self.by_caller = self.own or not reads
        """Whether the caller is meant if nobody is named: "star a repository"."""
        self.many = self.verb == "list" or not _MANY.isdisjoint(said)
        self.number = 0
        """1 if the question is about several things, -1 if about one, 0 if it does not say."""
        thing = head(asking.behind)
        self.heads = frozenset(stems(thing)[-1:])
        """The stem of what the request is about."""
        if self.many or (reads and self.verb and is_plural(thing)):
            self.number = 1
        elif not _ONE.isdisjoint(said) or (reads and _names_one(query)):
            self.number = -1
        self.denied = self._denied(plain)
        """The bits of the stems that the question excludes: "not the comments"."""
        self.joined = {
            joined[0]: (first[0], second[0])
            for a, b in pairwise(said)
            if len(joined := word_stems(a + b)) == 1
            and len(first := word_stems(a)) == 1
            and len(second := word_stems(b)) == 1
        }

    def _read_also(self, readings: Mapping[str, Sequence[str]]) -> None:
        """Let the other readings of a word match as its first reading does."""
        for first, *others in readings.values():
            places = [self.stems.index(each) for each in stems(first) if each in self.stems]
            for stem in (each for other in others for each in stems(other)):
                if len(places) == 1 and stem not in EMPTY_STEMS:
                    self.matches.setdefault(stem, 1 << places[0])

    def _denied(self, plain: str) -> int:
        excluded = {stem for found in _EXCLUSION.finditer(plain) for stem in stems(found[1])}
        if not excluded:
            return 0
        wanted = set(stems(_EXCLUSION.sub(" ", plain)))
        return sum(
            1 << place
            for place, stem in enumerate(self.stems)
            if stem in excluded and stem not in wanted
        )

    def find(self, text: str) -> int:
        """The bits of the stems that stand in a text."""
        found = 0
        for stem, bit in self.sought:
            found |= bit if stem in text else 0
        return found

    def match(self, held: Sequence[str]) -> tuple[int, int, float]:
        """The bits of an item's stems, how many match, and their share by weight."""
        matches, weight, rare = self.matches, self._weights.get, self._rare
        bits = count = 0
        matching = 0.0
        for stem in held:
            if found := matches[stem]:
                bits |= found
                count += 1
                matching += weight(stem, rare)
        if not count:
            return 0, 0, 0.0
        return bits, count, matching / sum([weight(stem, rare) for stem in held])

    def count_many(self, held: Sequence[str]) -> int:
        """How many stems only say what the question says in another word: that all are meant."""
        return sum([stem in _MANY_STEMS and not self.matches[stem] for stem in held])

    def is_asked_by(self, held: Sequence[str], without: frozenset[str]) -> bool:
        """Whether an item's stems, without those of its verbs, are the subject of the question."""
        bits = 0
        for stem in held:
            if stem in without:
                continue
            if not self.matches[stem] and not (self.many and stem in _MANY_STEMS):
                return False
            bits |= self.matches[stem]
        return bool(bits) and (bits | bits >> len(self.stems)) & self.equal == self.subject


def _names_one(query: Query) -> bool:
    return query.plain != query.text or bool(_IDENTIFIER.search(query.plain))


def _corrected(text: str, readings: Mapping[str, Sequence[str]]) -> str:
    """The text with the first reading of each misspelled word in its place."""
    if not readings:
        return text
    return WORD.sub(lambda found: readings.get(found[0].lower(), (found[0],))[0], text)


def features(
    question: Question, cards: Sequence[Card], signals: Sequence[Signals]
) -> list[list[float]]:
    """One row of `FEATURES` for each candidate."""
    return [_row(question, card, signal) for card, signal in zip(cards, signals, strict=True)]


def _row(question: Question, card: Card, signal: Signals) -> list[float]:
    own = 0.0
    if card.mine is not None:
        own = 1.0 if question.own else 0.0 if question.by_caller else -1.0
        card = card.mine if question.by_caller else card
    name = card.name
    if not question.joined.keys().isdisjoint(name):
        name = with_compounds(question, name)
    in_name, of_name, name_share = question.match(name)
    in_title, of_title, title_share = question.match(card.title)
    many_in_name = many_in_title = 0
    if question.many:
        many_in_name, many_in_title = question.count_many(name), question.count_many(card.title)
    in_labels = in_parameters = in_texts = in_description = 0
    _, _, _, text, labels, parameters, parameter_texts, description, *_ = card
    for stem, bit in [each for each in question.sought if each[0] in text]:
        in_labels |= bit if stem in labels else 0
        in_parameters |= bit if stem in parameters else 0
        in_texts |= bit if stem in parameter_texts else 0
        in_description |= bit if stem in description else 0
    both = in_name | in_title
    covered = question.covered
    action = fit_action(question.verb, card.acts)
    equal = (both & question.equal).bit_count()
    overlap = len(card.title_with_empty & question.all)
    in_path, more_in_path = 0.5, 0
    if card.path:
        in_path, more_in_path = _in_path(question, card.path, name)
    return [
        signal.cosine,
        signal.words,
        signal.fused,
        covered[in_name],
        covered[in_title],
        covered[both],
        covered[in_description],
        covered[both | in_labels | in_parameters | in_description],
        covered[in_parameters],
        covered[in_texts],
        covered[in_labels],
        name_share,
        title_share,
        len(name) - of_name - many_in_name,
        len(card.title) - of_title - many_in_title,
        len(question.spelled.intersection(card.spelled.split())) / equal if equal else 0.0,
        sum([pair in card.runs for pair in question.pairs]) if equal > 1 else 0,
        overlap / (len(card.title_with_empty) + len(question.all) - overlap) if overlap else 0.0,
        own,
        (action.number or card.number) * question.number,
        in_path,
        more_in_path,
        action.same,
        action.effect,
        action.least_effect,
        *_head_fit(question, card.heads),
        -covered[both & question.denied],
    ]


def _head_fit(question: Question, heads: Sequence[str]) -> tuple[float, float]:
    """Whether the question says what an item is about, and whether it is about that itself."""
    if not heads:
        return 0.0, 0.0
    said = sum([bool(question.matches[each]) for each in heads]) / len(heads)
    same = any(each in question.heads for each in heads)
    return 2 * said - 1, float(same)


def is_same_request(question: Question, card: Card) -> bool:
    """Whether the name or title of an item says what the question says, in the same or other verbs.

    "Add a comment to an issue" is `create-issue-comment`, "list my repositories" the title "List
    repositories for the authenticated user".
    """
    action = fit_action(question.verb, card.acts)
    if not action.fits or action.number * question.number < 0:
        return False
    own = card.mine if card.mine is not None and question.by_caller else card
    return any(question.is_asked_by(held, action.verb_stems) for held in (own.name, own.title))


def _same_request_value(question: Question, card: Card) -> float:
    if not is_same_request(question, card):
        return 0.0
    return OWN_REQUEST if question.own and card.mine is not None else SAME_REQUEST


def _in_path(question: Question, path: Sequence[str], name: Sequence[str]) -> tuple[float, int]:
    """The share of the question that a path covers, and the number of stems it says beyond."""
    bits = more = 0
    for stem in path:
        bit = question.matches[stem]
        bits |= bit
        more += not bit and stem not in name
    return question.covered[bits], more


def with_compounds(question: Question, name: tuple[str, ...]) -> tuple[str, ...]:
    """With `pullrequest` as `pull` and `request`, if the question says it in two words."""
    for joined, parts in question.joined.items():
        if joined in name and not set(parts) & set(name):
            name = (*(stem for stem in name if stem != joined), *dict.fromkeys(parts))
    return name


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
    width = len(rows[0])
    flat = np.fromiter(chain.from_iterable(rows), np.float32, len(rows) * width)
    places = np.tile(trees.roots, (len(rows), 1))
    offsets = (np.arange(len(rows)) * width)[:, None]
    for _ in range(trees.depth):
        seen = flat.take(offsets + trees.feature.take(places))
        right = seen > trees.threshold.take(places)
        places = trees.children.ravel().take(2 * places + right)
    found: list[float] = trees.value.take(places).sum(axis=1).tolist()
    return found


def rank_values(
    question: Question, cards: Sequence[Card], signals: Sequence[Signals]
) -> list[float]:
    """The ranking value of each candidate, in units of the fused value."""
    found = corrections(features(question, cards, signals))
    return [
        signal.fused + more / SCALE + _same_request_value(question, card)
        for signal, more, card in zip(signals, found, cards, strict=True)
    ]
