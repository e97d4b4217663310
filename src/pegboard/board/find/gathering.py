"""Ask the legs: everything the board has to say to a query, before it is weighed."""

import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import NamedTuple, TypeVar

from pegboard.board.find.meaning import Looked, Meaning, Meant, Words
from pegboard.board.find.patience import Patience
from pegboard.model.items import Filters, ItemId, Leg, LegHit, Mode, Vector, WordHits, WordQuery
from pegboard.ports.stages import Embedder
from pegboard.ports.store import Store
from pegboard.search.fusion import Candidate, Evidence
from pegboard.search.query import Query, choose, known_share
from pegboard.search.ranker import Question, parse_card
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


class KeywordScores(NamedTuple):
    """Scores by all terms of a query."""

    scores: Mapping[int, float]
    """Of the items that a retriever found."""
    best: float
    """On the whole board."""


class Ready(NamedTuple):
    """What reranking needs, as far as it can be read while the model embeds the question."""

    question: Question
    cards: Mapping[int, str]
    """Ranking cards of what the keyword retrievers found."""


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
    late: tuple[Leg, ...] = ()
    """Those that were waited for in vain."""
    ready: Ready | None = None


def gather(
    store: Store, embedder: Embedder | None, query: Query, mode: Mode, filters: Filters, depth: int
) -> Gathered:
    """In this thread and one of its own."""
    return Gathering(store, embedder, query, mode, filters, depth).run()


