"""Run statements of our own `.sql` files on a connection."""

from collections.abc import Mapping, Sequence
from typing import Any

import psycopg

Row = tuple[Any, ...]
Params = Mapping[str, object]
Connection = psycopg.Connection[Row]


def query(sql: str) -> bytes:
    """Encode a query: psycopg takes a string only if it is a literal in the code."""
    return sql.encode()


def run(tx: Connection, sql: str, params: Params | None = None) -> list[Row]:
    cursor = tx.execute(query(sql), params)
    return cursor.fetchall() if cursor.description else []


def run_many(tx: Connection, sql: str, params: Sequence[Params]) -> None:
    with tx.cursor() as cursor:
        cursor.executemany(query(sql), params)


def columns(names: Sequence[str], rows: Sequence[Sequence[object]]) -> dict[str, object]:
    """Return the rows as one array for each column, for `unnest`."""
    found = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    return {name: list(column) for name, column in zip(names, found, strict=True)}
