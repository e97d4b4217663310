"""What people decide about items, what became of them, and their links, in SQLite."""

import time
from typing import Any

import apsw

from pegboard.model.curation import Edit, Event
from pegboard.model.items import PUBLISHED, Entry, Fingerprint
from pegboard.model.releases import Action, AuditLine
from pegboard.store.editing import Decided, compare, decide
from pegboard.store.planning import plan_edit
from pegboard.store.queries import load
from pegboard.store.reading.curation import ReadCuration
from pegboard.store.sqlite.audit import write_down
from pegboard.store.sqlite.database import Database, Value, in_list
from pegboard.store.sqlite.fingerprints import fingerprint_key
from pegboard.store.sqlite.history import note
from pegboard.store.sqlite.putting import Putting, existing_of, queue_again
from pegboard.store.sqlite.rows import READER, reading
from pegboard.store.sqlite.stored import item_of, stored

SQL = load("sqlite", "curation")
ITEM_SQL = load("sqlite", "items")
Row = dict[str, Any]


class SqliteCuration(ReadCuration):
    def __init__(self, database: Database) -> None:
        super().__init__(reading(database))
        self._db = database

    def edit(
        self,
        entry: Entry,
        edit: Edit,
        by: str,
        target: Fingerprint | None,
        expected: str | None = None,
    ) -> Entry | None:
        with self._db.write() as tx:
            for row in stored(self._db, entry):
                seen, key, now = READER.entry(row), row["key"], time.time()
                compare(seen, expected)
                decided = decide(seen, edit)
                fingerprint = fingerprint_key(tx, target) if target else None
                active = self._switch(tx, key, decided, by, edit.reason, now)
                if decided.other_words:
                    putting = Putting(tx, target, fingerprint, now)
                    self._say(putting, row, edit, decided, by)
                elif active:
                    queue_again(tx, seen, target, fingerprint, now)
                for event, detail in decided.noted:
                    note(tx, [key], event, now, by=by, detail=detail)
            after = stored(self._db, entry)
        return READER.entry(after[0]) if after else None

    def _switch(
        self, tx: apsw.Connection, key: int, decided: Decided, by: str, reason: str, now: float
    ) -> bool:
        """Whether it has become active, and may have lost its task before."""
        if decided.on:
            return bool(tx.execute(SQL["switch_on"], {"key": key}).get)
        if decided.on is False:
            tx.execute(SQL["switch_off"], {"key": key, "now": now, "by": by, "reason": reason})
            tx.execute(ITEM_SQL["drop_tasks_of"], {"keys": in_list([key])})
        return False

    def _say(self, putting: Putting, row: Row, edit: Edit, decided: Decided, by: str) -> None:
        """The item in other words, with all that follows from them."""
        tx, item = putting.tx, item_of(self._db, row)
        existing = existing_of(tx, item)
        if existing is None:
            raise AssertionError("it has been read in this transaction")
        putting.write_item(plan_edit(item, existing, edit), existing)
        tx.execute(SQL["last_put"], {"key": row["key"], "updated_at": row["updated_at"]})
        for own, step in (
            (decided.own_description, "override"),
            (decided.own_tags, "override_tags"),
        ):
            if own is not None:
                said: dict[str, Value] = {"own": int(own), "by": by if own else ""}
                tx.execute(SQL[step], said | {"key": row["key"], "now": putting.now})

    def remove(self, entry: Entry, by: str, expected: str | None = None) -> bool:
        with self._db.write() as tx:
            rows = stored(self._db, entry)
            found = [row for row in rows if row["source"] == entry.item.source]
            for row in found:
                compare(READER.entry(row), expected)
                now = time.time()
                note(tx, [row["key"]], Event.REMOVED, now, by=by)
                if row["source"] == PUBLISHED:
                    line = AuditLine(now, by, Action.REMOVE, row["namespace"], row["id"])
                    write_down(tx, line)
                for step in ("purge_terms", "purge"):
                    tx.execute(ITEM_SQL[step], {"keys": in_list([row["key"]])})
        return bool(found)

    def resolve_links(self) -> int:
        if not self._db.rows(SQL["misled"]):  # mostly, and then nobody has to wait
            return 0
        with self._db.write() as tx:
            found = tx.execute(SQL["misled"]).fetchall()
            rows = [{"key": key, "target_key": target_key} for key, target_key in found]
            tx.executemany(SQL["lead"], rows)
        return len(rows)
