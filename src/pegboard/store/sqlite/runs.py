"""What a SQLite board remembers of runs."""

import time

from pegboard.runs import KEPT_SECONDS, Run, RunCounts
from pegboard.store.queries import load
from pegboard.store.running import FORGOTTEN_AT_ONCE, FORGOTTEN_BESIDE, kept_run, read_run
from pegboard.store.sqlite.database import Database, Value

SQL = load("sqlite", "runs")


class SqliteRuns:
    def __init__(self, database: Database) -> None:
        self._db = database

    def record(self, run: Run) -> None:
        kept = kept_run(run)
        with self._db.write() as tx:
            now = time.time()
            params: dict[str, Value] = {
                "namespace": kept.namespace,
                "id": kept.id,
                "version": kept.version,
                "at": kept.at,
                "now": now,
                "outcome": kept.outcome.value,
                "seconds": kept.seconds,
                "who": kept.caller,
            }
            tx.execute(SQL["record"], params)
            tx.execute(SQL["forget"], {"before": now - KEPT_SECONDS, "limit": FORGOTTEN_BESIDE})

    def recent(
        self, item_id: str | None = None, namespace: str | None = None, limit: int = 20
    ) -> list[Run]:
        params: dict[str, Value] = {"namespace": namespace, "limit": max(limit, 0)}
        sql = SQL["recent"]
        if item_id is not None:
            sql, params["id"] = SQL["recent_of_item"], item_id
        return [read_run(*row) for row in self._db.rows(sql, params)]

    def counts(self, item_id: str | None = None, namespace: str | None = None) -> RunCounts:
        params: dict[str, Value] = {"namespace": namespace}
        sql = SQL["counts"]
        if item_id is not None:
            sql, params["id"] = SQL["counts_of_item"], item_id
        return RunCounts(*self._db.rows(sql, params)[0])

    def prune(self, before: float) -> int:
        params: dict[str, Value] = {"before": before, "limit": FORGOTTEN_AT_ONCE}
        forgotten = 0
        while True:
            with self._db.write() as tx:
                gone = len(list(tx.execute(SQL["forget"], params)))
            forgotten += gone
            if gone < FORGOTTEN_AT_ONCE:
                return forgotten
