"""Ask the legs: everything the board has to say to a query, before it is weighed."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from pegboard.errors import EmbeddingError
from pegboard.model import (
    Filters,
    Fingerprint,
    ItemId,
    Leg,
    LegHit,
    Mode,
    Vector,
    WordHits,
    WordQuery,
)
from pegboard.ports import Embedder, Store
from pegboard.search.fusion import Candidate, Evidence
from pegboard.search.query import Query, choose, known_share
from pegboard.search.spelling import MOST_READINGS, SHORTEST, endings, nearest
from pegboard.text import terms, variants

Number = TypeVar("Number", int, float)

MOST_NAMED = 50
MOST_MISSPELLED = 8
"""So many unknown words are looked up; the others stay unknown."""
LONGER_WORDS = 40
"""Among so many words with the same beginning the shortest are chosen."""
LOOKED_AT = 60
"""So many that the lead has found are scored by all terms; five times as many by words alone."""


class Gathered(NamedTuple):
    """The legs' evidence, and how it came about."""

    evidence: Evidence
    frequencies: Mapping[str, int]
    wanted: WordQuery
    read_as: Mapping[str, tuple[str, ...]]
    """Unknown words of the query, and the known ones they were taken for."""
    notices: tuple[str, ...]
    embed_seconds: float
    search_seconds: float
    meant: Vector | None = None
    """The query's vector, if meaning was asked."""


class Words(NamedTuple):
    """One leg over words: what it looked for, and what it found."""

    query: WordQuery
    known: float
    found: WordHits


class Meant(NamedTuple):
    """The query's vector, when it was ready, and what is near it once that is known."""

    vector: Vector
    ready: float
    near: list[LegHit] | None = None
    words: Mapping[Leg, Mapping[int, float]] = MappingProxyType({})
    """How what is near scores in legs over words, as far as that was looked up with it."""


class Looked(NamedTuple):
    """Items that were looked up, and the scores of those that have one."""

    keys: frozenset[int] = frozenset()
    scores: Mapping[int, float] = MappingProxyType({})


def gather(
    store: Store,
    embedder: Embedder | None,
    query: Query,
    mode: Mode,
    filters: Filters,
    depth: int,
    *,
    beside: Executor | None = None,
) -> Gathered:
    """What each leg says. The query is embedded while the words are looked up.

    With threads that stay, and so keep their own way to the database, meaning is looked up there
    as well, and each side scores what it has found by the other's measure.
    """
    gathering = _Gathering(store, embedder, query, mode, filters, depth, beside)
    if beside is not None:
        return gathering.run(beside, gathering.meant_and_near)
    with ThreadPoolExecutor(max_workers=1) as own:
        return gathering.run(own, gathering.meant)


