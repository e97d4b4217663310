"""The question's way: parse, ask the legs, fuse, explain."""

import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

from pegboard.errors import EmbeddingError
from pegboard.model import Answer, Entry, Filters, Fingerprint, Hit, Leg, LegHit, Mode, Vector
from pegboard.ports import Embedder, Store
from pegboard.search.fusion import Candidate, FusionSettings, fuse, prefer
from pegboard.search.query import Query, parse
from pegboard.search.reason import match_type, reason

LOOK_FOR_NAME = 20
"""How many of the first items are looked at for one that the query names."""


class Ask(NamedTuple):
    text: str
    mode: Mode = Mode.HYBRID
    filters: Filters = Filters()
    limit: int = 5


class FindSettings(NamedTuple):
    depth: int = 100
    """How many items each leg puts forward."""
    fusion: FusionSettings = FusionSettings()


def find(store: Store, embedder: Embedder | None, ask: Ask, settings: FindSettings) -> Answer:
    query = parse(ask.text)
    if query.blank:
        return Answer(hits=(), notices=("the query is empty",))
    return _Search(store, embedder, ask, settings, query).answer()


class _Search:
    def __init__(
        self,
        store: Store,
        embedder: Embedder | None,
        ask: Ask,
        settings: FindSettings,
        query: Query,
    ) -> None:
        self.store = store
        self.embedder = embedder
        self.ask = ask
        self.query = query
        self.fusion = settings.fusion
        self.depth = max(settings.depth, ask.limit)
        self.notices: list[str] = []
        self.embed_seconds = 0.0

    def answer(self) -> Answer:
        began = time.perf_counter()
        with ThreadPoolExecutor(max_workers=1) as pool:
            asked = self._ask_embedder(pool)
            words = self._by_words() if self.ask.mode is not Mode.VECTOR else []
            waited = time.perf_counter()
            vector = self._wait(asked)
            waited = time.perf_counter() - waited
        if vector is None and self.ask.mode is Mode.VECTOR:
            words = self._by_words()
        meaning = self._by_meaning(vector) if vector is not None else []
        legs = self._legs(vector)
        ranked = fuse(self._candidates(words, meaning, vector), legs, self.fusion)
        hits = self._hits(ranked[: max(self.ask.limit, LOOK_FOR_NAME)])
        return Answer(
            hits=hits,
            notices=tuple(self.notices),
            embed_seconds=self.embed_seconds,
            search_seconds=time.perf_counter() - began - waited,
        )

    def _legs(self, vector: Vector | None) -> frozenset[Leg]:
        if vector is None or self.ask.mode is Mode.BM25:
            return frozenset({Leg.BM25})
        if self.ask.mode is Mode.VECTOR:
            return frozenset({Leg.VECTOR})
        return frozenset({Leg.BM25, Leg.VECTOR})

    def _ask_embedder(self, pool: ThreadPoolExecutor) -> "Future[Vector] | None":
        """The query is embedded while the words are looked up."""
        if self.ask.mode is Mode.BM25:
            return None
        if self.embedder is None:
            if self.ask.mode is Mode.VECTOR:
                self.notices.append("embedding is disabled, so this is a search by words only")
            return None
        return pool.submit(self._embed, self.embedder)

    def _embed(self, embedder: Embedder) -> Vector:
        began = time.perf_counter()
        try:
            return embedder.embed_query(self.query.text)
        finally:
            self.embed_seconds = time.perf_counter() - began

    def _wait(self, asked: "Future[Vector] | None") -> Vector | None:
        if asked is None:
            return None
        try:
            return asked.result()
        except EmbeddingError as error:
            self.notices.append(f"searched by words only: {error.message}")
            return None

    def _by_words(self) -> list[LegHit]:
        return self.store.index.keyword(self.query.terms, self.ask.filters, self.depth)

    def _by_meaning(self, vector: Vector) -> list[LegHit]:
        if self.embedder is None:
            return []
        target = self.embedder.fingerprint
        found = self.store.index.vector(vector, target, self.ask.filters, self.depth)
        if not found or self.store.tasks.waiting(target):
            self._tell_what_is_missing(target)
        return found

    def _tell_what_is_missing(self, target: Fingerprint) -> None:
        if missing := self.store.tasks.without_vector(target):
            have = "item has" if missing == 1 else "items have"
            self.notices.append(
                f"{missing:,} {have} no vector yet and can be found by words only; "
                "embed what is missing with: pegboard backfill"
            )

    def _candidates(
        self, words: list[LegHit], meaning: list[LegHit], vector: Vector | None
    ) -> list[Candidate]:
        """Every item that some leg put forward, with its score in all of them."""
        ids = {hit.key: hit.id for hit in (*words, *meaning)}
        by_words = {hit.key: hit.score for hit in words}
        by_meaning = {hit.key: hit.score for hit in meaning}
        if self.ask.mode is Mode.HYBRID and vector is not None and self.embedder is not None:
            by_words |= self.store.index.keyword_scores(self.query.terms, _missing(ids, by_words))
            by_meaning |= self.store.index.vector_scores(
                vector, self.embedder.fingerprint, _missing(ids, by_meaning)
            )
        ranks = {
            Leg.BM25: {hit.key: hit.rank for hit in words},
            Leg.VECTOR: {hit.key: hit.rank for hit in meaning},
        }
        scores = {Leg.BM25: by_words, Leg.VECTOR: by_meaning}
        return [
            Candidate(
                key=key,
                id=item_id,
                scores={leg: known[key] for leg, known in scores.items() if key in known},
                ranks={leg: known[key] for leg, known in ranks.items() if key in known},
            )
            for key, item_id in ids.items()
        ]

    def _hits(self, ranked: list[tuple[Candidate, float]]) -> tuple[Hit, ...]:
        entries = self.store.index.entries([candidate.key for candidate, _ in ranked])
        named = {key for key, entry in entries.items() if self.query.names(entry.item.name)}
        here = [pair for pair in ranked if pair[0].key in entries]
        return tuple(
            _hit(candidate, score, entries[candidate.key], self.query)
            for candidate, score in prefer(here, named)[: self.ask.limit]
        )


def _missing(ids: Mapping[int, str], known: dict[int, float]) -> list[int]:
    return [key for key in ids if key not in known]


def _hit(candidate: Candidate, score: float, entry: Entry, query: Query) -> Hit:
    item = entry.item
    breakdown = {
        leg.value: {"score": round(raw, 4)}
        | ({"rank": float(candidate.ranks[leg])} if leg in candidate.ranks else {})
        for leg, raw in candidate.scores.items()
    }
    return Hit(
        id=item.id,
        kind=item.kind,
        namespace=item.namespace,
        name=item.name,
        category=item.category,
        source=item.scope,
        description=item.description,
        score=round(score, 4),
        match_type=match_type(candidate),
        breakdown=breakdown,
        reason=reason(candidate, item, query),
    )
