"""Connections to one SQLite file: how it is opened, read, written, and how its errors are told."""

import importlib.util
import json
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

from pegboard.errors import (
    BoardBusy,
    BoardCorrupt,
    BoardError,
    BoardFull,
    BoardMissing,
    BoardReadOnly,
    BoardTooNew,
    PegboardError,
)
from pegboard.store.queries import migrations

APPLICATION_ID = 0x50454742  # "PEGB"
SETUP = """
PRAGMA foreign_keys = ON;
PRAGMA synchronous = NORMAL; -- with WAL, safe against anything but a power cut
PRAGMA cache_size = -65536; -- KiB: the vectors of some 40,000 items stay in memory
"""
Value = int | float | str | bytes | None
Row = tuple[Any, ...]
Params = Mapping[str, Value]


class Database:
    """One connection for each thread; one writer at a time, across all processes."""

    def __init__(self, path: Path, *, create: bool, busy_seconds: float = 30.0) -> None:
        self.path = path
        self.read_only = False
        self._busy_ms = int(busy_seconds * 1000)
        self._local = threading.local()
        self._connections: list[apsw.Connection] = []
        self._lock = threading.Lock()
        if not create and not path.exists():
            raise BoardMissing(f"there is no board at {path}", "make one with: pegboard init")
        with self._told():
            if create:
                path.parent.mkdir(parents=True, exist_ok=True)
            self._prepare()

    def connection(self) -> apsw.Connection:
        found: apsw.Connection | None = getattr(self._local, "connection", None)
        if found is None:
            found = self._local.connection = self._open()
            with self._lock:
                self._connections.append(found)
        return found

    def rows(self, sql: str, params: Params | None = None) -> list[Row]:
        with self._told():
            return list(self.connection().execute(sql, params))

    def records(self, sql: str, params: Params | None = None) -> list[dict[str, Any]]:
        with self._told():
            cursor = self.connection().execute(sql, params)
            first = next(cursor, None)
            if first is None:
                return []
            names = [column[0] for column in cursor.get_description()]
            return [dict(zip(names, row, strict=True)) for row in (first, *cursor)]

    @contextmanager
    def write(self) -> Iterator[apsw.Connection]:
        """A transaction that holds the write lock from its first statement."""
        if self.read_only:
            raise self._read_only_error()
        with self._told():
            connection = self.connection()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Everything read inside is of one moment, whatever other processes commit meanwhile."""
        with self._told():
            connection = self.connection()
            connection.execute("BEGIN")
            try:
                yield
            finally:
                connection.execute("ROLLBACK")

    def close(self) -> None:
        with self._lock:
            for connection in self._connections:
                connection.close()
            self._connections.clear()
        self._local = threading.local()

    def _open(self) -> apsw.Connection:
        try:
            connection = apsw.Connection(str(self.path))
            self.read_only = connection.readonly("main")
        except apsw.CantOpenError:
            if not self.path.exists():
                raise
            connection = apsw.Connection(str(self.path), flags=apsw.SQLITE_OPEN_READONLY)
            self.read_only = True
        connection.set_busy_timeout(self._busy_ms)
        if self.read_only:
            connection = self._without_wal(connection)
        connection.enable_load_extension(True)
        connection.load_extension(_vector_extension())
        connection.enable_load_extension(False)
        connection.execute(SETUP)
        return connection

    def _without_wal(self, connection: apsw.Connection) -> apsw.Connection:
        """A read-only folder cannot hold the shared-memory file of WAL; read the board as it is."""
        try:
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        except (apsw.CantOpenError, apsw.ReadOnlyError):
            flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
            return apsw.Connection(f"{self.path.resolve().as_uri()}?immutable=1", flags=flags)
        return connection

    def _prepare(self) -> None:
        """Make sure that this is a board, and one with today's schema."""
        connection = self.connection()
        identity, tables = self._identity(connection)
        if identity == APPLICATION_ID:
            pass
        elif tables:
            raise BoardCorrupt(
                f"{self.path} is a SQLite database, but not a Pegboard board",
                "give another file with --board",
            )
        elif self.read_only:
            raise self._read_only_error()
        else:
            connection.execute("PRAGMA journal_mode = WAL")
        self._migrate()

    @staticmethod
    def _identity(connection: apsw.Connection) -> tuple[int, int]:
        return (
            int(connection.pragma("application_id")),
            int(connection.execute("SELECT count(*) FROM sqlite_schema").get),
        )

    def _migrate(self) -> None:
        known = migrations("sqlite")
        applied = self.applied()
        if applied > known[-1][0]:
            raise BoardTooNew(
                f"{self.path} has schema {applied}, this Pegboard knows {known[-1][0]}",
                "upgrade Pegboard: pip install --upgrade pegboard",
            )
        if applied == known[-1][0]:
            return
        with self.write() as tx:
            applied = self.applied()  # another process may have been quicker
            tx.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            tx.execute(
                "CREATE TABLE IF NOT EXISTS migrations"
                " (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at REAL NOT NULL) STRICT"
            )
            for number, name, text in known:
                if number > applied:
                    tx.execute(text)
                    tx.execute(
                        "INSERT INTO migrations VALUES (?, ?, ?)", (number, name, time.time())
                    )

    def applied(self) -> int:
        connection = self.connection()
        if not connection.table_exists("main", "migrations"):
            return 0
        return int(connection.execute("SELECT coalesce(max(number), 0) FROM migrations").get)

    def _read_only_error(self) -> BoardReadOnly:
        return BoardReadOnly(
            f"{self.path} cannot be written",
            "check the owner and permissions of the file and its folder; searching still works",
        )

    @contextmanager
    def _told(self) -> Iterator[None]:
        """SQLite's errors in Pegboard's words."""
        try:
            yield
        except PegboardError:
            raise
        except apsw.BusyError as error:
            raise BoardBusy(
                f"{self.path} was locked by another process for {self._busy_ms / 1000:g} s",
                "try again, or find the process that holds it",
            ) from error
        except apsw.FullError as error:
            raise BoardFull(
                f"the disk that holds {self.path} is full",
                "free some space and run the command again; nothing committed was lost",
            ) from error
        except apsw.ReadOnlyError as error:
            raise self._read_only_error() from error
        except (apsw.CorruptError, apsw.NotADBError) as error:
            raise BoardCorrupt(
                f"{self.path} is damaged or not a board ({error})",
                "keep a copy, delete the file, then: pegboard init, add and sync again",
            ) from error
        except apsw.SQLError as error:
            raise BoardError(
                f"{self.path} holds something that it should not ({error})",
                "check it with: pegboard doctor",
            ) from error
        except (apsw.CantOpenError, apsw.IOError, apsw.PermissionsError, OSError) as error:
            raise BoardError(
                f"{self.path} cannot be opened or used ({error})",
                "check that the folder exists and may be written, and that the disk is healthy",
            ) from error


def _vector_extension() -> str:
    """The path of sqlite-vec, without importing the package: that would import numpy as well."""
    spec = importlib.util.find_spec("sqlite_vec")
    if spec is None or spec.origin is None:
        raise BoardError(
            "the package sqlite-vec is not installed", "reinstall: pip install pegboard"
        )
    return str(Path(spec.origin).with_name("vec0"))


def in_list(values: Sequence[str] | Sequence[int]) -> str:
    """Values as the JSON array that `json_each` takes, so that a list needs no SQL of its own."""
    return json.dumps(list(values))
