"""The nearest of many vectors: by HNSW, or by comparing all where the filters leave few."""

import logging
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import psycopg

from pegboard.model.items import Fingerprint, Vector
from pegboard.store.postgres.database import Database, Row
from pegboard.store.postgres.fingerprints import known_fingerprint
from pegboard.store.postgres.memory import Memory
from pegboard.store.postgres.opening import conninfo
from pegboard.store.postgres.telling import told
from pegboard.store.postgres.vector import to_database
from pegboard.store.queries import load

log = logging.getLogger(__name__)

SQL = load("postgres", "nearest")
PLAIN = load("postgres", "nearest", filters="visible")
"""The same without filters."""
Params = Mapping[str, object]

FEW = 2_000
"""Where the filters leave no more, or no more than one in FRACTION, all of them are compared."""
FRACTION = 40
INDEXED_FROM = 1_000
"""A table with fewer vectors is quick without an index."""
WHOLE = 2_000
"""Dimensions that pgvector can index as they are."""
HALVES = 4_000
"""Dimensions that it can index with half of the bits; of longer vectors, all are compared."""
SPARE = 20
"""More than are wanted are taken from the index: some may be hidden, and one of halves may confuse
what is about equal."""
PASSAGES = 5
"""And so many times as many where items have several vectors each."""


