"""Published items in SQLite."""

import time
from typing import Any

import apsw

from pegboard.model.calls import Caller
from pegboard.model.curation import Event
from pegboard.model.items import Entry, Fingerprint, Item, ItemId, Visibility
from pegboard.model.releases import Action, AuditLine, Decision, Published
from pegboard.store.blobs.large_files import LargeFiles
from pegboard.store.planning import content_hash, plan_put
from pegboard.store.queries import load
from pegboard.store.reading.releases import ReadReleases
from pegboard.store.releasing import (
    Kept,
    Standing,
    check_release,
    decided,
    gone,
    plan_release,
    plan_yank,
)
from pegboard.store.rows import is_storable, kept_text
from pegboard.store.sqlite.audit import write_down
from pegboard.store.sqlite.database import Database, Value, in_list
from pegboard.store.sqlite.files import SqliteFiles
from pegboard.store.sqlite.fingerprints import fingerprint_key
from pegboard.store.sqlite.history import note
from pegboard.store.sqlite.putting import Putting, existing_of, write_words_again
from pegboard.store.sqlite.rows import READER, reading
from pegboard.store.sqlite.stored import item_of, stored
from pegboard.store.sqlite.telling import read_only_error
from pegboard.store.sqlite.versions import add_version

SQL = load("sqlite", "releases")
ITEM_SQL = load("sqlite", "items")


class SqliteReleases(ReadReleases):
    def __init__(self, database: Database, files: LargeFiles) -> None:
        super().__init__(reading(database))
        self._db = database
        self._files = files

    def publish(
        self, item: Item, target: Fingerprint | None, by: str, caller: Caller | None = None
    ) -> Published:
        if refusal := check_release(item):
            return Published("refused", refused=refusal)
        if self._db.read_only:  # before anything is uploaded
            raise read_only_error(self._db.path)
        with self._files.uploaded([item]) as uploads, self._db.write() as tx:
            existing = existing_of(tx, item)
            standing = _standing(tx, existing.key) if existing else None
            kept = _kept(tx, existing.key) if existing else []
            release = plan_release(item, existing, standing, kept, caller)
            if release.told.state != "published":
                return release.told
            lying = uploads.keys(SqliteFiles(self._db).known, believed=True)
            fingerprint = fingerprint_key(tx, target) if target else None
            putting = Putting(tx, target, fingerprint, time.time(), lying, kept_text(by))
            if existing is None or release.hangs:
                putting.write(plan_put(release.item, existing, None), existing)
            else:
                add_version(tx, existing.key, release.item, putting.now, lying, putting.by)
            _write_down(tx, item, Action.PUBLISH, by, version=_number(item))
        return release.told

    def yank(
        self,
        entry: Entry,
        number: str,
        *,
        yanked: bool,
        by: str,
        reason: str = "",
        becomes: Item | None,
        target: Fingerprint | None,
    ) -> bool:
        with self._db.write() as tx:
            row = next(iter(stored(self._db, entry)), None)
            if row is None:
                raise gone(entry.item)
            key, now = row["key"], time.time()
            plan = plan_yank(entry.item, _kept(tx, key), number, becomes, yanked=yanked)
            if not plan.changes:
                return False
            params: dict[str, Value] = {"key": key, "version": number, "yanked": int(yanked)}
            params |= {"now": now, "by": kept_text(by), "reason": kept_text(reason)}
            tx.execute(SQL["yank"], params)
            if becomes is None:
                tx.execute(SQL["unhang"], {"key": key, "now": now})
                tx.execute(ITEM_SQL["drop_tasks_of"], {"keys": in_list([key])})
                note(tx, [key], Event.MISSING, now, by=by, detail="every version was taken back")
            elif plan.hangs != row["latest_version"] or row["drift"] == "missing":
                fingerprint = fingerprint_key(tx, target) if target else None
                _hang(Putting(tx, target, fingerprint, now), becomes)
            action = Action.YANK if yanked else Action.UNYANK
            _write_down(tx, entry.item, action, by, version=number, detail=reason)
        return True

    def decide(self, entry: Entry, decision: Decision, by: str) -> Entry | None:
        with self._db.write() as tx:
            for row in stored(self._db, entry):
                before = item_of(self._db, row)
                after, lines = decided(before, decision)
                if not lines:
                    continue
                params: dict[str, Value] = {
                    "key": row["key"],
                    "author": after.author,
                    "visibility": after.visibility.value,
                    "deprecated": int(after.deprecated),
                    "replacement": after.replacement,
                    "content_hash": content_hash(after),
                    "now": time.time(),
                }
                tx.execute(SQL["decide"], params)
                if after.visibility is not before.visibility:
                    write_words_again(tx, row["key"], after)
                for action, detail in lines:
                    _write_down(tx, after, action, by, detail=detail)
            found = stored(self._db, entry)
        return READER.entry(found[0]) if found else None

    def count_download(self, item_id: ItemId, namespace: str, number: str) -> None:
        if not is_storable(item_id, namespace, number):
            return
        params = {"id": item_id, "namespace": namespace, "version": number}
        with self._db.write() as tx:
            for (key,) in tx.execute(SQL["count_version"], params).fetchall():
                tx.execute(SQL["count_item"], {"key": key})

    def note(self, line: AuditLine) -> None:
        with self._db.write() as tx:
            write_down(tx, line)


def _standing(tx: apsw.Connection, key: int) -> Standing:
    author, visibility, deprecated, replacement, latest = _only(tx, SQL["standing"], key)
    return Standing(author, Visibility(visibility), bool(deprecated), replacement, latest)


def _only(tx: apsw.Connection, sql: str, key: int) -> Any:  # noqa: ANN401 (of a row)
    return tx.execute(sql, {"key": key}).fetchone()


def _kept(tx: apsw.Connection, key: int) -> list[Kept]:
    rows: Any = tx.execute(SQL["kept"], {"key": key})
    return [Kept(number, digest, bool(yanked)) for number, digest, yanked in rows]


def _hang(putting: Putting, item: Item) -> None:
    """The item in one of its versions, which is there with its files."""
    existing = existing_of(putting.tx, item)
    if existing is None:
        raise AssertionError("it has been read in this transaction")
    held = _standing(putting.tx, existing.key).hold(item)
    putting.hang(plan_put(held, existing, None), existing)


def _number(item: Item) -> str:
    return item.version.version if item.version else ""


def _write_down(
    tx: apsw.Connection, item: Item, action: Action, by: str, *, version: str = "", detail: str = ""
) -> None:
    line = AuditLine(time.time(), by, action, item.namespace, item.id, version, detail)
    write_down(tx, line)
