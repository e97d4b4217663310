"""The legs in PostgreSQL: words by BM25, meaning by pgvector."""

from collections.abc import Sequence

from pegboard.model import Entry, Filters, Fingerprint, LegHit, Vector, WordHits, WordQuery
from pegboard.store.postgres.database import Database
from pegboard.store.postgres.nearest import Nearest
from pegboard.store.postgres.rows import READER, sayable
from pegboard.store.postgres.words import Words, as_hits
from pegboard.store.queries import load

SQL = load("postgres", "index")
PLAIN = load("postgres", "index", filters="visible")
"""The same without filters: most searches have none, and these are planned once."""


class PostgresIndex:
    def __init__(self, database: Database, words: Words, nearest: Nearest) -> None:
        self._db = database
        self._words = words
        self._nearest = nearest

    def frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        return self._words.frequencies(terms)

    def keyword(self, query: WordQuery, filters: Filters, limit: int) -> WordHits:
        return self._words.keyword(query, filter_params(filters), limit)

    def keyword_scores(self, query: WordQuery, keys: Sequence[int]) -> dict[int, float]:
        return self._words.scores(query, keys)

    def vector(
        self, query: Vector, target: Fingerprint, filters: Filters, limit: int
    ) -> list[LegHit]:
        return as_hits(self._nearest.search(query, target, filter_params(filters), limit))

    def vector_scores(
        self, query: Vector, target: Fingerprint, keys: Sequence[int]
    ) -> dict[int, float]:
        return self._nearest.scores(query, target, keys)

    def among(self, keys: Sequence[int], filters: Filters) -> frozenset[int]:
        return self._words.among(keys, filter_params(filters))

    def named(self, name_key: str, filters: Filters, limit: int) -> list[LegHit]:
        bounds = filter_params(filters)
        params = {**bounds, "name_key": name_key.replace("\0", ""), "limit": limit}
        rows = self._db.rows((SQL if bounds else PLAIN)["named"], params, prepare=not bounds)
        return as_hits([(*row, 1.0) for row in rows])

    def words_near(self, variants: Sequence[str]) -> list[str]:
        return self._words.near(variants)

    def words_from(self, beginning: str, limit: int) -> list[str]:
        return self._words.beginning(beginning, limit)

    def entries(self, keys: Sequence[int]) -> dict[int, Entry]:
        rows = self._db.records(SQL["entries"], {"keys": list(keys)}, prepare=True)
        return READER.entries(rows)


def filter_params(filters: Filters) -> dict[str, object]:
    """Nothing, if nothing is bounded."""
    if filters == Filters():
        return {}
    own: dict[str, object] = {
        "active": filters.active,
        "live": None if filters.live is None else sayable(filters.live),
    }
    bounds = {name: wanted for name, wanted in filters._asdict().items() if name not in own}
    return own | {name: sayable(wanted) if wanted else None for name, wanted in bounds.items()}
