"""One SQLite file: how threads and processes share it."""

import json
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import apsw

from pegboard.store.sqlite.opening import (
    open_connection,
    prepare,
    refuse_nothing,
    refuse_unfit,
    schema_number,
)
from pegboard.store.sqlite.telling import read_only_error, told

Value = int | float | str | bytes | None
Row = tuple[Any, ...]
Params = Mapping[str, Value]
T = TypeVar("T")


class Database:
    """One connection for each thread; one writer at a time, across all processes."""

    def __init__(self, path: Path, *, create: bool, busy_seconds: float = 30.0) -> None:
        self.path = path
        self._busy_seconds = busy_seconds
        self._local = threading.local()
        # Weak, so that a thread's connection goes when the thread goes.
        self._connections: weakref.WeakSet[apsw.Connection] = weakref.WeakSet()
        self._lock = threading.Lock()
        with told(path):
            if create:
                refuse_unfit(path)
                path.parent.mkdir(parents=True, exist_ok=True)
            else:
                refuse_nothing(path)
            prepare(self.connection(create=create), path, busy_seconds)

    @property
    def read_only(self) -> bool:
        with told(self.path):
            return self.connection().readonly("main")

    @property
    def schema(self) -> int:
        return schema_number(self.connection())

    def connection(self, *, create: bool = False) -> apsw.Connection:
        found: apsw.Connection | None = getattr(self._local, "connection", None)
        if found is None:
            found = open_connection(self.path, self._busy_seconds, create=create)
            self._local.connection = found
            with self._lock:
                self._connections.add(found)
        return found

    def another(self) -> apsw.Connection:
        """A connection that this does not use itself, for this thread."""
        with told(self.path):
            return open_connection(self.path, self._busy_seconds, create=False)

    def rows(self, sql: str, params: Params | None = None) -> list[Row]:
        with told(self.path):
            return list(self.connection().execute(sql, params))

    def records(self, sql: str, params: Params | None = None) -> list[dict[str, Any]]:
        with told(self.path):
            cursor = self.connection().execute(sql, params)
            first = next(cursor, None)
            if first is None:
                return []
            names = [column[0] for column in cursor.get_description()]
            return [dict(zip(names, row, strict=True)) for row in (first, *cursor)]

    def moment(self) -> tuple[int, int]:
        """Another pair of numbers once anybody has written to the board since."""
        with told(self.path):
            connection = self.connection()
            return int(connection.pragma("data_version")), connection.total_changes()

    @contextmanager
    def write(self) -> Iterator[apsw.Connection]:
        """A transaction that holds the write lock from its first statement."""
        with told(self.path):
            connection = self.connection()
            if connection.readonly("main"):
                raise read_only_error(self.path)
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    def snapshot(self, work: Callable[[], T]) -> T:
        """All that the work reads is of one moment, whatever other processes commit meanwhile."""
        with told(self.path):
            connection = self.connection()
            outermost = not connection.in_transaction
            if outermost:
                connection.execute("BEGIN")
            try:
                return work()
            finally:
                if outermost and connection.in_transaction:
                    connection.execute("ROLLBACK")

    def close(self) -> None:
        with self._lock:
            for connection in list(self._connections):
                with suppress(apsw.ThreadingViolationError):  # in use: it goes with its thread
                    connection.close()
            self._connections.clear()
        self._local = threading.local()


def in_list(values: Sequence[str] | Sequence[int]) -> str:
    """Values as the JSON array that `json_each` takes, so that a list needs no SQL of its own."""
    return json.dumps(list(values))
