"""One PostgreSQL database: a pool of connections, transactions, and what is tried again."""

import json
import logging
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any, TypeVar

import psycopg
from psycopg.rows import dict_row, tuple_row
from psycopg_pool import ConnectionPool, PoolTimeout

from pegboard.model.calls import Caller
from pegboard.model.items import Fingerprint
from pegboard.store.postgres.opening import conninfo, prepare, settle
from pegboard.store.postgres.statements import Connection as Connection
from pegboard.store.postgres.statements import Params as Params
from pegboard.store.postgres.statements import Row as Row
from pegboard.store.postgres.statements import query
from pegboard.store.postgres.statements import run as run
from pegboard.store.postgres.statements import run_many as run_many
from pegboard.store.postgres.telling import again, hopeless, lost, one_line, shown, told
from pegboard.store.queries import load

log = logging.getLogger(__name__)
logging.getLogger("psycopg.pool").setLevel(logging.ERROR)
"""It warns of each connection by itself; what that is for the board is said here."""

SQL = load("postgres", "database")

T = TypeVar("T")

POOL = 16
"""Connections that one process holds at most."""
PATIENCE = 30.0
"""Seconds that a lost server is waited for."""
POOL_PATIENCE = 3.0
"""Seconds that a connection of the pool is waited for before a look whether the server is up."""
RECONNECT = 0.1
"""Seconds for which the pool tries by itself; whoever needs a connection makes it try again."""
MOST_TRIES = 8
"""How often a transaction is begun that others were in the way of, or that lost its server."""


