"""Sign bits of many vectors in memory, and which of them are likeliest near a query."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from pegboard.model.items import Vector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SPAN = 1 << 16
"""Codes compared at a time: they and what is made of them stay in the processor's cache."""
KEY = (1 << 56) - 1
"""The bits of a name that are the item's key."""
SPREAD = 4000
"""How many codes are weighed at most beyond those that are wanted."""


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


class Near(NamedTuple):
    keys: list[int]
    """Of the likeliest items."""
    doubled: bool
    """Whether few vectors have many codes each: they were hung again and again."""


class Question:
    """One query, and how far each code is from its own."""

    def __init__(self, codes: Codes, query: Vector) -> None:
        import numpy as np

        self.codes = codes
        self._floats = np.frombuffer(query, "<f4")
        bits = np.packbits(self._floats > 0, bitorder="little").tobytes()
        self._distances = _distances(codes, _words(bits, 1)[:, 0])

    def best(
        self, wanted: int, among: "Sequence[int] | NDArray[np.int64] | None" = None
    ) -> Near | None:
        """The likeliest items; None if the bits do not tell the items apart."""
        import numpy as np

        distances, places, passages = self._distances, None, self.codes.passages
        if among is not None:
            names = self.codes.names[: self.codes.used]
            places = np.flatnonzero(np.isin(names & KEY, among))
            distances, passages = distances[places], bool((names[places] > KEY).any())
        enough = wanted + min(7 * wanted, SPREAD)
        near = _nearest(distances, enough)
        if len(near) > 4 * enough:
            return None
        near = near if places is None else places[near]
        weights = self._weights(near)
        order = np.argsort(-weights, kind="stable")
        if not passages:  # else many may be of few items
            order = order[: 2 * wanted]
        names, weights = self.codes.names[near[order]], weights[order]
        keys = names & KEY
        once = np.sort(np.unique(keys, return_index=True)[1])
        vectors = len(np.unique(names)) if passages else len(once)
        if len(once) > wanted:  # those that weigh the same stay together: their ids will decide
            once = once[weights[once] >= weights[once[wanted - 1]]]
        chosen: list[int] = keys[once].tolist()
        return Near(chosen, 2 * vectors < len(names))

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


def no_codes(width: int, room: int) -> Codes:
    import numpy as np

    return Codes(np.empty(room, np.int64), np.empty((-(-width // 8), room), np.uint64))


def with_more(
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


def counts_bits() -> bool:
    import numpy as np

    return hasattr(np, "bitwise_count")  # since numpy 2
