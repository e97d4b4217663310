"""The nearest of many vectors: sign bits name the candidates, exact scores rank them.

The bits of all vectors of one kind are kept in memory, for MiniLM 56 bytes a vector. They are read
from sealed blocks and, behind those, from the vectors; each search first reads what has been hung
since, by whichever process. A code whose vector is gone does no harm: the database scores what a
code names, or finds that it is not there.

An item has a vector for each passage of its text, and the best of them decides. A vector's name is
one number: the key of its item and, in the highest byte, its passage.
"""

import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from pegboard.model import Vector
from pegboard.store.queries import load
from pegboard.store.sqlite.database import Database, Row, Value, in_list
from pegboard.store.sqlite.sealing import BLOCK, has_codes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SQL = load("sqlite", "nearest")

LAST = (1 << 63) - 1
"""No vector has a greater seq."""
SPAN = 1 << 16
"""Codes compared at a time: they and what is made of them stay in the processor's cache."""
KEY = (1 << 56) - 1
"""The bits of a name that are the item's key."""
SPREAD = 4000
"""How many codes are weighed at most beyond those that are wanted."""


class Reach(NamedTuple):
    """How far a search looks."""

    few: int = 2000
    """Up to so many vectors, all are compared exactly, and numpy is not needed."""
    least: int = 100
    """Candidates that are scored exactly, at least; three for each hit that is asked for."""


class Codes(NamedTuple):
    """Sign bits in the order in which their vectors were hung. What is there never changes."""

    names: "NDArray[np.int64]"
    words: "NDArray[np.uint64]"
    """A row for each 64 bits, a column for each vector."""
    used: int = 0
    """Columns in use; those behind are room to grow."""
    through: int = 0
    """The seq up to which vectors have been read."""
    tidy: int = 0
    """How many there were when they were last found to be mostly live."""
    passages: bool = False
    """Whether items may have several vectors."""


