"""The legs for whoever sees some namespaces and not others.

Search finds only what is public, whoever asks. So what it may find here is decided by namespaces
alone, and all who see the same ones get the same answers.
"""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from pegboard.model.items import Entry, Filters, Fingerprint, LegHit, Vector
from pegboard.store.sqlite.database import Database, Value, in_list
from pegboard.store.sqlite.fingerprints import known_fingerprint
from pegboard.store.sqlite.index import KeptCounts, SqliteIndex
from pegboard.store.sqlite.nearest import Ask, Nearest
from pegboard.store.sqlite.picture import Pictures
from pegboard.store.sqlite.seen_words import SeenWords
from pegboard.store.sqlite.words import as_hits


class Shared(NamedTuple):
    """What all who look at a board have in common."""

    database: Database
    nearest: Nearest
    pictures: Pictures


class SeenIndex(SqliteIndex):
    def __init__(self, shared: Shared, seen: SqliteIndex, open_to: tuple[str, ...]) -> None:
        self._db = shared.database
        self._words: SeenWords = SeenWords(shared.database, shared.pictures, open_to)
        self.nearest = shared.nearest
        self._kept_counts = KeptCounts()
        self._seen = seen
        """The index over what one caller sees of the items."""
        self._open = open_to

    def cards(self, keys: Sequence[int]) -> dict[int, str]:
        return self._seen.cards(keys)

    def entries(self, keys: Sequence[int]) -> dict[int, Entry]:
        return self._seen.entries(keys)

    def vector(
        self, query: Vector, target: Fingerprint, filters: Filters, limit: int
    ) -> list[LegHit]:
        fingerprint = known_fingerprint(self._db, target)
        if fingerprint is None:
            return []
        ask = Ask(query, fingerprint, target.dimension, self._params(filters), limit)
        plain = filters._replace(namespaces=()) == Filters()
        keys = partial(self._words.keys, self._wanted(filters)) if plain else None
        return as_hits(self.nearest.search_among(ask, keys))

    def _best(
        self, query: Vector, target: Fingerprint, keys: Sequence[int]
    ) -> dict[int, tuple[float, int]]:
        return super()._best(query, target, sorted(self.among(keys, Filters(active=None))))

    def _params(self, filters: Filters) -> dict[str, Value]:
        """Every query takes its filters from here, and so none reaches beyond these namespaces."""
        return super()._params(filters) | {"namespaces": in_list(self._wanted(filters))}

    def _wanted(self, filters: Filters) -> tuple[str, ...]:
        return tuple(each for each in filters.namespaces or self._open if each in self._open)