class _Gathering:
    def __init__(
        self,
        store: Store,
        embedder: Embedder | None,
        query: Query,
        mode: Mode,
        filters: Filters,
        depth: int,
        beside: Executor | None,
    ) -> None:
        self.store = store
        self.embedder = embedder
        self.query = query
        self.mode = mode
        self.filters = filters
        self.depth = depth
        self.alone = embedder is None or mode in (Mode.BM25, Mode.FUZZY)
        self.by_meaning = mode is Mode.VECTOR and embedder is not None
        """Whether words are not looked for at all."""
        self.beside = beside
        """Threads with their own way to the database, if there are any."""
        self.meaning: Future[Vector] = Future()
        """The query's vector, for whoever does not wait for what is near it."""
        self.sought: Future[Mapping[Leg, Words]] = Future()
        """The legs whose words are to score what meaning finds."""
        self.notices: list[str] = []
        self.embed_seconds = 0.0
        self.frequencies: dict[str, int] = {}
        self.wanted = WordQuery()
        self.read_as: dict[str, tuple[str, ...]] = {}

    def run(self, beside: Executor, work: Callable[[Embedder], Meant]) -> Gathered:
        began = time.perf_counter()
        asked = self._ask_meaning(beside, work)
        legs: dict[Leg, Words] = {}
        try:
            named = self._first_look()
            legs = {} if self.by_meaning else self._by_words()
        finally:
            self.sought.set_result({k: words for k, words in legs.items() if not words.found.whole})
        words_done = time.perf_counter()
        meanings = self._meanings(legs, named) if asked and self.beside else Looked()
        meant = self._wait(asked)
        waited = max(meant.ready - words_done, 0.0) if meant else 0.0
        if asked is not None and meant is None:
            self.alone = True  # and so the words must look further
            if self.by_meaning:
                self.frequencies = self.store.index.frequencies(self.query.terms)
            legs = self._by_words()
        if meant is not None and meant.near is None and self.embedder is not None:
            meant = self._with_near(meant, self.embedder)
        evidence = self._evidence(legs, meant, named, meanings)
        return Gathered(
            evidence=evidence,
            frequencies=self.frequencies,
            wanted=self.wanted,
            read_as=self.read_as,
            notices=tuple(self.notices),
            embed_seconds=self.embed_seconds,
            search_seconds=time.perf_counter() - began - waited,
            meant=meant.vector if meant else None,
        )

    def _ask_meaning(
        self, beside: Executor, work: Callable[[Embedder], Meant]
    ) -> "Future[Meant] | None":
        if self.mode in (Mode.BM25, Mode.FUZZY):
            return None
        if self.embedder is None:
            if self.mode is Mode.VECTOR:
                self.notices.append("embedding is disabled, so this is a search by words only")
            return None
        return beside.submit(work, self.embedder)

    def meant(self, embedder: Embedder) -> Meant:
        began = time.perf_counter()
        try:
            vector = embedder.embed_query(self.query.text)
        except BaseException as error:
            self.meaning.set_exception(error)
            raise
        ready = time.perf_counter()
        self.embed_seconds = ready - began
        self.meaning.set_result(vector)
        return Meant(vector, ready)

    def meant_and_near(self, embedder: Embedder) -> Meant:
        meant = self._with_near(self.meant(embedder), embedder)
        legs = self.sought.result().items()
        return meant._replace(words={leg: self._by_terms(words, meant) for leg, words in legs})

    def _by_terms(self, words: Words, meant: Meant) -> dict[int, float]:
        """How those score that only meaning has found."""
        keys = [hit.key for hit in meant.near or () if hit.key not in words.found.scores]
        return self.store.index.keyword_scores(words.query, keys)

    def _meanings(self, legs: Mapping[Leg, Words], named: Sequence[LegHit]) -> Looked:
        """How near those are that words have found, while others are still looked for."""
        found = (self._ranked(words.found, words.found.scores) for words in legs.values())
        by_words = (hit for hits in found for hit in hits)
        keys = list(dict.fromkeys(hit.key for hit in (*named, *by_words)))
        if not keys or self.embedder is None or self.meaning.exception() is not None:
            return Looked()
        vector, target = self.meaning.result(), self.embedder.fingerprint
        return Looked(frozenset(keys), self.store.index.vector_scores(vector, target, keys))

    def _with_near(self, meant: Meant, embedder: Embedder) -> Meant:
        target = embedder.fingerprint
        near = self.store.index.vector(meant.vector, target, self.filters, self.depth)
        if not near or self.store.tasks.waiting(target):
            self._tell_what_is_missing(target)
        return meant._replace(near=near)

    def _wait(self, asked: "Future[Meant] | None") -> Meant | None:
        if asked is None:
            return None
        try:
            return asked.result()
        except EmbeddingError as error:
            self.notices.append(f"searched by words only: {error.message}")
            return None

    def _first_look(self) -> list[LegHit]:
        """Items that the query names; and how common its terms are is known from then on."""
        said = () if self.by_meaning else self.query.terms
        self.frequencies, named = self.store.index.first_look(
            said, self.query.name_key, self.filters, MOST_NAMED
        )
        return named

    def _by_words(self) -> dict[Leg, Words]:
        """The keyword leg and, if some words are unknown, the same with others in their place."""
        said = self.query.terms
        self.wanted = choose(said, self.frequencies, alone=self.alone)
        sure = known_share(said, self.frequencies)
        legs = {Leg.BM25: Words(self.wanted, sure, self._keyword(self.wanted))}
        if self.mode is Mode.BM25:
            return legs
        self.read_as = self._readings()
        if self.read_as:
            legs[Leg.FUZZY] = self._misspelled()
        if self.mode is Mode.FUZZY:
            return {Leg.FUZZY: legs.get(Leg.FUZZY, legs[Leg.BM25])}
        return legs

    def _keyword(self, wanted: WordQuery) -> WordHits:
        """More than the depth where the first look is only by the most telling terms."""
        index = self.store.index
        enough = LOOKED_AT * 5 if self.alone else LOOKED_AT
        limit = self.depth if wanted.lead == wanted.terms else max(self.depth, enough)
        found = index.keyword(wanted, self.filters, limit)
        if wanted.every and not found.first:
            rarest = min(wanted.lead, key=lambda term: self.frequencies.get(term, 0))
            return index.keyword(wanted._replace(lead=(rarest,), every=False), self.filters, limit)
        return found

    def _readings(self) -> dict[str, tuple[str, ...]]:
        """What each word that the board does not know may have been meant to be."""
        if len(self.frequencies) == len(self.query.terms):
            return {}
        unknown = [
            word
            for word in self.query.words
            if len(word) >= SHORTEST and not self.frequencies.keys() & set(terms(word))
        ]
        del unknown[MOST_MISSPELLED:]
        if not unknown:
            return {}
        wanted = [each for word in unknown for each in variants(word)]
        spelled = self.store.index.words_like(wanted, unknown, LONGER_WORDS)
        near = {word: nearest(word, spelled.near) for word in unknown}
        longer = {word: endings(word, spelled.longer[word]) for word in unknown}
        held = self._held([each for words in (*near.values(), *longer.values()) for each in words])
        found = {
            word: tuple(each for each in near[word] if each in held)
            or tuple(each for each in longer[word] if each in held)
            for word in unknown
        }
        return {word: known[:MOST_READINGS] for word, known in found.items() if known}

    def _held(self, words: Sequence[str]) -> set[str]:
        """Those that some item still has: a word's spelling outlives its last item."""
        parts = {word: terms(word) for word in words}
        known = self.store.index.frequencies([each for part in parts.values() for each in part])
        return {word for word, part in parts.items() if not known.keys().isdisjoint(part)}

    def _misspelled(self) -> Words:
        """A word that had to be guessed counts as half known."""
        guessed = [
            term for known in self.read_as.values() for each in known for term in terms(each)
        ]
        counted = self.frequencies | self.store.index.frequencies(guessed)
        said = tuple(dict.fromkeys((*self.query.terms, *guessed)))
        wanted = choose(said, counted, alone=self.alone)
        sure = known_share(self.query.terms, self.frequencies)
        guessed_share = len(self.read_as) / max(len(self.query.terms), 1)
        return Words(wanted, min(sure + 0.5 * guessed_share, 1.0), self._keyword(wanted))

    def _evidence(
        self,
        legs: Mapping[Leg, Words],
        meant: Meant | None,
        named: Sequence[LegHit],
        meanings: Looked,
    ) -> Evidence:
        meaning = (meant.near if meant else None) or []
        by_words = [hit for words in legs.values() for hit in words.found.hits]
        others = [hit.key for hit in (*meaning, *named, *by_words)]
        near = frozenset(hit.key for hit in meaning)
        known = {
            leg: Looked(near, by_leg) for leg, by_leg in (meant.words if meant else {}).items()
        }
        scores = {
            leg: self._word_scores(words, others, known.get(leg, Looked()))
            for leg, words in legs.items()
        }
        best = {
            leg: max((scores[leg].get(key, 0.0) for key in words.found.first), default=0.0)
            for leg, words in legs.items()
        }
        ranked = {leg: self._ranked(words.found, scores[leg]) for leg, words in legs.items()}
        ids = {hit.key: hit.id for hits in (*ranked.values(), meaning, named) for hit in hits}
        if meant is not None:
            scores[Leg.VECTOR] = self._meaning_scores(meant, ids, meanings)
            ranked[Leg.VECTOR] = meaning
        ranks = {leg: {hit.key: hit.rank for hit in hits} for leg, hits in ranked.items()}
        return Evidence(
            candidates=_candidates(ids, scores, ranks),
            legs=frozenset(scores),
            best=best,
            known={leg: words.known for leg, words in legs.items()},
            named=frozenset(hit.key for hit in named),
        )

    def _ranked(self, found: WordHits, scores: Mapping[int, float]) -> list[LegHit]:
        """By the score over all terms, where the first look was only by some."""
        if found.whole:
            return list(found.hits[: self.depth])
        hits = sorted((-scores.get(hit.key, 0.0), hit.id, hit.key) for hit in found.hits)
        return [
            LegHit(key, item_id, rank, -score)
            for rank, (score, item_id, key) in enumerate(hits[: self.depth], start=1)
        ]

    def _tell_what_is_missing(self, target: Fingerprint) -> None:
        if self.filters.namespaces:
            return  # how many there are elsewhere is not for this caller
        if missing := self.store.tasks.without_vector(target):
            have = "item has" if missing == 1 else "items have"
            self.notices.append(
                f"{missing:,} {have} no vector yet and can be found by words only; "
                "embed what is missing with: pegboard backfill"
            )

    def _word_scores(self, words: Words, others: list[int], known: Looked) -> dict[int, float]:
        """Every candidate's score, also of those that only another leg put forward."""
        found = {**words.found.scores, **known.scores}
        if not words.found.whole:
            keys = dict.fromkeys(
                (*words.found.first, *(hit.key for hit in words.found.hits), *others)
            )
            missing = [key for key in keys if key not in found and key not in known.keys]
            found |= self.store.index.keyword_scores(words.query, missing)
        return found

    def _meaning_scores(
        self, meant: Meant, ids: Mapping[int, ItemId], known: Looked
    ) -> dict[int, float]:
        found = {**known.scores, **{hit.key: hit.score for hit in meant.near or ()}}
        missing = [key for key in ids if key not in found and key not in known.keys]
        if missing and self.embedder is not None:
            target = self.embedder.fingerprint
            found |= self.store.index.vector_scores(meant.vector, target, missing)
        return found


def _candidates(
    ids: Mapping[int, ItemId],
    scores: Mapping[Leg, Mapping[int, float]],
    ranks: Mapping[Leg, Mapping[int, int]],
) -> tuple[Candidate, ...]:
    own_scores, own_ranks = _by_item(ids, scores), _by_item(ids, ranks)
    return tuple([Candidate(key, ids[key], own_scores[key], own_ranks[key]) for key in ids])


def _by_item(
    keys: Iterable[int], by_leg: Mapping[Leg, Mapping[int, Number]]
) -> dict[int, dict[Leg, Number]]:
    found: dict[int, dict[Leg, Number]] = {key: {} for key in keys}
    for leg, known in by_leg.items():
        for key in found.keys() & known.keys():
            found[key][leg] = known[key]
    return found
