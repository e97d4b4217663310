"""The legs in SQLite: words, meaning, and what a hit is made of."""

import threading
import time
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
from pegboard.store.queries import load
from pegboard.store.rows import beginning
from pegboard.store.sqlite.database import Database, Value, in_list
from pegboard.store.sqlite.fingerprints import known_fingerprint
from pegboard.store.sqlite.nearest import Ask, Nearest, Reach
from pegboard.store.sqlite.rows import READER
from pegboard.store.sqlite.words import Words, as_hits

SQL = load("sqlite", "index")
COUNTS_SECONDS = 1.0
"""How long counts by source are used although the board has changed: reading them takes a scan."""


class KeptCounts(threading.local):
    """The counts that a thread has read, and when."""

    found: SourceCounts | None = None
    moment: tuple[int, int] = (0, 0)
    read_at = 0.0


class SqliteIndex:
    def __init__(self, database: Database, reach: Reach | None = None) -> None:
        self._db = database
        self._words = Words(database)
        self.nearest = Nearest(database, reach or Reach())
        self._kept_counts = KeptCounts()

    def first_look(
        self, terms: Sequence[str], name_key: str, filters: Filters, limit: int
    ) -> FirstLook:
        params = {**self._params(filters), "name_key": name_key, "limit": limit}
        named = self._db.rows(SQL["named"], params) if name_key else []
        return FirstLook(self.frequencies(terms), as_hits([(*row, 1.0) for row in named]))

    def frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        return self._words.frequencies(terms)

    def keyword(self, query: WordQuery, filters: Filters, limit: int) -> WordHits:
        return self._words.keyword(query, self._params(filters), limit)

    def keyword_scores(self, query: WordQuery, keys: Sequence[int]) -> dict[int, float]:
        return self._words.scores(query, keys)

    def best_keyword_score(
        self, terms: Sequence[str], least: float, without: Sequence[str] = ()
    ) -> float:
        return self._words.best(terms, least, without)

    def vector(
        self, query: Vector, target: Fingerprint, filters: Filters, limit: int
    ) -> list[LegHit]:
        fingerprint = known_fingerprint(self._db, target)
        if fingerprint is None:
            return []
        ask = Ask(query, fingerprint, target.dimension, self._params(filters), limit)
        return as_hits(self.nearest.search(ask))

    def vector_scores(
        self, query: Vector, target: Fingerprint, keys: Sequence[int]
    ) -> dict[int, float]:
        return {key: score for key, (score, _) in self._best(query, target, keys).items()}

    def best_passages(
        self, query: Vector, target: Fingerprint, keys: Sequence[int]
    ) -> dict[int, int]:
        return {key: passage for key, (_, passage) in self._best(query, target, keys).items()}

    def _best(
        self, query: Vector, target: Fingerprint, keys: Sequence[int]
    ) -> dict[int, tuple[float, int]]:
        fingerprint = known_fingerprint(self._db, target) if keys else None
        return {} if fingerprint is None else self.nearest.best(query, fingerprint, keys)

    def among(self, keys: Sequence[int], filters: Filters) -> frozenset[int]:
        return self._words.among(keys, self._params(filters))

    def words_like(
        self, variants: Sequence[str], beginnings: Sequence[str], limit: int
    ) -> Spellings:
        longer = {each: self._words.beginning(each, limit) for each in beginnings}
        return Spellings(self._words.near(variants), longer)

    def source_counts(self) -> SourceCounts:
        kept = self._kept_counts
        moment, now = self._db.moment(), time.monotonic()
        changed = moment != kept.moment and now - kept.read_at > COUNTS_SECONDS
        if kept.found is None or changed:
            rows = self._db.rows(SQL["source_counts"], self._params(Filters()))
            kept.found = SourceCounts(
                (str(source), str(namespace), int(items)) for source, namespace, items in rows
            )
            kept.moment, kept.read_at = moment, now
        return kept.found

    def cards(self, keys: Sequence[int]) -> dict[int, str]:
        rows = self._db.rows(SQL["cards"], {"keys": in_list(keys)})
        return {int(key): str(card) for key, card in rows}

    def entries(self, keys: Sequence[int]) -> dict[int, Entry]:
        rows = self._db.records(SQL["entries"], {"keys": in_list(keys)})
        return READER.entries(rows)

    def listed(self, filters: Filters, after: tuple[str, str], limit: int) -> list[Entry]:
        item_id, namespace = map(beginning, after)
        place: dict[str, Value] = {"id": item_id, "namespace": namespace, "limit": limit}
        rows = self._db.records(SQL["listed"], self._params(filters) | place)
        return [READER.entry(row) for row in rows]

    def _params(self, filters: Filters) -> dict[str, Value]:
        bounds = filters._asdict()
        active, live = bounds.pop("active"), bounds.pop("live")
        params: dict[str, Value] = {
            name: in_list(wanted) if wanted else None for name, wanted in bounds.items()
        }
        return params | {
            "active": None if active is None else int(active),
            "live": None if live is None else in_list(live),
        }
