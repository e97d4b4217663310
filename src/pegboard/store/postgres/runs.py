"""What a PostgreSQL board remembers of runs."""

import uuid

from pegboard.model.runs import Run
from pegboard.store.postgres.database import Connection, Database
from pegboard.store.postgres.database import run as ask
from pegboard.store.postgres.rows import reading
from pegboard.store.queries import load
from pegboard.store.reading.runs import ReadRuns
from pegboard.store.running import FORGOTTEN_AT_ONCE, kept_run

SQL = load("postgres", "runs")


class PostgresRuns(ReadRuns):
    def __init__(self, database: Database) -> None:
        super().__init__(reading(database))
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

    def prune(self, before: float) -> int:
        params: dict[str, object] = {"before": before, "limit": FORGOTTEN_AT_ONCE}
        forgotten = 0
        while True:
            gone = len(self._db.write(lambda tx: ask(tx, SQL["forget"], params), changes=False))
            forgotten += gone
            if gone < FORGOTTEN_AT_ONCE:
                return forgotten
