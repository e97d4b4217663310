"""What people decide about items, what became of them, and their links, in SQLite."""

import time
from collections.abc import Callable
from typing import Any

import apsw

from pegboard.curation import Event, Happening, LooseLink, Tie
from pegboard.model import Entry, Fingerprint, Item, ItemId, Kind
from pegboard.store.planning import plan_description
from pegboard.store.queries import load
from pegboard.store.sqlite.database import Database, Params, Value, in_list
from pegboard.store.sqlite.history import note
from pegboard.store.sqlite.putting import Putting, existing_of, queue_again
from pegboard.store.sqlite.rows import READER
from pegboard.store.sqlite.tasks import fingerprint_key

SQL = load("sqlite", "curation")
ITEM_SQL = load("sqlite", "items")
Row = dict[str, Any]


class SqliteCuration:
    def __init__(self, database: Database) -> None:
        self._db = database

    def describe(
        self, entry: Entry, text: str | None, by: str, target: Fingerprint | None
    ) -> Entry | None:
        def work(tx: apsw.Connection, row: Row, now: float) -> None:
            item = self._item(row)
            existing = existing_of(tx, item)
            if existing is None:
                raise AssertionError("it has been read in this transaction")
            given = row["imported_description"] if text is None else text
            fingerprint = fingerprint_key(tx, target) if target else None
            putting = Putting(tx, target, fingerprint, now)
            putting.write_item(plan_description(item, existing, given), existing)
            said = text is not None
            params: dict[str, Value] = {
                "key": row["key"],
                "description_source": "manual" if said else "source",
                "manual_override": int(said),
                "override_at": now if said else None,
                "override_by": by if said else "",
                "updated_at": row["updated_at"],
            }
            tx.execute(SQL["override"], params)
            note(tx, [row["key"]], Event.DESCRIBED if said else Event.RESET, now, by=by)

        return self._decide(entry, work)

    def deactivate(self, entry: Entry, by: str, reason: str) -> Entry | None:
        def work(tx: apsw.Connection, row: Row, now: float) -> None:
            key = row["key"]
            tx.execute(SQL["switch_off"], {"key": key, "now": now, "by": by, "reason": reason})
            tx.execute(ITEM_SQL["drop_tasks_of"], {"keys": in_list([key])})
            note(tx, [key], Event.DEACTIVATED, now, by=by, detail=reason)

        return self._decide(entry, work)

    def activate(self, entry: Entry, by: str, target: Fingerprint | None) -> Entry | None:
        def work(tx: apsw.Connection, row: Row, now: float) -> None:
            key = row["key"]
            active = tx.execute(SQL["switch_on"], {"key": key}).get
            note(tx, [key], Event.ACTIVATED, now, by=by)
            if active:
                fingerprint = fingerprint_key(tx, target) if target else None
                queue_again(tx, READER.entry(row), target, fingerprint, now)

        return self._decide(entry, work)

    def _decide(
        self, entry: Entry, work: Callable[[apsw.Connection, Row, float], None]
    ) -> Entry | None:
        """Does the work on the item as it is stored, in one transaction; the item as it is then."""
        # By all that it is known by: SQLite gives the number of a removed row to another one.
        item = entry.item
        known: Params = {"key": entry.key, "id": item.id, "namespace": item.namespace}
        with self._db.write() as tx:
            for row in self._db.records(SQL["stored"], known):
                work(tx, row, time.time())
            after = self._db.records(SQL["stored"], known)
        return READER.entry(after[0]) if after else None

    def _item(self, row: Row) -> Item:
        """With what its hash is made of, for which the files are not needed."""
        item = READER.entry(row).item
        params = {"key": row["key"], "version": row["latest_version"]}
        for version in self._db.records(ITEM_SQL["version_of"], params):
            item = item._replace(version=READER.version(item.id, version, []))
        return item

    def resolve_links(self) -> int:
        if not self._db.rows(SQL["misled"]):  # mostly, and then nobody has to wait
            return 0
        with self._db.write() as tx:
            found = tx.execute(SQL["misled"]).fetchall()
            rows = [{"key": key, "target_key": target_key} for key, target_key in found]
            tx.executemany(SQL["lead"], rows)
        return len(rows)

    def ties(self, key: int) -> list[Tie]:
        return [_tie(*row) for row in self._db.rows(SQL["ties"], {"key": key})]

    def loose_links(self, source: str | None = None) -> list[LooseLink]:
        return [LooseLink(*row) for row in self._db.rows(SQL["loose_links"], {"source": source})]

    def history(self, item_id: str, namespace: str | None = None) -> list[Happening]:
        rows = self._db.rows(SQL["history"], {"id": item_id, "namespace": namespace})
        return [
            Happening(space, ItemId(name), at, Event(event), by, detail)
            for space, name, at, event, by, detail in rows
        ]


def _tie(relation: str, outward: Any, target: str, *end: Any) -> Tie:  # noqa: ANN401 (of a row)
    item_id, namespace, name, kind = end
    if item_id is None:
        return Tie(relation, bool(outward), target)
    return Tie(relation, bool(outward), target, ItemId(item_id), namespace, name, Kind(kind))
