"""What a SQLite board remembers of runs."""

import time

from pegboard.model.runs import (
    FEWEST_RUNS,
    KEPT_SECONDS,
    MOST_CALLERS,
    MOST_OF_A_CALLER,
    Run,
)
from pegboard.store.queries import load
from pegboard.store.reading.runs import ReadRuns
from pegboard.store.running import FORGOTTEN_AT_ONCE, FORGOTTEN_BESIDE, kept_run
from pegboard.store.sqlite.database import Database, Value
from pegboard.store.sqlite.rows import reading

SQL = load("sqlite", "runs")
RATING: dict[str, Value] = {
    "fewest": FEWEST_RUNS,
    "most": MOST_OF_A_CALLER,
    "callers": MOST_CALLERS,
}


class SqliteRuns(ReadRuns):
    def __init__(self, database: Database) -> None:
        super().__init__(reading(database))
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

    def prune(self, before: float) -> int:
        params: dict[str, Value] = {"before": before, "limit": FORGOTTEN_AT_ONCE}
        forgotten = 0
        while True:
            with self._db.write() as tx:
                gone = len(list(tx.execute(SQL["forget"], params)))
            forgotten += gone
            if gone < FORGOTTEN_AT_ONCE:
                return forgotten
