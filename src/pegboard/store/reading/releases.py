"""What is published, and what was decided about it."""

from pegboard.model.releases import MOST_CHOICES, Action, AuditLine, Offer, Offered, Wanted
from pegboard.store.reading.database import Reading
from pegboard.store.rows import is_storable


class ReadReleases:
    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._audit_sql = reading.sql("audit")
        self._offered_sql = reading.sql("offered")

    def audit(
        self,
        item_id: str | None = None,
        namespace: str | None = None,
        limit: int = 100,
        action: Action | None = None,
    ) -> list[AuditLine]:
        if not is_storable(item_id, namespace):
            return []
        params: dict[str, object] = {
            "id": item_id,
            "namespace": namespace,
            "limit": max(limit, 0),
            "action": action,
        }
        sql = self._audit_sql["lines" if item_id is None else "lines_of_item"]
        rows = self._reading.database.rows(sql, params)
        return [AuditLine(at, who, Action(done), *rest) for at, who, done, *rest in rows]

    def offered(self, wanted: Wanted) -> Offered:
        if not is_storable(wanted.category, wanted.tag):
            return Offered()
        params: dict[str, object] = {
            "category": wanted.category,
            "tag": wanted.tag,
            "namespaces": self._reading.any_of(wanted.namespaces),
            "order": wanted.order.value,
            "start": wanted.start,
            "limit": wanted.limit,
            "most": MOST_CHOICES,
        }
        return self._reading.database.snapshot(lambda: self._offered(params))

    def _offered(self, params: dict[str, object]) -> Offered:
        database, reader = self._reading.database, self._reading.reader
        page = database.records(self._offered_sql["page"], params)
        [(total,)] = database.rows(self._offered_sql["total"], params)
        categories = database.rows(self._offered_sql["categories"], params)
        tags = database.rows(self._offered_sql["tags"], params)
        return Offered(
            tuple(
                Offer(reader.entry(row), row["latest_version"], row["published_at"]) for row in page
            ),
            total,
            tuple((name, count) for name, count in categories),
            tuple((name, count) for name, count in tags),
        )
