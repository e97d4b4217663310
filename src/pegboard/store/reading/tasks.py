"""What is to be embedded, and how far it is."""

from collections.abc import Callable, Sequence

from pegboard.model.items import EmbeddingCounts, Entry, Fingerprint
from pegboard.store.reading.database import Reading


class ReadTasks:
    def __init__(self, reading: Reading, number: Callable[[Fingerprint], int | None]) -> None:
        """`number` tells that of a fingerprint, if it has one yet."""
        self._reading = reading
        self._sql = reading.sql("tasks")
        self._number = number

    def unembedded(self, target: Fingerprint, after: int, limit: int) -> list[Entry]:
        params = {"fingerprint": self._number(target), "after": after, "limit": limit}
        return self._reading.entries(self._sql["unembedded"], params)

    def owners(self) -> list[str]:
        return [str(name) for (name,) in self._reading.database.rows(self._sql["owners"])]

    def waiting(self, target: Fingerprint | None) -> int:
        return self._count("waiting", target)

    def without_vector(self, target: Fingerprint) -> int:
        return self._count("without_vector", target)

    def _count(self, query: str, target: Fingerprint | None) -> int:
        params = {"fingerprint": target and self._number(target)}
        return int(self._reading.database.rows(self._sql[query], params)[0][0])

    def has_stray(self, targets: Sequence[Fingerprint]) -> bool:
        # What has no number yet has no tasks; no number is below 1.
        known = self._reading.many([self._number(target) or 0 for target in targets])
        return bool(self._reading.database.rows(self._sql["stray"], {"fingerprints": known}))

    def counts(self, target: Fingerprint | None) -> EmbeddingCounts:
        params = {"fingerprint": target and (self._number(target) or 0)}
        rows = self._reading.database.rows(self._sql["counts"], params)
        found: dict[str, int] = dict(rows)
        return EmbeddingCounts(total=sum(found.values()), **found)
