"""What a PostgreSQL board remembers of runs."""

import uuid

from pegboard.model.runs import TIMED_RUNS, Run, RunCounts
from pegboard.store.postgres.database import Connection, Database
from pegboard.store.postgres.database import run as ask
from pegboard.store.postgres.rows import sayable
from pegboard.store.queries import load
from pegboard.store.running import FORGOTTEN_AT_ONCE, kept_run, median, read_run

SQL = load("postgres", "runs")


class PostgresRuns:
    def __init__(self, database: Database) -> None:
        self._db = database

    def record(self, run: Run) -> None:
        kept = kept_run(run)
        params: dict[str, object] = {
            "uid": uuid.uuid4(),
            "namespace": kept.namespace,
            "id": kept.id,
            "version": kept.version,
            "at": kept.at,
            "outcome": kept.outcome.value,
            "seconds": kept.seconds,
            "who": kept.caller,
        }

        def work(tx: Connection) -> None:
            ask(tx, SQL["record"], params)
            ask(tx, SQL["rate"], params)
            ask(tx, SQL["forget_old"])

        self._db.write(work, changes=False)

    def recent(
        self, item_id: str | None = None, namespace: str | None = None, limit: int = 20
    ) -> list[Run]:
        if len(sayable([item_id or "", namespace or ""])) < 2:
            return []
        params: dict[str, object] = {"id": item_id, "namespace": namespace, "limit": max(limit, 0)}
        sql = SQL["recent" if item_id is None else "recent_of_item"]
        return [read_run(*row) for row in self._db.rows(sql, params)]

    def counts(self, item_id: str | None = None, namespace: str | None = None) -> RunCounts:
        if len(sayable([item_id or "", namespace or ""])) < 2:
            return RunCounts()
        counts, lasting = SQL["counts"], SQL["lasting"]
        if item_id is not None:
            counts, lasting = SQL["counts_of_item"], SQL["lasting_of_item"]
        params: dict[str, object] = {"id": item_id, "namespace": namespace, "limit": TIMED_RUNS}
        found = RunCounts(*self._db.rows(counts, params)[0])
        return found._replace(median=median([row[0] for row in self._db.rows(lasting, params)]))

    def prune(self, before: float) -> int:
        params: dict[str, object] = {"before": before, "limit": FORGOTTEN_AT_ONCE}
        forgotten = 0
        while True:
            gone = len(self._db.write(lambda tx: ask(tx, SQL["forget"], params), changes=False))
            forgotten += gone
            if gone < FORGOTTEN_AT_ONCE:
                return forgotten
