"""Sealed codes: the sign bits of many vectors in one row, so that a new process starts quickly.

Whoever hangs vectors seals them, in the same transaction. A block is derived from the vectors and
can be dropped at any time: what no block holds is read from the vectors.
"""

import struct
from typing import NamedTuple

import apsw

from pegboard.store.queries import load
from pegboard.store.sqlite.database import Row, Value

SQL = load("sqlite", "nearest")

BLOCK = 2048
"""Vectors in a block."""
FEWEST_BITS = 64
"""Vectors shorter than this have too few signs to be told apart by."""


class Family(NamedTuple):
    """Vectors that can be compared with one another."""

    fingerprint: int
    dimension: int


def has_codes(dimension: int) -> bool:
    return dimension % 8 == 0 and dimension >= FEWEST_BITS


def seal(tx: apsw.Connection, family: Family, size: int) -> bool:
    """Keep the codes of the next vectors together, if enough for a block have gathered."""
    if not has_codes(family.dimension):
        return False
    through = _rows(tx, "sealed_through", family)[0][0]
    found = _rows(tx, "block_end", family, through=through, size=size)
    for (last,) in found:
        _write_block(tx, family, through + 1, last)
    return bool(found)


def compact(tx: apsw.Connection, family: Family, size: int) -> bool:
    """Write one block anew that has lost a quarter of its vectors, with neighbours that fit in."""
    blocks = _rows(tx, "block_counts", family)
    for place, (first, end, codes, live) in enumerate(blocks):
        if 4 * live > 3 * codes:
            continue
        for _, last, _, more in blocks[place + 1 :]:
            if live + more > size:
                break
            end, live = last, live + more
        _write_block(tx, family, first, end)
        return True
    return False


def _write_block(tx: apsw.Connection, family: Family, first: int, last: int) -> None:
    rows = _rows(tx, "codes_between", family, first=first, last=last)
    _rows(tx, "drop_blocks", family, first=first, last=last)
    if rows:
        keys = struct.pack(f">{len(rows)}q", *(name for name, _ in rows))
        codes = b"".join(code for _, code in rows)
        _rows(tx, "add_block", family, first=first, last=last, keys=keys, codes=codes)


def _rows(tx: apsw.Connection, query: str, family: Family, **params: Value) -> list[Row]:
    return list(tx.execute(SQL[query], {**family._asdict(), **params}))
