"""A database of old, with scripts, directives and knowledge, read row by row and never written."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from typing import Any, NamedTuple

import psycopg

from pegboard.errors import BoardError, UsageError
from pegboard.store.postgres.opening import conninfo
from pegboard.store.postgres.telling import shown, told
from pegboard.store.queries import load

SQL = load("postgres", "kiwi")

OldRow = Mapping[str, Any]
"""By column, as JSON has it: timestamps are text, numbers are exact."""

NEEDED = {
    "scripts": ("id", "name"),
    "script_versions": ("id", "script_id", "version"),
    "directives": ("id", "name"),
    "directive_versions": ("id", "directive_id", "version"),
    "knowledge_entries": ("zettel_id",),
    "knowledge_relationships": ("from_zettel_id", "to_zettel_id"),
    "item_embeddings": ("item_id", "embedding"),
}
"""The tables, each with the columns without which its rows could not be told apart."""
WITH = {
    "script_versions": "scripts",
    "directive_versions": "directives",
    "knowledge_relationships": "knowledge_entries",
}
"""Tables that mean nothing without another: a board has tables of these names too."""
AT_ONCE = 50
"""Rows that are fetched together: each may be large."""


class OldItem(NamedTuple):
    table: str
    row: OldRow
    versions: tuple[OldRow, ...] = ()


class Orphan(NamedTuple):
    """A version whose script or directive is not there."""

    table: str
    row: OldRow


class KiwiDatabase:
    """All that is read is of one moment. Made by `reading`."""

    def __init__(self, connection: psycopg.Connection[tuple[Any, ...]], tables: set[str]) -> None:
        self._connection = connection
        self.tables = frozenset(tables)
        self.counts = {table: self._count(table) for table in NEEDED if table in tables}

    def items(self, table: str, versions: str = "", owner: str = "") -> Iterator[OldItem | Orphan]:
        """Rows with their versions, in the order of their ids, and versions of nothing."""
        if table not in self.tables:
            return
        ahead = self._rows(versions) if versions in self.tables else iter(())
        version = next(ahead, None)
        for row in self._rows(table):
            own: list[OldRow] = []
            while version is not None and _order(version[owner]) <= _order(row.get("id")):
                if version[owner] == row.get("id") is not None:
                    own.append(version)
                else:
                    yield Orphan(versions, version)
                version = next(ahead, None)
            yield OldItem(table, row, tuple(own))
        while version is not None:
            yield Orphan(versions, version)
            version = next(ahead, None)

    def relationships(self) -> Iterator[OldRow]:
        if "knowledge_relationships" in self.tables:
            yield from self._rows("knowledge_relationships")

    def embeddings(self, ids: Sequence[str]) -> list[OldRow]:
        if "item_embeddings" not in self.tables:
            return []
        found = self._connection.execute(SQL["old_embeddings"].encode(), {"ids": list(ids)})
        return [_parsed(text) for (text,) in found]

    def embedded_ids(self) -> list[str]:
        """All that somebody made a vector for, there or not."""
        if "item_embeddings" not in self.tables:
            return []
        return [str(row[0]) for row in self._connection.execute(SQL["embedded_ids"].encode())]

    def _count(self, table: str) -> int:
        sql = SQL["count_rows"].format(table=table).encode()
        row = self._connection.execute(sql).fetchone()
        return int(row[0]) if row else 0

    def _rows(self, table: str) -> Iterator[OldRow]:
        with self._connection.cursor(f"kiwi_{table}") as cursor:
            cursor.itersize = AT_ONCE
            cursor.execute(SQL[table].encode())
            for (text,) in cursor:
                yield _parsed(text)


@contextmanager
def reading(url: str, schema: str) -> Iterator[KiwiDatabase]:
    place = shown(url)
    with told(place), psycopg.connect(conninfo(url)) as connection:
        connection.read_only = True
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.execute(SQL["old_session"].encode(), {"schema": schema})
        asked = {"schema": schema, "tables": list(NEEDED)}
        found: dict[str, list[str]] = dict(connection.execute(SQL["old_tables"].encode(), asked))
        tables = {t: columns for t, columns in found.items() if WITH.get(t, t) in found}
        if not tables.keys() - {"item_embeddings"}:
            raise UsageError(
                f"{place} has none of the tables scripts, directives and knowledge_entries "
                f"in schema {schema!r}",
                "name the schema that has them with --schema",
            )
        for table, columns in tables.items():
            if missing := [name for name in NEEDED[table] if name not in columns]:
                raise BoardError(
                    f"the table {table} in {place} has no column {missing[0]}",
                    "this is no database of Kiwi, or of a kind that is not known",
                )
        yield KiwiDatabase(connection, set(tables))
        connection.rollback()


def _parsed(text: str) -> OldRow:
    found: OldRow = json.loads(text, parse_float=Decimal)
    return found


def _order(key: object) -> tuple[bool, bytes]:
    """As the database sorts: by bytes, what is missing last."""
    return (True, b"") if key is None else (False, str(key).encode())