class Gathering:
    """What each leg says. The query is embedded while the words are looked up.

    With threads that stay, and so keep their own way to the database, meaning is looked up there
    as well, and each side scores what it has found by the other's measure. Whoever has `patience`
    needs such threads: what hangs keeps one of them.
    """

    def __init__(
        self,
        store: Store,
        embedder: Embedder | None,
        query: Query,
        mode: Mode,
        filters: Filters,
        depth: int,
        *,
        named_in: Filters | None = None,
        beside: Executor | None = None,
        patience: Patience | None = None,
    ) -> None:
        self.store = store
        self.query = query
        self.mode = mode
        self.filters = filters
        self.named_in = named_in or filters
        """Which items the query may name by their whole name; wider than `filters`."""
        self.depth = depth
        self.beside = beside
        self.patience = patience
        self.meaning: Meaning | None = None
        if embedder is not None and mode not in (Mode.BM25, Mode.FUZZY):
            self.meaning = Meaning(store, embedder, query.plain, filters, depth, patience)
        self.notices: list[str] = []
        if embedder is None and mode is Mode.VECTOR:
            self.notices.append("embedding is disabled, so this is a search by words only")
        self.frequencies: dict[str, int] = {}
        self.wanted = WordQuery()
        self.read_as: dict[str, tuple[str, ...]] = {}
        self._done: Gathered | None = None

    @property
    def alone(self) -> bool:
        """Whether words must do without meaning, and so look further."""
        return self.meaning is None

    @property
    def by_meaning(self) -> bool:
        """Whether words are not looked for at all."""
        return self.mode is Mode.VECTOR and self.meaning is not None

    def run(self) -> Gathered:
        if self.beside is not None:
            self._done = self._run(self.beside)
            return self._done
        with ThreadPoolExecutor(max_workers=1) as own:
            return self._run(own)

    def _run(self, beside: Executor) -> Gathered:
        began = time.perf_counter()
        meaning = self.meaning
        if meaning is not None and not meaning.begin(beside, stay=self.beside is not None):
            self._without_meaning(meaning)
        legs: dict[Leg, Words] = {}
        try:
            named = self._first_look()
            legs = {} if self.by_meaning else self._by_words()
        finally:
            if meaning is not None:
                meaning.told(legs)
        # Done before the vector is waited for: meanwhile the model runs in the other thread.
        own = self._scores_of_found(legs)
        found_keys = self._found_keys(legs, own, named)
        ready = self._ready(found_keys) if self.meaning is not None and legs else None
        words_done = time.perf_counter()
        meanings, meant = Looked(), None
        if self.meaning is not None:
            if self.beside is not None:
                meanings = self.meaning.scores(found_keys)
            meant = self.meaning.wait()
            if meant is None:
                looked_for = not self.by_meaning
                self._without_meaning(self.meaning)
                if not looked_for:
                    self.frequencies = self.store.index.frequencies(self.query.terms)
                legs = self._by_words()
                own = self._scores_of_found(legs)
            else:
                self.notices += self.meaning.notices
        waited = max(meant.ready - words_done, 0.0) if meant else 0.0
        evidence = self._evidence(legs, own, meant, named, meanings)
        return Gathered(
            evidence=evidence,
            frequencies=self.frequencies,
            wanted=self.wanted,
            read_as=self.read_as,
            notices=tuple(self.notices),
            embed_seconds=meaning.embed_seconds if meaning else 0.0,
            search_seconds=time.perf_counter() - began - waited,
            meant=meant.vector if meant else None,
            late=(Leg.VECTOR,) if meaning is not None and meaning.late else (),
            ready=ready if meant else None,
        )

    def _without_meaning(self, meaning: Meaning) -> None:
        self.notices += meaning.notices
        self.meaning = None

    def so_far(self) -> Gathered:
        """What there is while words, or what comes after them, are still waited for.

        For another thread than the one that runs.
        """
        if (done := self._done) is not None:
            return done
        meaning = self.meaning
        meant = meaning.found if meaning else None
        late = [] if self.by_meaning else [Leg.FUZZY if self.mode is Mode.FUZZY else Leg.BM25]
        late += [Leg.VECTOR] if meaning is not None and meant is None else []
        seconds = self.patience.seconds if self.patience else 0.0
        missing = " and ".join("meaning" if leg is Leg.VECTOR else "words" for leg in late)
        return Gathered(
            evidence=self._evidence({}, {}, meant, (), Looked()),
            frequencies={},
            wanted=WordQuery(),
            read_as={},
            notices=(f"{missing} were not looked up within {seconds:g} s",) if missing else (),
            embed_seconds=meaning.embed_seconds if meaning else 0.0,
            search_seconds=seconds,
            meant=meant.vector if meant else None,
            late=tuple(late),
        )

    def _found_keys(
        self,
        legs: Mapping[Leg, Words],
        own: Mapping[Leg, KeywordScores],
        named: Sequence[LegHit],
    ) -> list[int]:
        """Return the keys of the items that the keyword retrievers found or the query names."""
        found = (self._ranked(words.found, own[leg].scores) for leg, words in legs.items())
        by_words = (hit for hits in found for hit in hits)
        return list(dict.fromkeys(hit.key for hit in (*named, *by_words)))

    def _ready(self, keys: Sequence[int]) -> Ready:
        """Parse the question and the ranking cards of these items."""
        cards = self.store.index.cards(keys)
        for text in cards.values():
            parse_card(text)  # fills its cache
        return Ready(Question(self.query, self.read_as), cards)

    def _first_look(self) -> list[LegHit]:
        """Items that the query names; and how common its terms are is known from then on."""
        said = () if self.by_meaning else self.query.terms
        self.frequencies, named = self.store.index.first_look(
            said, self.query.name_key, self.named_in, MOST_NAMED
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
        found = self._looked_up(wanted)
        if wanted.every and not found.first:
            rarest = min(wanted.lead, key=lambda term: self.frequencies.get(term, 0))
            return self._looked_up(wanted._replace(lead=(rarest,), every=False))
        return found

    def _looked_up(self, wanted: WordQuery) -> WordHits:
        """More than the depth where the first look is only by the most telling terms."""
        enough = LOOKED_AT * 5 if self.alone else LOOKED_AT
        limit = self.depth if wanted.lead == wanted.terms else max(self.depth, enough)
        return self.store.index.keyword(wanted, self.filters, limit)

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
        own: Mapping[Leg, KeywordScores],
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
            leg: self._word_scores(words, own[leg].scores, others, known.get(leg, Looked()))
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
            best={leg: each.best for leg, each in own.items()},
            known={leg: words.known for leg, words in legs.items()},
            named=frozenset(hit.key for hit in named),
        )

    def _scores_of_found(self, legs: Mapping[Leg, Words]) -> dict[Leg, KeywordScores]:
        """Score what each keyword retriever found by all its terms, and find the board's best."""
        found: dict[Leg, KeywordScores] = {}
        for leg, words in legs.items():
            scores: Mapping[int, float] = words.found.scores
            if not words.found.whole:
                keys = dict.fromkeys((*words.found.first, *(hit.key for hit in words.found.hits)))
                missing = [key for key in keys if key not in scores]
                scores = {**scores, **self.store.index.keyword_scores(words.query, missing)}
            found[leg] = KeywordScores(scores, self._best(words, scores))
        return found

    def _best(self, words: Words, scores: Mapping[int, float]) -> float:
        """The best score on the whole board, which the lead of a large board need not find."""
        found = max((scores.get(key, 0.0) for key in words.found.first), default=0.0)
        if words.query.lead == words.query.terms and not words.query.every:
            return found
        seen = words.query.lead if words.found.by_all else ()
        return self.store.index.best_keyword_score(words.query.terms, found, seen)

    def _ranked(self, found: WordHits, scores: Mapping[int, float]) -> list[LegHit]:
        """By the score over all terms, where the first look was only by some."""
        if found.whole:
            return list(found.hits[: self.depth])
        hits = sorted((-scores.get(hit.key, 0.0), hit.id, hit.key) for hit in found.hits)
        return [
            LegHit(key, item_id, rank, -score)
            for rank, (score, item_id, key) in enumerate(hits[: self.depth], start=1)
        ]

    def _word_scores(
        self, words: Words, own: Mapping[int, float], others: list[int], known: Looked
    ) -> dict[int, float]:
        """Return the keyword score of every candidate, whichever retriever found it."""
        found = {**known.scores, **own}
        if not words.found.whole:
            missing = [key for key in others if key not in found and key not in known.keys]
            found |= self.store.index.keyword_scores(words.query, list(dict.fromkeys(missing)))
        return found

    def _meaning_scores(
        self, meant: Meant, ids: Mapping[int, ItemId], known: Looked
    ) -> dict[int, float]:
        found = {**known.scores, **{hit.key: hit.score for hit in meant.near or ()}}
        missing = [key for key in ids if key not in found and key not in known.keys]
        if missing and self.meaning is not None:
            found |= self.meaning.scores_of(meant.vector, missing)
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