class _Ask(NamedTuple):
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

    def search(
        self,
        query: Vector,
        fingerprint: int,
        dimension: int,
        filters: Mapping[str, Value],
        limit: int,
    ) -> list[Row]:
        """Key, id and score of the nearest items that the filters leave."""
        ask = _Ask(query, fingerprint, dimension, filters, limit)
        with self._db.snapshot():
            codes = self._current(ask)
            return self._exact(ask) if codes is None else self._by_codes(codes, ask)

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

    def _exact(self, ask: _Ask) -> list[Row]:
        several = self._db.rows(SQL["has_passages"], ask.params())
        return self._db.rows(SQL["exact_best" if several else "exact"], ask.params())

    def _scored(self, keys: Sequence[int], ask: _Ask) -> list[Row]:
        """Each item once, by the best of its vectors."""
        best: dict[int, Row] = {}
        for row in self._db.rows(SQL["scored"], ask.params(keys=in_list(keys))):
            best.setdefault(row[0], row)
        return list(best.values())

    def _by_codes(self, codes: Codes, ask: _Ask) -> list[Row]:
        # On a larger board more vectors crowd around any query.
        wanted = max(self._reach.least, 3 * ask.limit) + codes.used // 4000
        if 4 * wanted >= codes.used:
            return self._exact(ask)
        question = _Question(codes, ask.query)
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

    def _further(self, question: "_Question", passed: int, wanted: int, ask: _Ask) -> list[Row]:
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

    def _current(self, ask: _Ask) -> Codes | None:
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
                if not self._db.rows(SQL["more_than"], ask.params(few=few)) or not _counts_bits():
                    return None
                codes = self._read_vectors(self._read_blocks(ask), ask)
                codes = codes._replace(tidy=codes.used)
            codes = self._read_vectors(codes, ask)
            if codes.used > 2 * codes.tidy:
                codes = self._looked_over(codes, ask)
            self._codes[ask.fingerprint] = codes
            return codes

    def _read_blocks(self, ask: _Ask) -> Codes:
        """What no block holds, or one that is not whole, is read from the vectors instead."""
        import numpy as np

        width = ask.dimension // 8
        sealed = self._db.rows(SQL["sealed_codes"], ask.params())[0][0]
        codes = _no_codes(width, room=sealed + sealed // 8 + 2 * BLOCK)
        after = 0
        while blocks := self._db.rows(SQL["sealed"], ask.params(after=after)):
            for first, last, names, bits in blocks:
                whole = len(names) % 8 == 0 < len(names) and len(bits) == len(names) // 8 * width
                if whole and codes.through < first <= last:
                    if first > codes.through + 1:
                        codes = self._read_vectors(codes, ask, before=first)
                    codes = _with_more(codes, np.frombuffer(names, ">i8"), bits, last)
            after = blocks[-1][0]
        return codes

    def _read_vectors(self, codes: Codes, ask: _Ask, before: int = LAST) -> Codes:
        while rows := self._db.rows(
            SQL["unsealed"], ask.params(through=codes.through, before=before)
        ):
            bits = b"".join(code for _, _, code in rows)
            codes = _with_more(codes, [name for _, name, _ in rows], bits, rows[-1][0])
        return codes

    def _looked_over(self, codes: Codes, ask: _Ask) -> Codes:
        live = self._db.rows(SQL["live"], ask.params())[0][0]
        if 4 * codes.used > 5 * live:
            codes = self._live(codes, ask)
        return codes._replace(tidy=codes.used)

    def _tidied(self, codes: Codes, near: "_Near", ask: _Ask) -> Codes | None:
        """The live codes alone, if it is dead ones that have crowded out the others."""
        live = self._db.rows(SQL["live_among"], ask.params(keys=in_list(near.keys)))[0][0]
        if 4 * live >= 3 * len(near.keys) and not near.doubled:
            return None
        tidied = self._live(codes, ask)
        with self._lock:
            self._codes[ask.fingerprint] = tidied
        return tidied

    def _live(self, codes: Codes, ask: _Ask) -> Codes:
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


class _Near(NamedTuple):
    keys: list[int]
    """Of the likeliest items."""
    doubled: bool
    """Whether few vectors have many codes each: they were hung again and again."""


class _Question:
    """One query, and how far each code is from its own."""

    def __init__(self, codes: Codes, query: Vector) -> None:
        import numpy as np

        self.codes = codes
        self._floats = np.frombuffer(query, "<f4")
        bits = np.packbits(self._floats > 0, bitorder="little").tobytes()
        self._distances = _distances(codes, _words(bits, 1)[:, 0])

    def best(self, wanted: int, among: Sequence[int] | None = None) -> _Near | None:
        """The likeliest items; None if the bits do not tell the items apart."""
        import numpy as np

        distances, places = self._distances, None
        if among is not None:
            places = np.flatnonzero(np.isin(self.codes.names[: self.codes.used] & KEY, among))
            distances = distances[places]
        enough = wanted + min(7 * wanted, SPREAD)
        near = _nearest(distances, enough)
        if len(near) > 4 * enough:
            return None
        near = near if places is None else places[near]
        weights = self._weights(near)
        order = np.argsort(-weights, kind="stable")
        if not self.codes.passages:  # else many may be of few items
            order = order[: 2 * wanted]
        names, weights = self.codes.names[near[order]], weights[order]
        keys = names & KEY
        once = np.sort(np.unique(keys, return_index=True)[1])
        vectors = len(np.unique(names)) if self.codes.passages else len(once)
        if len(once) > wanted:  # those that weigh the same stay together: their ids will decide
            once = once[weights[once] >= weights[once[wanted - 1]]]
        chosen: list[int] = keys[once].tolist()
        return _Near(chosen, 2 * vectors < len(names))

    def _weights(self, near: "NDArray[np.intp]") -> "NDArray[np.float32]":
        """The sum of the query's numbers where a code has its bits: better than counting them."""
        import numpy as np

        codes = self.codes.words.take(near, axis=1).view(np.uint8)
        codes = codes.reshape(len(self.codes.words), len(near), 8)
        weights = np.zeros(len(near), np.float32)
        for place, sums in enumerate(_sums_of_bytes(self._floats)):
            weights += sums.take(codes[place // 8, :, place % 8])
        return weights


def _sums_of_bytes(floats: "NDArray[np.float32]") -> "NDArray[np.float32]":
    """For each eight numbers, the sums of those that the bits of any byte choose.

    Not as a matrix product: that may wake threads, which keep a core busy long after it is done.
    """
    import numpy as np

    eights = floats.reshape(-1, 8)
    sums = np.zeros((len(eights), 1), np.float32)
    for bit in range(8):
        sums = np.hstack([sums, sums + eights[:, bit : bit + 1]])
    return sums


def _distances(codes: Codes, query: "NDArray[np.uint64]") -> "NDArray[np.uint16]":
    """In how many bits each code differs from the query's."""
    import numpy as np

    distances = np.zeros(codes.used, np.uint16)
    span = min(SPAN, codes.used)
    mixed, counts = np.empty(span, np.uint64), np.empty(span, np.uint8)
    for start in range(0, codes.used, SPAN):
        part = distances[start : start + SPAN]
        size = len(part)
        for row, word in zip(codes.words, query, strict=True):
            np.bitwise_xor(row[start : start + size], word, out=mixed[:size])
            np.bitwise_count(mixed[:size], out=counts[:size])
            np.add(part, counts[:size], out=part)
    return distances


def _nearest(distances: "NDArray[np.uint16]", enough: int) -> "NDArray[np.intp]":
    """Places of the smallest distances, about so many; where to cut is told by a sample first."""
    import numpy as np

    for step in (1 + len(distances) // (2 * SPAN), 1):
        counts = np.bincount(distances[::step]).cumsum()
        near = np.flatnonzero(distances <= int(np.searchsorted(counts, enough / step)))
        if 2 * len(near) >= min(enough, len(distances)):
            break
    return near


def _no_codes(width: int, room: int) -> Codes:
    import numpy as np

    return Codes(np.empty(room, np.int64), np.empty((-(-width // 8), room), np.uint64))


def _with_more(
    codes: Codes, names: "Sequence[int] | NDArray[np.int64]", bits: bytes, through: int
) -> Codes:
    """Written behind what is there, so that whoever holds the old codes sees no change."""
    import numpy as np

    end = codes.used + len(names)
    if end > len(codes.names):
        room = end + end // 2
        longer, wider = np.empty(room, np.int64), np.empty((len(codes.words), room), np.uint64)
        longer[: codes.used] = codes.names[: codes.used]
        wider[:, : codes.used] = codes.words[:, : codes.used]
        codes = codes._replace(names=longer, words=wider)
    codes.names[codes.used : end] = names
    codes.words[:, codes.used : end] = _words(bits, len(names))
    several = codes.passages or bool((codes.names[codes.used : end] > KEY).any())
    return codes._replace(used=end, through=through, passages=several)


def _words(bits: bytes, count: int) -> "NDArray[np.uint64]":
    """Bytes of so many codes as columns of 64 bits, filled up with zeros."""
    import numpy as np

    rows = np.frombuffer(bits, np.uint8).reshape(count, -1)
    full = np.zeros((count, -(-rows.shape[1] // 8) * 8), np.uint8)
    full[:, : rows.shape[1]] = rows
    return full.view(np.uint64).T


def _counts_bits() -> bool:
    import numpy as np

    return hasattr(np, "bitwise_count")  # since numpy 2
