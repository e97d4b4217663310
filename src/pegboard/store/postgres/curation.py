"""What people decide about items, what became of them, and their links, in PostgreSQL."""

from typing import Any

from pegboard.model.curation import Edit, Event, etag
from pegboard.model.items import Entry, Fingerprint
from pegboard.model.releases import Action
from pegboard.store.editing import Decided, compare, decide
from pegboard.store.planning import Noted, plan_edit
from pegboard.store.postgres.audit import act
from pegboard.store.postgres.database import Connection, Database, run
from pegboard.store.postgres.fingerprints import fingerprint_key
from pegboard.store.postgres.history import note
from pegboard.store.postgres.putting import Planned, Putting, queue_again
from pegboard.store.postgres.rows import READER, reading
from pegboard.store.postgres.stored import item_of, stored
from pegboard.store.queries import load
from pegboard.store.reading.curation import ReadCuration
from pegboard.store.rows import kept_text

SQL = load("postgres", "curation")
ITEM_SQL = load("postgres", "items")
Row = dict[str, Any]


class PostgresCuration(ReadCuration):
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
        who, left = self._who(by), set[str]()
        edit = edit._replace(reason=kept_text(edit.reason))

        def work(tx: Connection) -> Entry | None:
            for row in stored(tx, entry):
                seen = READER.entry(row)
                if etag(seen) in left:  # it was committed, and nobody heard of it
                    return seen
                compare(seen, expected)
                decided = decide(seen, edit)
                fingerprint = fingerprint_key(tx, target) if target else None
                active = _switch(tx, row["key"], decided, who, edit.reason)
                if decided.other_words:
                    putting = Putting(tx, target, fingerprint, None, {})
                    _say(putting, row, edit, decided, who)
                elif active:
                    queue_again(tx, seen, target, fingerprint)
                note(tx, [(row["key"], each) for each in decided.noted], who)
            after = [READER.entry(row) for row in stored(tx, entry)]
            left.update(map(etag, after))
            return after[0] if after else None

        return self._db.write(work, tell=True)

    def remove(self, entry: Entry, by: str, expected: str | None = None) -> bool:
        who, gone = self._who(by), set[int]()

        def work(tx: Connection) -> bool:
            act(tx, who, Action.REMOVE)
            for row in stored(tx, entry):
                if row["source"] != entry.item.source:
                    return False
                compare(READER.entry(row), expected)
                note(tx, [(row["key"], Noted(Event.REMOVED))], who)
                run(tx, ITEM_SQL["purge"], {"keys": [row["key"]]})
                gone.add(row["key"])
            return bool(gone)

        return self._db.write(work, tell=True)

    def _who(self, by: str) -> str:
        """A caller decides in no other name."""
        return kept_text(by) if self._db.caller is None else self._db.caller.subject

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


def _switch(tx: Connection, key: int, decided: Decided, by: str, reason: str) -> bool:
    """Whether it has become active, and may have lost its task before."""
    if decided.on:
        [(active,)] = run(tx, SQL["switch_on"], {"key": key})
        return bool(active)
    if decided.on is False:
        run(tx, SQL["switch_off"], {"key": key, "by": by, "reason": reason})
        run(tx, ITEM_SQL["drop_tasks_of"], {"keys": [key]})
    return False


def _say(putting: Putting, row: Row, edit: Edit, decided: Decided, by: str) -> None:
    """The item in other words, with all that follows from them."""
    tx, item = putting.tx, item_of(putting.tx, row)
    existing = putting.existing([item])[item.namespace, item.id]
    putting.write_items([Planned(plan_edit(item, existing, edit), existing)])
    run(tx, SQL["last_put"], {"key": row["key"], "updated_at": row["updated_at"]})
    for own, step in (
        (decided.own_description, "override"),
        (decided.own_tags, "override_tags"),
    ):
        if own is not None:
            run(tx, SQL[step], {"key": row["key"], "own": own, "by": by if own else ""})
