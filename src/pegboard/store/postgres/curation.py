"""What people decide about items, what became of them, and their links, in PostgreSQL."""

from collections.abc import Callable
from typing import Any

from psycopg.rows import dict_row

from pegboard.curation import Event, Happening, LooseLink, Tie
from pegboard.model import Entry, Fingerprint, Item, ItemId, Kind
from pegboard.store.planning import Noted, plan_description
from pegboard.store.postgres.database import Connection, Database, Params, run
from pegboard.store.postgres.fingerprints import fingerprint_key
from pegboard.store.postgres.history import note
from pegboard.store.postgres.putting import Planned, Putting, queue_again
from pegboard.store.postgres.rows import READER, sayable
from pegboard.store.queries import load
from pegboard.store.rows import kept_text

SQL = load("postgres", "curation")
ITEM_SQL = load("postgres", "items")
Row = dict[str, Any]


class PostgresCuration:
    def __init__(self, database: Database) -> None:
        self._db = database

    def describe(
        self, entry: Entry, text: str | None, by: str, target: Fingerprint | None
    ) -> Entry | None:
        def work(tx: Connection, row: Row, by: str) -> None:
            item = _item(tx, row)
            given = row["imported_description"] if text is None else text
            fingerprint = fingerprint_key(tx, target) if target else None
            putting = Putting(tx, target, fingerprint, None, {})
            existing = putting.existing([item])[item.namespace, item.id]
            putting.write_items([Planned(plan_description(item, existing, given), existing)])
            said = text is not None
            params: Params = {
                "key": row["key"],
                "description_source": "manual" if said else "source",
                "manual_override": said,
                "override_by": by if said else "",
                "updated_at": row["updated_at"],
            }
            run(tx, SQL["override"], params)
            note(tx, [(row["key"], Noted(Event.DESCRIBED if said else Event.RESET))], by)

        return self._decide(entry, by, work)

    def deactivate(self, entry: Entry, by: str, reason: str) -> Entry | None:
        def work(tx: Connection, row: Row, by: str) -> None:
            key, why = row["key"], kept_text(reason)
            run(tx, SQL["switch_off"], {"key": key, "by": by, "reason": why})
            run(tx, ITEM_SQL["drop_tasks_of"], {"keys": [key]})
            note(tx, [(key, Noted(Event.DEACTIVATED, why))], by)

        return self._decide(entry, by, work)

    def activate(self, entry: Entry, by: str, target: Fingerprint | None) -> Entry | None:
        def work(tx: Connection, row: Row, by: str) -> None:
            [(active,)] = run(tx, SQL["switch_on"], {"key": row["key"]})
            note(tx, [(row["key"], Noted(Event.ACTIVATED))], by)
            if active:
                fingerprint = fingerprint_key(tx, target) if target else None
                queue_again(tx, READER.entry(row), target, fingerprint)

        return self._decide(entry, by, work)

    def _decide(
        self, entry: Entry, by: str, work: Callable[[Connection, Row, str], None]
    ) -> Entry | None:
        """Does the work on the item as it is stored, in one transaction; the item as it is then.

        A caller decides in no other name.
        """
        who = kept_text(by) if self._db.caller is None else self._db.caller.subject
        known: Params = {"key": entry.key, "namespace": entry.item.namespace}

        def once(tx: Connection) -> Entry | None:
            for row in _records(tx, SQL["stored"], known):
                work(tx, row, who)
            after = _records(tx, SQL["stored"], known)
            return READER.entry(after[0]) if after else None

        return self._db.write(once, tell=True)

    def resolve_links(self) -> int:
        if self._db.caller is not None:
            return 0  # whoever does not see all items cannot say which one is meant
        if not self._db.rows(SQL["misled"]):  # mostly, and then nobody has to wait
            return 0

        def work(tx: Connection) -> int:
            run(tx, SQL["lock_links"])
            found = run(tx, SQL["misled"])
            params: dict[str, object] = {
                "keys": [row[0] for row in found],
                "targets": [row[1] for row in found],
                "namespaces": [row[2] for row in found],
            }
            run(tx, SQL["lead"], params)
            return len(found)

        return self._db.write(work, tell=True)

    def ties(self, key: int) -> list[Tie]:
        return [_tie(*row) for row in self._db.rows(SQL["ties"], {"key": key})]

    def loose_links(self, source: str | None = None) -> list[LooseLink]:
        if source is not None and not sayable([source]):
            return []
        return [LooseLink(*row) for row in self._db.rows(SQL["loose_links"], {"source": source})]

    def history(self, item_id: str, namespace: str | None = None) -> list[Happening]:
        if len(sayable([item_id, namespace or ""])) < 2:
            return []
        rows = self._db.rows(SQL["history"], {"id": item_id, "namespace": namespace})
        return [
            Happening(space, ItemId(name), at, Event(event), by, detail)
            for space, name, at, event, by, detail in rows
        ]


def _item(tx: Connection, row: Row) -> Item:
    """With what its hash is made of, for which the files are not needed."""
    item = READER.entry(row).item
    params = {"key": row["key"], "version": row["latest_version"]}
    for version in _records(tx, ITEM_SQL["version_of"], params):
        item = item._replace(version=READER.version(item.id, version, []))
    return item


def _records(tx: Connection, sql: str, params: Params) -> list[Row]:
    with tx.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(sql.encode(), params).fetchall()


def _tie(relation: str, outward: bool, target: str, *end: Any) -> Tie:  # noqa: ANN401 (of a row)
    item_id, namespace, name, kind = end
    if item_id is None:
        return Tie(relation, outward, target)
    return Tie(relation, outward, target, ItemId(item_id), namespace, name, Kind(kind))
