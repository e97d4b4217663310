"""The text index in memory, so that its terms can be weighed by what is in some namespaces alone.

BM25 asks how many items there are, how long they are and how many have a term. FTS5 asks that of
the whole board, and so its scores tell of items which the one who asks may not see.
"""

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import apsw

from pegboard.store.queries import load
from pegboard.store.sqlite.database import Database, Row
from pegboard.store.sqlite.words import matching
from pegboard.text import FIELD_WEIGHTS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SQL = load("sqlite", "picture")

TOKENIZER = ["remove_diacritics", "0", "categories", "L* N* Co M*"]
"""As the text index has it."""
MOST_NUMBERS = 4_000_000
"""So many are kept of terms, and so many of who sees what."""


class Posting(NamedTuple):
    """Which items have a term, by their places, and how often: weighed by the fields it is in."""

    places: "NDArray[np.intp]"
    frequencies: "NDArray[np.float64]"


class Sight(NamedTuple):
    """What can be found by whoever sees some namespaces."""

    shown: "NDArray[np.bool_]"
    """For each place, whether it is among it."""
    items: int
    terms: int


class Picture:
    """What all can find who may come to a namespace, at one moment. Threads share it."""

    def __init__(self, mark: str, rows: Sequence[Row]) -> None:
        import numpy as np

        self.mark = mark
        self.keys = np.array([key for key, _, _ in rows], np.int64)
        """In order; a place is a position among them."""
        self.lengths = np.array([terms for _, terms, _ in rows], np.float64)
        names = dict.fromkeys(namespace for _, _, namespace in rows)
        self._numbers = {name: number for number, name in enumerate(names)}
        self._spaces = np.array([self._numbers[namespace] for _, _, namespace in rows], np.intp)
        self._postings: dict[str, Posting] = {}
        self._kept = 0
        self._sights: dict[tuple[str, ...], Sight] = {}

    def sight(self, namespaces: tuple[str, ...]) -> Sight:
        found = self._sights.get(namespaces)
        if found is None:
            found = self._looked(namespaces)
            if len(self._sights) * len(self.keys) > MOST_NUMBERS:
                self._sights.clear()
            self._sights[namespaces] = found
        return found

    def _looked(self, namespaces: tuple[str, ...]) -> Sight:
        import numpy as np

        known = [self._numbers[name] for name in namespaces if name in self._numbers]
        shown = np.isin(self._spaces, known)
        return Sight(shown, int(shown.sum()), int(self.lengths[shown].sum()))

    def posting(self, term: str, database: Database) -> Posting:
        found = self._postings.get(term)
        if found is None:
            found = self._read(term, database)
            self._kept += len(found.places)
            if self._kept > MOST_NUMBERS:
                self._postings.clear()
                self._kept = len(found.places)
            self._postings[term] = found
        return found

    def _read(self, term: str, database: Database) -> Posting:
        import numpy as np

        if not _is_kept(database.connection(), term):
            # FTS5 has taken it apart: that its parts stand one behind the other is enough.
            rows = database.rows(SQL["matching"], {"match": matching([term])})
            places, here = self.places([key for (key,) in rows])
            return Posting(places, np.ones(len(here)))
        rows = database.rows(SQL["instances"], {"term": term})
        said = np.fromiter((each for (each,) in rows), np.int64, len(rows))
        keys, firsts = np.unique(said >> 3, return_index=True)
        weights = np.array([*FIELD_WEIGHTS.values()])[said & 7]
        sums = np.add.reduceat(weights, firsts) if len(firsts) else weights
        places, here = self.places(keys)
        return Posting(places, sums[here])

    def places(
        self, keys: "Sequence[int] | NDArray[np.int64]"
    ) -> "tuple[NDArray[np.intp], NDArray[np.intp]]":
        """The places of those keys that have one, and which of the keys these are."""
        import numpy as np

        asked = np.asarray(keys, np.int64)
        places = np.searchsorted(self.keys, asked)
        inside = np.flatnonzero(places < len(self.keys))
        here = inside[self.keys[places[inside]] == asked[inside]]
        return places[here], here


class Pictures:
    """The latest picture of a board."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._lock = threading.Lock()
        self._latest: Picture | None = None

    def latest(self) -> Picture:
        latest, mark = self._latest, self._mark()
        if latest is not None and latest.mark == mark:
            return latest
        with self._lock:  # one makes it, and the others wait for that one
            return self._db.snapshot(self._taken)

    def _taken(self) -> Picture:
        latest, mark = self._latest, self._mark()
        if latest is None or latest.mark != mark:
            latest = self._latest = Picture(mark, self._db.rows(SQL["items"]))
        return latest

    def _mark(self) -> str:
        return str(self._db.rows(SQL["mark"])[0][0])


def _is_kept(connection: apsw.Connection, term: str) -> bool:
    """Whether FTS5 has a term as it is."""
    if term.isascii():
        return True
    take_apart = connection.fts5_tokenizer("unicode61", TOKENIZER)
    found = take_apart(term.encode(), apsw.FTS5_TOKENIZE_QUERY, None, include_offsets=False)
    return found == [(term,)]
