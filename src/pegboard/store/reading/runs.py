"""What a board remembers of runs."""

from pegboard.model.runs import TIMED_RUNS, Run, RunCounts
from pegboard.store.reading.database import Reading
from pegboard.store.rows import is_storable
from pegboard.store.running import median, read_run


class ReadRuns:
    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._sql = reading.sql("runs")

    def recent(
        self, item_id: str | None = None, namespace: str | None = None, limit: int = 20
    ) -> list[Run]:
        if not is_storable(item_id, namespace):
            return []
        params: dict[str, object] = {"id": item_id, "namespace": namespace, "limit": max(limit, 0)}
        sql = self._sql["recent" if item_id is None else "recent_of_item"]
        return [read_run(*row) for row in self._reading.database.rows(sql, params)]

    def counts(self, item_id: str | None = None, namespace: str | None = None) -> RunCounts:
        if not is_storable(item_id, namespace):
            return RunCounts()
        counts, lasting = ("counts", "lasting")
        if item_id is not None:
            counts, lasting = ("counts_of_item", "lasting_of_item")
        params: dict[str, object] = {"id": item_id, "namespace": namespace, "limit": TIMED_RUNS}

        def read() -> RunCounts:
            rows = self._reading.database.rows
            found = RunCounts(*rows(self._sql[counts], params)[0])
            lasted = [seconds for (seconds,) in rows(self._sql[lasting], params)]
            return found._replace(median=median(lasted))

        return self._reading.database.snapshot(read)
