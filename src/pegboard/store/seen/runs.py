"""What became of calls, with the rights of a caller."""

from collections.abc import Sequence

from pegboard.model.runs import Run, RunCounts
from pegboard.store.seen.rights import Rights, of_the_whole


class SeenRuns:
    def __init__(self, rights: Rights) -> None:
        self._rights = rights
        self._seen = rights.seen.runs
        self._whole = rights.whole.runs

    def record(self, run: Run) -> None:
        """In the caller's own name, if he has one, and of what he sees."""
        if self._rights.seen.items.get(run.id, run.namespace, files=False) is not None:
            who = self._rights.caller.subject or run.caller
            self._whole.record(run._replace(caller=who))

    def recent(
        self, item_id: str | None = None, namespace: str | None = None, limit: int = 20
    ) -> Sequence[Run]:
        return self._seen.recent(item_id, namespace, limit)

    def counts(self, item_id: str | None = None, namespace: str | None = None) -> RunCounts:
        return self._seen.counts(item_id, namespace)

    def prune(self, before: float) -> int:
        raise of_the_whole("forget runs")