class Database:
    """Threads share it. Within `snapshot` a thread stays with one connection."""

    def __init__(
        self,
        url: str,
        *,
        create: bool,
        patience: float = PATIENCE,
        pool: int = POOL,
        caller: Caller | None = None,
    ) -> None:
        self.url = url
        self.caller = caller
        """Whoever may not see all of the board, and so cannot speak for all of it."""
        self.place = shown(url)
        self.patience = patience
        self.fingerprints: dict[Fingerprint, int] = {}
        self.wrote: Callable[[], None] = lambda: None
        """Is told when this process has committed something that others are told of."""
        self._local = threading.local()
        with told(self.place):
            prepare(url, self.place, create=create)
            self.pool = ConnectionPool(
                conninfo(url),
                min_size=1,
                max_size=pool,
                max_idle=60.0,
                timeout=min(patience, POOL_PATIENCE),
                reconnect_timeout=RECONNECT,
                configure=settle,
                kwargs={"autocommit": True, "row_factory": tuple_row, "prepare_threshold": None},
                open=True,
                name="pegboard",
            )

    def seen_by(self, caller: Caller) -> "Database":
        """The same connections, and in each transaction the rights of this caller."""
        view = copy(self)
        view.caller = caller
        view._local = threading.local()  # a snapshot of the one is none of the other
        return view

    def rows(self, sql: str, params: Params | None = None, *, prepare: bool = False) -> list[Row]:
        """With `prepare`, the plan is made once for all values: for lookups that are made often.

        Else it is made for the values at hand, so that a filter that is not set costs nothing.
        """
        return self._read(lambda tx: tx.execute(query(sql), params, prepare=prepare).fetchall())

    def records(
        self, sql: str, params: Params | None = None, *, prepare: bool = False
    ) -> list[dict[str, Any]]:
        def work(tx: Connection) -> list[dict[str, Any]]:
            with tx.cursor(row_factory=dict_row) as cursor:
                return cursor.execute(query(sql), params, prepare=prepare).fetchall()

        return self._read(work)

    def _read(self, work: Callable[[Connection], T]) -> T:
        current: Connection | None = getattr(self._local, "connection", None)
        if current is not None:
            return work(current)

        def once() -> T:
            tx = self.pool.getconn()
            try:
                if self.caller is None:
                    return work(tx)
                with self._transaction(tx):
                    return work(tx)
            finally:
                self.pool.putconn(tx)

        return self._insist(once)

    @contextmanager
    def _transaction(self, tx: Connection, begin: bytes = b"") -> Iterator[None]:
        """Everything inside is done with the rights of the caller."""
        with tx.transaction():
            if begin:
                tx.execute(begin)
            if self.caller is not None:
                run(tx, SQL["identify"], _identity(self.caller))
            yield

    def write(
        self, work: Callable[[Connection], T], *, tell: bool = False, changes: bool = True
    ) -> T:
        """The work in one transaction; begun again if another was in the way or the server went.

        What this process remembers of the board is forgotten, unless nothing of it `changes`; with
        `tell`, what every other process remembers is forgotten as well.

        A transaction whose end nobody heard of may have been committed. So whatever is done here
        has to be such that to do it twice is to do it once.
        """

        def once() -> T:
            with self.pool.connection() as tx, self._transaction(tx):
                done = work(tx)
                if tell:
                    run(tx, SQL["tell"])
                return done

        try:
            return self._insist(once)
        finally:
            if changes:
                self.wrote()

    def snapshot(self, work: Callable[[], T]) -> T:
        """Everything that the work reads is of one moment; read again if the server went."""
        if getattr(self._local, "connection", None) is not None:
            return work()
        begin = b"SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"

        def once() -> T:
            with self.pool.connection() as tx, self._transaction(tx, begin):
                self._local.connection = tx
                try:
                    return work()
                finally:
                    self._local.connection = None

        return self._insist(once)

    def _insist(self, once: Callable[[], T]) -> T:
        deadline = time.monotonic() + self.patience
        with told(self.place):
            for attempt in range(1, MOST_TRIES + 1):
                try:
                    return once()
                except psycopg.Error as error:
                    if attempt == MOST_TRIES or not (again(error) or lost(error)):
                        raise
                    if lost(error):
                        self._await_server(error, deadline)
                        if time.monotonic() > deadline:
                            raise
                    self._pause(attempt, deadline)
        raise AssertionError("unreachable")

    def _await_server(self, error: psycopg.Error, deadline: float) -> None:
        """Until it can be reached; raises why not, if that is hopeless or has taken too long."""
        refused = self._knock()
        if refused is None and isinstance(error, PoolTimeout):
            return  # it is there: all connections of this process are in use
        log.warning("%s is gone (%s); waiting for it", self.place, one_line(refused or error))
        attempt = 1
        while refused is not None:
            if time.monotonic() > deadline:
                raise refused
            self._pause(attempt, deadline)
            attempt += 1
            refused = self._knock()
        self.pool.check()  # throws out every connection that broke with this one
        log.warning("%s is there again", self.place)

    def _knock(self) -> psycopg.OperationalError | None:
        """Why no connection can be had just now, which the pool does not tell."""
        try:
            with psycopg.connect(conninfo(self.url), autocommit=True) as connection:
                settle(connection)
        except psycopg.OperationalError as error:
            if hopeless(error):
                raise
            return error
        return None

    def _pause(self, attempt: int, deadline: float) -> None:
        longest = min(0.02 * 2.0 ** min(attempt, 6), 1.0, max(deadline - time.monotonic(), 0.0))
        time.sleep(longest * random.uniform(0.5, 1.0))  # noqa: S311 (no secret depends on it)

    @property
    def read_only(self) -> bool:
        return bool(self.rows(SQL["read_only"])[0][0])

    def now(self) -> float:
        return float(self.rows(SQL["now"])[0][0])

    def close(self) -> None:
        self.pool.close()


def _identity(caller: Caller) -> Params:
    """The caller as Supabase and PostgREST tell it to a database."""
    role = "authenticated" if caller.subject else "anon"
    member = {"namespaces": caller.namespaces}
    claims = {"sub": caller.subject, "role": role, "app_metadata": member}
    return {"role": role, "claims": json.dumps(claims)}
