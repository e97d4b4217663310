"""Vectors on the wire, in pgvector's binary form: no text is made of the numbers."""

import struct
import sys
from array import array

from psycopg import Connection
from psycopg.adapt import Dumper
from psycopg.pq import Format
from psycopg.types import TypeInfo

from pegboard.errors import BoardError
from pegboard.model.items import Vector


class Sent(bytes):
    """A vector on its way to the database."""


def to_database(vector: Vector) -> Sent:
    numbers = array("f", vector)
    if sys.byteorder == "little":
        numbers.byteswap()
    return Sent(struct.pack(">HH", len(numbers), 0) + numbers.tobytes())


def register(connection: Connection[tuple[object, ...]]) -> None:
    info = TypeInfo.fetch(connection, "vector")
    if info is None:
        raise BoardError(
            "pgvector is not switched on in this database",
            "let an administrator run there: CREATE EXTENSION vector",
        )
    dumper = type("VectorDumper", (_Dumper,), {"oid": info.oid})
    connection.adapters.register_dumper(Sent, dumper)


class _Dumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: Sent) -> bytes:
        return bytes(obj)
