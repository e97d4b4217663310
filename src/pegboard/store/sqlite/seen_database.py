"""A SQLite file as one caller may see it: what PostgreSQL does by row-level security.

A connection for callers has a view before every table that they may look into. So the same queries
serve whoever asks, and one that forgets whom it serves finds nothing that is not for him. What has
no view cannot be read, and nothing can be written.
"""

import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

import apsw

from pegboard.errors import NotAllowed
from pegboard.model.calls import Caller
from pegboard.model.items import DEFAULT_NAMESPACE
from pegboard.store.queries import load
from pegboard.store.sqlite.database import Database, in_list

VIEWS = load("sqlite", "seen")

SETUP = "PRAGMA cache_size = -8192"
"""KiB: it looks items up, and does not search."""
OF_NOBODY = frozenset({"fingerprints", "model_choice", "models", "migrations"})
"""Tables that everybody may read: which models the board knows."""
FUNCTIONS = frozenset({"json_each", "json_tree"})
"""What SQLite has as tables and is none."""
READING = frozenset(
    {apsw.SQLITE_SELECT, apsw.SQLITE_FUNCTION, apsw.SQLITE_RECURSIVE, apsw.SQLITE_TRANSACTION}
)


def open_to(caller: Caller) -> tuple[str, ...]:
    """Namespaces in which there may be something for the caller."""
    return tuple(dict.fromkeys((*caller.namespaces, DEFAULT_NAMESPACE)))


class Asking:
    """For whom a connection is used just now."""

    def __init__(self) -> None:
        self.caller = Caller()


class Window(NamedTuple):
    """A thread's connection for callers."""

    connection: apsw.Connection
    asking: Asking


def _opened(connection: apsw.Connection) -> Window:
    asking = Asking()  # the connection keeps it, and so it must not keep the connection
    told = {
        "open_namespaces": lambda *_: in_list(open_to(asking.caller)),
        "own_namespaces": lambda *_: in_list(asking.caller.namespaces),
        "caller_subject": lambda *_: asking.caller.subject or None,
    }
    for name, tell in told.items():
        connection.create_scalar_function(name, tell, 0)
    connection.execute(SETUP)
    for view in VIEWS.values():
        connection.execute(view)
    connection.authorizer = _allowed
    return Window(connection, asking)


def _allowed(
    action: int, table: str | None, _: str | None, schema: str | None, view: str | None
) -> int:
    """Is asked when a statement is prepared, for everything that it reads or does."""
    if action == apsw.SQLITE_READ:
        seen = schema == "temp" or view in VIEWS or table in OF_NOBODY | FUNCTIONS
        return apsw.SQLITE_OK if seen else apsw.SQLITE_DENY
    return apsw.SQLITE_OK if action in READING else apsw.SQLITE_DENY


class Windows:
    """The connections for callers, one for each thread, whoever it is that asks there."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._local = threading.local()
        self._lock = threading.Lock()
        self._connections: weakref.WeakSet[apsw.Connection] = weakref.WeakSet()

    def of_this_thread(self) -> Window:
        found: Window | None = getattr(self._local, "window", None)
        if found is None:
            found = self._local.window = _opened(self.database.another())
            with self._lock:
                self._connections.add(found.connection)
        return found

    def close(self) -> None:
        with self._lock:
            for connection in list(self._connections):
                with suppress(apsw.ThreadingViolationError):  # in use: it goes with its thread
                    connection.close()
            self._connections.clear()
        self._local = threading.local()


class SeenDatabase(Database):
    """The same file, with the rights of one caller."""

    def __init__(self, windows: Windows, caller: Caller) -> None:
        self.path = windows.database.path
        self._windows = windows
        self._caller = caller

    def connection(self, *, create: bool = False) -> apsw.Connection:
        window = self._windows.of_this_thread()
        window.asking.caller = self._caller
        return window.connection

    @contextmanager
    def write(self) -> Iterator[apsw.Connection]:
        raise NotAllowed("this board is only to be read from here")
        yield

    def close(self) -> None:
        """It has nothing of its own."""
