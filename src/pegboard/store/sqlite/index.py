"""The legs in SQLite: FTS5 for words, sqlite-vec for meaning."""

from collections.abc import Mapping, Sequence

from pegboard.model import Entry, Filters, Fingerprint, ItemId, LegHit, Vector
from pegboard.store.queries import load
from pegboard.store.sqlite.database import Database, Value, in_list
from pegboard.store.sqlite.rows import entry_from
from pegboard.store.sqlite.tasks import known_fingerprint
from pegboard.text import FIELD_WEIGHTS

SQL = load("sqlite", "index")


class SqliteIndex:
    def __init__(self, database: Database) -> None:
        self._db = database

    def keyword(self, terms: Sequence[str], filters: Filters, limit: int) -> list[LegHit]:
        if not terms:
            return []
        params = _filter_params(filters) | FIELD_WEIGHTS | {"match": _match(terms), "limit": limit}
        return self._ranked("keyword", params)

    def vector(
        self, query: Vector, target: Fingerprint, filters: Filters, limit: int
    ) -> list[LegHit]:
        fingerprint = known_fingerprint(self._db, target)
        if fingerprint is None:
            return []
        params = _filter_params(filters) | {
            "query": query,
            "fingerprint": fingerprint,
            "limit": limit,
        }
        return self._ranked("vector", params)

    def keyword_scores(self, terms: Sequence[str], keys: Sequence[int]) -> dict[int, float]:
        if not terms:
            return {}
        params = FIELD_WEIGHTS | {"match": _match(terms), "keys": in_list(keys)}
        return self._scores("keyword_scores", params)

    def vector_scores(
        self, query: Vector, target: Fingerprint, keys: Sequence[int]
    ) -> dict[int, float]:
        fingerprint = known_fingerprint(self._db, target)
        params: dict[str, Value] = {
            "query": query,
            "fingerprint": fingerprint,
            "keys": in_list(keys),
        }
        return self._scores("vector_scores", params)

    def entries(self, keys: Sequence[int]) -> dict[int, Entry]:
        rows = self._db.records(SQL["entries"], {"keys": in_list(keys)})
        return {entry.key: entry for entry in map(entry_from, rows)}

    def _ranked(self, query: str, params: Mapping[str, Value]) -> list[LegHit]:
        rows = self._db.rows(SQL[query], params)
        return [
            LegHit(int(key), ItemId(str(item_id)), rank, float(score))
            for rank, (key, item_id, score) in enumerate(rows, start=1)
        ]

    def _scores(self, query: str, params: Mapping[str, Value]) -> dict[int, float]:
        return {int(key): float(s) for key, s in self._db.rows(SQL[query], params)}


def _match(terms: Sequence[str]) -> str:
    """Quoted, a term is never syntax; a quote inside it is doubled."""
    return " OR ".join('"' + term.replace('"', '""') + '"' for term in terms)


def _filter_params(filters: Filters) -> dict[str, Value]:
    return {name: in_list(wanted) if wanted else None for name, wanted in filters._asdict().items()}
