"""The legs in PostgreSQL: words by BM25, meaning by pgvector."""

from collections.abc import Sequence

from pegboard.model.items import (
    Entry,
    Filters,
    Fingerprint,
    FirstLook,
    LegHit,
    SourceCounts,
    Spellings,
    Vector,
    WordHits,
    WordQuery,
)
from pegboard.store.postgres.database import Database
from pegboard.store.postgres.memory import Memory
from pegboard.store.postgres.nearest import Nearest
from pegboard.store.postgres.rows import READER
from pegboard.store.postgres.words import Words, as_hits
from pegboard.store.queries import load
from pegboard.store.rows import beginning, storable

SQL = load("postgres", "index")
PLAIN = load("postgres", "index", filters="visible")


class PostgresIndex:
    def __init__(self, database: Database, memory: Memory, words: Words, nearest: Nearest) -> None:
        self._db = database
        self._memory = memory
        self._words = words
        self._nearest = nearest

    def first_look(
        self, terms: Sequence[str], name_key: str, filters: Filters, limit: int
    ) -> FirstLook:
        return self._words.first_look(terms, name_key, filter_params(filters), limit)

    def frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        return self._words.frequencies(terms)

    def keyword(self, query: WordQuery, filters: Filters, limit: int) -> WordHits:
        return self._words.keyword(query, filter_params(filters), limit)

    def keyword_scores(self, query: WordQuery, keys: Sequence[int]) -> dict[int, float]:
        return self._words.scores(query, keys)

    def best_keyword_score(
        self, terms: Sequence[str], least: float, without: Sequence[str] = ()
    ) -> float:
        return self._words.best(terms, least, without)

    def vector(
        self, query: Vector, target: Fingerprint, filters: Filters, limit: int
    ) -> list[LegHit]:
        return as_hits(self._nearest.search(query, target, filter_params(filters), limit))

    def vector_scores(
        self, query: Vector, target: Fingerprint, keys: Sequence[int]
    ) -> dict[int, float]:
        return {k: score for k, (score, _) in self._nearest.best(query, target, keys).items()}

    def best_passages(
        self, query: Vector, target: Fingerprint, keys: Sequence[int]
    ) -> dict[int, int]:
        return {k: passage for k, (_, passage) in self._nearest.best(query, target, keys).items()}

    def among(self, keys: Sequence[int], filters: Filters) -> frozenset[int]:
        return self._words.among(keys, filter_params(filters))

    def words_like(
        self, variants: Sequence[str], beginnings: Sequence[str], limit: int
    ) -> Spellings:
        return self._words.like(variants, beginnings, limit)

    def source_counts(self) -> SourceCounts:
        return self._memory.recall("source_counts", self._read_source_counts)

    def _read_source_counts(self) -> SourceCounts:
        return SourceCounts(self._db.rows(PLAIN["source_counts"], {}))

    def cards(self, keys: Sequence[int]) -> dict[int, str]:
        rows = self._db.rows(SQL["cards"], {"keys": list(keys)}, prepare=True)
        return {int(key): str(card) for key, card in rows}

    def entries(self, keys: Sequence[int]) -> dict[int, Entry]:
        rows = self._db.records(SQL["entries"], {"keys": list(keys)}, prepare=True)
        return READER.entries(rows)

    def listed(self, filters: Filters, after: tuple[str, str], limit: int) -> list[Entry]:
        bounds = filter_params(filters)
        item_id, namespace = map(beginning, after)
        place: dict[str, object] = {"id": item_id, "namespace": namespace, "limit": limit}
        rows = self._db.records((SQL if bounds else PLAIN)["listed"], bounds | place)
        return [READER.entry(row) for row in rows]


def filter_params(filters: Filters) -> dict[str, object]:
    """Nothing, if nothing is bounded."""
    if filters == Filters():
        return {}
    own: dict[str, object] = {
        "active": filters.active,
        "live": None if filters.live is None else storable(filters.live),
    }
    bounds = {name: wanted for name, wanted in filters._asdict().items() if name not in own}
    return own | {name: storable(wanted) if wanted else None for name, wanted in bounds.items()}