class Nearest:
    def __init__(self, database: Database, memory: Memory) -> None:
        self._db = database
        self._memory = memory

    def search(self, query: Vector, target: Fingerprint, filters: Params, limit: int) -> list[Row]:
        """Key, id and score of the nearest items that the filters leave."""
        fingerprint = known_fingerprint(self._db, target)
        if fingerprint is None:
            return []
        ask = {
            **filters,
            "query": to_database(query),
            "fingerprint": fingerprint,
            "limit": limit,
        }
        queries = SQL if filters else PLAIN
        bounded = bool(filters) or self._db.caller is not None
        indexed, passages = self._indexed(fingerprint)
        if not indexed or self._few_are_seen() or (bounded and self._few_are_left(filters)):
            return self._db.rows(queries["exact"], ask)
        enough = limit * PASSAGES if passages else limit
        for way in _ways(target, bounded=bounded):
            near = with_numbers(
                queries[way],
                dimension=target.dimension,
                fingerprint=fingerprint,
                limit=limit,
                enough=enough,
                reach=enough + SPARE,
            )
            found = self._db.rows(near, ask, prepare=not bounded)
            if len(found) >= limit:
                return found
        # The scan was given up: much of what is near is not for this one, or it is all of a few.
        return self._db.rows(queries["exact"], ask)

    def best(
        self, query: Vector, target: Fingerprint, keys: Sequence[int]
    ) -> dict[int, tuple[float, int]]:
        """The score of each item that has a vector, and the passage that it comes from."""
        fingerprint = known_fingerprint(self._db, target) if keys else None
        if fingerprint is None:
            return {}
        ask = {"query": to_database(query), "fingerprint": fingerprint, "keys": list(keys)}
        rows = self._db.rows(SQL["best_passages"], ask, prepare=True)
        return {int(key): (float(score), int(passage)) for key, score, passage in rows}

    def _few_are_seen(self) -> bool:
        """A caller with few items is answered exactly, however many others there are."""
        if self._db.caller is None:
            return False
        few = {"few": FEW}
        return not self._memory.recall("many", lambda: self._db.rows(SQL["many"], few))

    def _few_are_left(self, filters: Params) -> bool:
        plan = self._db.rows((SQL if filters else PLAIN)["estimate"], filters)[0][0]
        left = plan[0]["Plan"]["Plan Rows"]
        return bool(left <= max(FEW, self._size() // FRACTION))

    def _indexed(self, fingerprint: int) -> Row:
        """Whether there is an index, and whether items have several vectors."""
        ask = {"name": f"%\\_hnsw\\_{fingerprint}", "fingerprint": fingerprint}
        return self._memory.recall(
            f"index {fingerprint}", lambda: self._db.rows(SQL["indexed"], ask)[0]
        )

    def _size(self) -> int:
        return self._memory.recall("vectors", lambda: int(self._db.rows(SQL["size"])[0][0] or 0))

    def build(self, target: Fingerprint, stop: threading.Event | None = None) -> list[str]:
        """Give each table that has grown large its index; the names of those that were made.

        Beside all other work; whoever comes second leaves it to the first. One that was cut short
        is made anew the next time.
        """
        fingerprint = known_fingerprint(self._db, target)
        if fingerprint is None or self._db.caller is not None:
            return []
        due = self._due(fingerprint, target)
        if not due and not self._db.rows(SQL["outgrown"], {"few": INDEXED_FROM}):
            return []
        with self._unhurried() as connection, cancelled_by(connection, stop):
            row = connection.execute(SQL["try_build"].encode()).fetchone()
            if row is None or not row[0]:
                return []
            made = [self._build(connection, table, fingerprint, target) for table in due]
            connection.execute(SQL["count_anew"].encode())
            self._db.wrote()
            return made
        return []  # it was called off

    def _build(
        self,
        connection: psycopg.Connection[Row],
        table: str,
        fingerprint: int,
        target: Fingerprint,
    ) -> str:
        index = f"{table}_hnsw_{fingerprint}"
        names = {
            "index": index,
            "table": table,
            "dimension": target.dimension,
            "fingerprint": fingerprint,
        }
        log.info("making the index %s", index)
        if self._db.rows(SQL["index_state"], {"name": index}):
            connection.execute(SQL["drop_index"].format(**names).encode())
        make = SQL["make_index" if target.dimension <= WHOLE else "make_index_of_halves"]
        connection.execute(make.format(**names).encode())
        return index

    @contextmanager
    def _unhurried(self) -> Iterator[psycopg.Connection[Row]]:
        """A connection of its own, for what may take long."""
        url = conninfo(self._db.url)
        with told(self._db.place), psycopg.connect(url, autocommit=True) as connection:
            connection.execute(SQL["unhurried"].encode())
            yield connection

    def drop(self, fingerprint: int) -> None:
        """Remove the indexes over its vectors."""
        tables = [str(row[0]) for row in self._db.rows(SQL["partitions"])]
        indexes = [f"{table}_hnsw_{fingerprint}" for table in tables]
        there = [i for i in indexes if self._db.rows(SQL["index_state"], {"name": i})]
        if there:
            with self._unhurried() as connection:
                for index in there:
                    connection.execute(SQL["drop_index"].format(index=index).encode())

    def owes_index(self, target: Fingerprint) -> bool:
        """Whether searches by these vectors would be slow until an index is made."""
        fingerprint = known_fingerprint(self._db, target)
        return fingerprint is not None and bool(self._due(fingerprint, target))

    def _due(self, fingerprint: int, target: Fingerprint) -> list[str]:
        if target.dimension > HALVES:
            return []
        tables = [str(row[0]) for row in self._db.rows(SQL["partitions"])]
        return [table for table in tables if self._lacks_index(table, fingerprint)]

    def _lacks_index(self, table: str, fingerprint: int) -> bool:
        state = self._db.rows(SQL["index_state"], {"name": f"{table}_hnsw_{fingerprint}"})
        if state and state[0][0]:
            return False
        params = {"fingerprint": fingerprint, "few": INDEXED_FROM}
        return bool(self._db.rows(SQL["enough"].replace("{table}", table), params))


def _ways(target: Fingerprint, *, bounded: bool) -> list[str]:
    """The queries that go by the index, the quickest first; the next finds what it does not."""
    if target.dimension > WHOLE:
        return ["near_by_halves"]
    return ["near"] if bounded else ["near_at_all", "near"]


@contextmanager
def cancelled_by(
    connection: psycopg.Connection[Row], stop: threading.Event | None
) -> Iterator[None]:
    """What this connection does inside is called off once `stop` is set, and that is no error."""
    done = threading.Event()

    def watch() -> None:
        while stop is not None and not done.wait(0.2):
            if stop.is_set():
                connection.cancel()

    watcher = threading.Thread(target=watch, name="pegboard-cancel", daemon=True)
    watcher.start()
    try:
        yield
    except psycopg.errors.QueryCanceled:
        if stop is None or not stop.is_set():
            raise
    finally:
        done.set()
        watcher.join()


def with_numbers(sql: str, **numbers: int) -> str:
    for name, number in numbers.items():
        sql = sql.replace(f":{name}", str(int(number)))
    return sql
