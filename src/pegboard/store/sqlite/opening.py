"""How a SQLite file is opened, recognised as a board, and brought to today's schema."""

import importlib.util
import time
from pathlib import Path

import apsw

from pegboard.errors import (
    BoardCorrupt,
    BoardError,
    BoardMissing,
    BoardReadOnly,
)
from pegboard.store.queries import migrations, too_new
from pegboard.store.rows import is_storable
from pegboard.store.sqlite.filled_in import fill_in
from pegboard.store.sqlite.telling import anew, read_only_error

APPLICATION_ID = 0x50454742  # "PEGB"
SETUP = """
PRAGMA foreign_keys = ON;
PRAGMA synchronous = NORMAL; -- with WAL, safe against anything but a power cut
PRAGMA cache_size = -65536; -- KiB: the vectors of some 40,000 items stay in memory
"""


def refuse_unfit(path: Path) -> None:
    """What no board can be called, or is something else already."""
    if not is_storable(str(path)):
        raise BoardError(
            f"{str(path)!r} is not valid text, and no name for a board", "give it another name"
        )
    if path.is_dir():
        raise BoardError(
            f"{path} is a folder, not a board",
            f"give the board's file, such as {path / '.pegboard' / 'board.db'}",
        )


def refuse_nothing(path: Path) -> None:
    """Only a file with something in it can be a board."""
    refuse_unfit(path)
    if not path.exists():
        raise BoardMissing(
            f"there is no board at {path}",
            "make one with: pegboard init, or from what the project has: pegboard rebuild",
        )
    if path.stat().st_size == 0:
        raise BoardCorrupt(f"{path} is empty", anew(path))


def open_connection(path: Path, busy_seconds: float, *, create: bool) -> apsw.Connection:
    """A connection that can write if the file and its folder allow it, else one that reads."""
    try:
        flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if create else 0)
        connection = apsw.Connection(str(path), flags=flags)
        _settle(connection, busy_seconds)
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        if not path.exists():
            raise
        connection = _open_as_it_stands(path)
        _settle(connection, busy_seconds)
    connection.enable_load_extension(True)
    connection.load_extension(_vector_extension())
    connection.enable_load_extension(False)
    return connection


def _settle(connection: apsw.Connection, busy_seconds: float) -> None:
    connection.set_busy_timeout(int(busy_seconds * 1000))
    connection.execute(SETUP)
    connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()  # the first real look


def _open_as_it_stands(path: Path) -> apsw.Connection:
    """Where the files that WAL needs cannot be made, a board is read as if nobody could change it.

    That would overlook what is still in the WAL, so a board with one is not opened this way.
    """
    wal = path.with_name(f"{path.name}-wal")
    if wal.exists() and wal.stat().st_size:
        raise BoardReadOnly(
            f"{path} has changes waiting in {wal.name}, which cannot be read from here",
            "open it once as a user who may write to the folder, for instance: pegboard status",
        )
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    return apsw.Connection(f"{path.resolve().as_uri()}?immutable=1", flags=flags)


def prepare(connection: apsw.Connection, path: Path, busy_seconds: float) -> None:
    """Make sure that this is a board, and one with today's schema."""
    known = migrations("sqlite")[-1][0]
    if recognised(connection, path) == known:
        return
    if connection.readonly("main"):
        raise read_only_error(path)
    _use_wal(connection, busy_seconds)
    _migrate(connection)


def recognised(connection: apsw.Connection, path: Path) -> int:
    """The number of its schema, if this is a board that can be read here, or an empty file."""
    identity, tables = _identity(connection)
    if identity != APPLICATION_ID and tables:
        raise BoardCorrupt(
            f"{path} is a SQLite database, but not a Pegboard board",
            "give another file with --board",
        )
    known = migrations("sqlite")[-1][0]
    applied = schema_number(connection)
    if applied > known:
        raise too_new(path, applied, known)
    return applied


def _identity(connection: apsw.Connection) -> tuple[int, int]:
    """Both at one moment: another process may be making the board just now."""
    connection.execute("BEGIN")
    try:
        tables = int(connection.execute("SELECT count(*) FROM sqlite_schema").get)
        return int(connection.pragma("application_id")), tables
    finally:
        connection.execute("ROLLBACK")


def _use_wal(connection: apsw.Connection, busy_seconds: float) -> None:
    """SQLite does not wait for its turn here, so this does."""
    deadline = time.monotonic() + busy_seconds
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except apsw.BusyError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _migrate(connection: apsw.Connection) -> None:
    """Each migration together with its record; a process that comes second finds nothing to do."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(
            "CREATE TABLE IF NOT EXISTS migrations"
            " (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at REAL NOT NULL) STRICT"
        )
        applied = schema_number(connection)
        for number, name, text in migrations("sqlite"):
            if number > applied:
                connection.execute(text)
                fill_in(connection, name)
                connection.execute(
                    "INSERT INTO migrations VALUES (?, ?, ?)", (number, name, time.time())
                )
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def schema_number(connection: apsw.Connection) -> int:
    # Asked by SQL, because apsw.Connection.table_exists answers from a cache of the schema.
    there = "SELECT count(*) FROM sqlite_schema WHERE name = 'migrations'"
    if not connection.execute(there).get:
        return 0
    return int(connection.execute("SELECT coalesce(max(number), 0) FROM migrations").get)


def _vector_extension() -> str:
    """The path of sqlite-vec, without importing the package: that would import numpy as well."""
    spec = importlib.util.find_spec("sqlite_vec")
    if spec is None or spec.origin is None:
        raise BoardError("the package sqlite-vec is not installed", "install Pegboard again")
    return str(Path(spec.origin).with_name("vec0"))
