"""How a database and its server stand, also one that is no board yet or is behind."""

from typing import Any, NamedTuple

import psycopg

from pegboard.store.postgres.nearest import HALVES, INDEXED_FROM
from pegboard.store.postgres.opening import conninfo, schema_number
from pegboard.store.postgres.telling import told
from pegboard.store.queries import load, migrations

SQL = load("postgres", "inspecting")

COUNTED = 100_000
"""Rows of a table that are counted one by one; of more, the server knows about how many."""
NOT_POSSIBLE = f"not possible above {HALVES:,} dimensions, so all are compared"


class Table(NamedTuple):
    name: str
    rows: int
    exact: bool
    bytes: int


class Index(NamedTuple):
    name: str
    table: str
    method: str
    bytes: int
    valid: bool


class Vectors(NamedTuple):
    """The vectors of one model in one table, and whether their index is there."""

    table: str
    model: str
    vectors: int
    indexed: str
    """`made`, `broken`, `to be made` by the next worker that has nothing else to do,
    `not needed` with so few, or `NOT_POSSIBLE`."""


class Standby(NamedTuple):
    name: str
    state: str
    sync: str
    behind_bytes: int | None


class Waiting(NamedTuple):
    status: str
    tasks: int
    oldest_seconds: float


class DatabaseStatus(NamedTuple):
    board: str
    server: str
    role: str
    """`primary` or `standby`."""
    read_only: bool
    bytes: int
    db_schema: str
    schema: int
    known: int
    applied: tuple[str, ...]
    pending: tuple[str, ...]
    extensions: dict[str, str]
    connections: int
    of_pegboard: int
    max_connections: int
    standbys: tuple[Standby, ...]
    tasks: tuple[Waiting, ...] = ()
    vectors: tuple[Vectors, ...] = ()
    tables: tuple[Table, ...] = ()
    indexes: tuple[Index, ...] = ()


def inspect(url: str, place: str) -> DatabaseStatus:
    with told(place), psycopg.connect(conninfo(url), autocommit=True) as connection:
        look = _Look(connection)
        [(server, standby, read_only, size, db_schema)] = look.rows("server")
        number = schema_number(connection)
        every = migrations("postgres")
        [(connections, ours, most)] = look.rows("connections")
        found = DatabaseStatus(
            board=place,
            server=server,
            role="standby" if standby else "primary",
            read_only=read_only,
            bytes=int(size),
            db_schema=db_schema,
            schema=number,
            known=every[-1][0],
            applied=tuple(row[1] for row in look.rows("applied")) if number else (),
            pending=tuple(name for each, name, _ in every if each > number),
            extensions=dict(look.rows("extensions")),
            connections=connections,
            of_pegboard=ours,
            max_connections=most,
            standbys=() if standby else tuple(Standby(*row) for row in look.rows("standbys")),
        )
        return look.into(found) if number else found


class _Look:
    def __init__(self, connection: psycopg.Connection[tuple[Any, ...]]) -> None:
        self._connection = connection

    def rows(self, name: str) -> list[tuple[Any, ...]]:
        return self._connection.execute(SQL[name].encode()).fetchall()

    def into(self, found: DatabaseStatus) -> DatabaseStatus:
        """With what only a board has."""
        indexes = tuple(Index(*row) for row in self.rows("indexes"))
        return found._replace(
            tasks=tuple(Waiting(*row) for row in self.rows("tasks")),
            vectors=tuple(_vectors(row, indexes) for row in self.rows("vectors")),
            tables=tuple(self._table(*row) for row in self.rows("tables")),
            indexes=indexes,
        )

    def _table(self, name: str, estimate: int, size: int) -> Table:
        if estimate > COUNTED:
            return Table(name, estimate, exact=False, bytes=size)
        quoted = '"' + name.replace('"', '""') + '"'
        sql = SQL["count_rows"].format(table=quoted).encode()
        row = self._connection.execute(sql).fetchone()
        return Table(name, int(row[0]) if row else 0, exact=True, bytes=size)


def _vectors(row: tuple[Any, ...], indexes: tuple[Index, ...]) -> Vectors:
    table, fingerprint, model, dimension, count = row
    name = f"{table}_hnsw_{fingerprint}"
    there = [index for index in indexes if index.name == name]
    if there:
        state = "made" if there[0].valid else "broken"
    elif count <= INDEXED_FROM:
        state = "not needed"
    else:
        state = "to be made" if dimension <= HALVES else NOT_POSSIBLE
    return Vectors(table, model, int(count), state)
