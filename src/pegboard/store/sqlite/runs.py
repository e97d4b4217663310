"""What a SQLite board remembers of runs."""

import time

from pegboard.model.runs import (
    FEWEST_RUNS,
    KEPT_SECONDS,
    MOST_CALLERS,
    MOST_OF_A_CALLER,
    TIMED_RUNS,
    Run,
    RunCounts,
)
from pegboard.store.queries import load
from pegboard.store.running import FORGOTTEN_AT_ONCE, FORGOTTEN_BESIDE, kept_run, median, read_run
from pegboard.store.sqlite.database import Database, Value

SQL = load("sqlite", "runs")
RATING: dict[str, Value] = {
    "fewest": FEWEST_RUNS,
    "most": MOST_OF_A_CALLER,
    "callers": MOST_CALLERS,
}


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
            tx.execute(SQL["rate"], {**params, **RATING, "since": now - KEPT_SECONDS})
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
        params: dict[str, Value] = {"namespace": namespace, "limit": TIMED_RUNS}
        counts, lasting = SQL["counts"], SQL["lasting"]
        if item_id is not None:
            counts, lasting = SQL["counts_of_item"], SQL["lasting_of_item"]
            params["id"] = item_id
        with self._db.snapshot():
            found = RunCounts(*self._db.rows(counts, params)[0])
            seconds = [row[0] for row in self._db.rows(lasting, params)]
        return found._replace(median=median(seconds))

    def prune(self, before: float) -> int:
        params: dict[str, Value] = {"before": before, "limit": FORGOTTEN_AT_ONCE}
        forgotten = 0
        while True:
            with self._db.write() as tx:
                gone = len(list(tx.execute(SQL["forget"], params)))
            forgotten += gone
            if gone < FORGOTTEN_AT_ONCE:
                return forgotten
