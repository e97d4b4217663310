"""The nearest of many vectors: sign bits name the candidates, exact scores rank them.

The bits of all vectors of one kind are kept in memory, for MiniLM 56 bytes a vector. They are read
from sealed blocks and, behind those, from the vectors; each search first reads what has been hung
since, by whichever process. A code whose vector is gone does no harm: the database scores what a
code names, or finds that it is not there.

An item has a vector for each passage of its text, and the best of them decides. A vector's name is
one number: the key of its item and, in the highest byte, its passage.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from pegboard.model.items import Vector
from pegboard.store.queries import load
from pegboard.store.sqlite.codes import Codes, Near, Question, counts_bits, no_codes, with_more
from pegboard.store.sqlite.database import Database, Row, Value, in_list
from pegboard.store.sqlite.sealing import BLOCK, has_codes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SQL = load("sqlite", "nearest")

LAST = (1 << 63) - 1
"""No vector has a greater seq."""


class Reach(NamedTuple):
    """How far a search looks."""

    few: int = 2000
    """Up to so many vectors, all are compared exactly, and numpy is not needed."""
    least: int = 100
    """Candidates that are scored exactly, at least; three for each hit that is asked for."""


class Ask(NamedTuple):
    query: Vector
    fingerprint: int
    dimension: int
    filters: Mapping[str, Value]
    limit: int

    def params(self, **more: Value) -> dict[str, Value]:
        own: dict[str, Value] = {
            "query": self.query,
            "fingerprint": self.fingerprint,
            "dimension": self.dimension,
            "limit": self.limit,
        }
        return {**self.filters, **own, **more}


class Nearest:
    """Threads share it; each search has a snapshot of the board and the codes that belong to it."""

    def __init__(self, database: Database, reach: Reach) -> None:
        self._db = database
        self._reach = reach
        self._codes: dict[int, Codes] = {}
        self._lock = threading.Lock()

    def search(self, ask: Ask) -> list[Row]:
        """Key, id and score of the nearest items that the filters leave."""

        def work() -> list[Row]:
            codes = self._current(ask)
            return self._exact(ask) if codes is None else self._by_codes(codes, ask)

        return self._db.snapshot(work)

    def search_among(
        self, ask: Ask, keys: "Callable[[], NDArray[np.int64]] | None" = None
    ) -> list[Row]:
        """As `search`, but what is found never depends on vectors that the filters do not leave.

        `keys` gives those of all items that they leave, or of a few more, where that is known.
        """

        def work() -> list[Row]:
            codes = self._current(ask)
            if codes is None:
                return self._exact(ask)
            allowed = keys() if keys else self._left(ask)
            if len(allowed) <= self._reach.few:
                return self._exact(ask)
            wanted = max(self._reach.least, 3 * ask.limit) + len(allowed) // 4000
            near = Question(codes, ask.query).best(wanted, allowed)
            found = [] if near is None else self._scored(near.keys, ask)
            return found[: ask.limit] if len(found) >= ask.limit else self._exact(ask)

        return self._db.snapshot(work)

    def _left(self, ask: Ask) -> "NDArray[np.int64]":
        import numpy as np

        rows = self._db.rows(SQL["left"], ask.params())
        return np.fromiter((key for (key,) in rows), np.int64, len(rows))

    def best(
        self, query: Vector, fingerprint: int, keys: Sequence[int]
    ) -> dict[int, tuple[float, int]]:
        """The score of each item that has a vector, and the passage that it comes from."""
        ask: dict[str, Value] = {"query": query, "fingerprint": fingerprint, "keys": in_list(keys)}
        found: dict[int, tuple[float, int]] = {}
        for key, passage, score in self._db.rows(SQL["passage_scores"], ask):
            if key not in found or (score, -passage) > (found[key][0], -found[key][1]):
                found[key] = score, passage
        return found

    def _exact(self, ask: Ask) -> list[Row]:
        several = self._db.rows(SQL["has_passages"], ask.params())
        return self._db.rows(SQL["exact_best" if several else "exact"], ask.params())

    def _scored(self, keys: Sequence[int], ask: Ask) -> list[Row]:
        """Each item once, by the best of its vectors."""
        best: dict[int, Row] = {}
        for row in self._db.rows(SQL["scored"], ask.params(keys=in_list(keys))):
            best.setdefault(row[0], row)
        return list(best.values())

    def _by_codes(self, codes: Codes, ask: Ask) -> list[Row]:
        # On a larger board more vectors crowd around any query.
        wanted = max(self._reach.least, 3 * ask.limit) + codes.used // 4000
        if 4 * wanted >= codes.used:
            return self._exact(ask)
        question = Question(codes, ask.query)
        near = question.best(wanted)
        if near is None:
            return self._exact(ask)
        found = self._scored(near.keys, ask)
        if 4 * len(found) < 3 * wanted:
            tidied = self._tidied(codes, near, ask)
            if tidied is not None:
                return self._by_codes(tidied, ask)
            found = self._further(question, len(found), wanted, ask)
        return found[: ask.limit]

    def _further(self, question: Question, passed: int, wanted: int, ask: Ask) -> list[Row]:
        """The filters have taken most candidates: take more, or begin with what they leave."""
        wider = wanted * wanted * 3 // (2 * max(passed, 1))
        if wider <= min(16 * wanted, question.codes.used // 16):
            near = question.best(wider)
            found = [] if near is None else self._scored(near.keys, ask)
            if 2 * len(found) >= wanted:
                return found
        allowed = [int(row[0]) for row in self._db.rows(SQL["allowed"], ask.params())]
        if len(allowed) > 4 * wanted:
            near = question.best(wanted, allowed)
            found = [] if near is None else self._scored(near.keys, ask)
            return found if len(found) >= ask.limit else self._exact(ask)
        return self._scored(allowed, ask)

    def _current(self, ask: Ask) -> Codes | None:
        """All codes up to this moment, or None if they are not worth the while.

        The snapshot begins with the first read, and that is made under the lock: so it is never
        older than the codes, which others may have read and tidied meanwhile.
        """
        if not has_codes(ask.dimension):
            return None
        with self._lock:
            codes = self._codes.get(ask.fingerprint)
            if codes is None:
                few = self._reach.few
                if not self._db.rows(SQL["more_than"], ask.params(few=few)) or not counts_bits():
                    return None
                codes = self._read_vectors(self._read_blocks(ask), ask)
                codes = codes._replace(tidy=codes.used)
            codes = self._read_vectors(codes, ask)
            if codes.used > 2 * codes.tidy:
                codes = self._looked_over(codes, ask)
            self._codes[ask.fingerprint] = codes
            return codes

    def _read_blocks(self, ask: Ask) -> Codes:
        """What no block holds, or one that is not whole, is read from the vectors instead."""
        import numpy as np

        width = ask.dimension // 8
        sealed = self._db.rows(SQL["sealed_codes"], ask.params())[0][0]
        codes = no_codes(width, room=sealed + sealed // 8 + 2 * BLOCK)
        after = 0
        while blocks := self._db.rows(SQL["sealed"], ask.params(after=after)):
            for first, last, names, bits in blocks:
                whole = len(names) % 8 == 0 < len(names) and len(bits) == len(names) // 8 * width
                if whole and codes.through < first <= last:
                    if first > codes.through + 1:
                        codes = self._read_vectors(codes, ask, before=first)
                    codes = with_more(codes, np.frombuffer(names, ">i8"), bits, last)
            after = blocks[-1][0]
        return codes

    def _read_vectors(self, codes: Codes, ask: Ask, before: int = LAST) -> Codes:
        while rows := self._db.rows(
            SQL["unsealed"], ask.params(through=codes.through, before=before)
        ):
            bits = b"".join(code for _, _, code in rows)
            codes = with_more(codes, [name for _, name, _ in rows], bits, rows[-1][0])
        return codes

    def _looked_over(self, codes: Codes, ask: Ask) -> Codes:
        live = self._db.rows(SQL["live"], ask.params())[0][0]
        if 4 * codes.used > 5 * live:
            codes = self._live(codes, ask)
        return codes._replace(tidy=codes.used)

    def _tidied(self, codes: Codes, near: Near, ask: Ask) -> Codes | None:
        """The live codes alone, if it is dead ones that have crowded out the others."""
        live = self._db.rows(SQL["live_among"], ask.params(keys=in_list(near.keys)))[0][0]
        if 4 * live >= 3 * len(near.keys) and not near.doubled:
            return None
        tidied = self._live(codes, ask)
        with self._lock:
            self._codes[ask.fingerprint] = tidied
        return tidied

    def _live(self, codes: Codes, ask: Ask) -> Codes:
        """Without the codes whose vector is gone or was replaced."""
        import numpy as np

        rows = self._db.rows(SQL["live_names"], ask.params())
        live = np.fromiter((row[0] for row in rows), np.int64, len(rows))
        newest, back = np.unique(codes.names[: codes.used][::-1], return_index=True)
        kept = codes.used - 1 - np.sort(back[np.isin(newest, live)])[::-1]
        return codes._replace(
            names=codes.names[kept],
            words=np.ascontiguousarray(codes.words[:, kept]),
            used=len(kept),
            tidy=len(kept),
        )
