"""Items in SQLite: put, look up, page through, retire."""

import time
from collections.abc import Iterable, Sequence
from typing import Any

import apsw

from pegboard.model.calls import CensusLine, Change, OnChange
from pegboard.model.content import Version, VersionLine
from pegboard.model.curation import Event
from pegboard.model.items import Entry, Fingerprint, Item, ItemId, PutReport, Rejection
from pegboard.model.releases import Action, AuditLine
from pegboard.store.blobs.large_files import AGAIN, LOST, LargeFiles
from pegboard.store.checking import PublishedVersion
from pegboard.store.planning import (
    EVERY_CHANGE,
    Existing,
    check_sources,
    definition_hash,
    displaced,
    id_taken,
    not_own,
    plan_put,
    taken,
)
from pegboard.store.queries import load
from pegboard.store.sqlite.audit import write_down
from pegboard.store.sqlite.database import Database, Value, in_list
from pegboard.store.sqlite.files import SqliteFiles
from pegboard.store.sqlite.history import note
from pegboard.store.sqlite.putting import Putting, existing_of, queue_again, touch
from pegboard.store.sqlite.rows import READER
from pegboard.store.sqlite.tasks import fingerprint_key
from pegboard.store.sqlite.telling import read_only_error
from pegboard.store.sqlite.versions import known_versions
from pegboard.store.sqlite.words import Words
from pegboard.store.versioning import ordered, version_exists
from pegboard.text import TEXT_VERSION

SQL = load("sqlite", "items")
VERSION_SQL = load("sqlite", "versions")
Row = dict[str, Any]


class SqliteItems:
    def __init__(self, database: Database, files: LargeFiles) -> None:
        self._db = database
        self._files = files

    def put(
        self,
        items: Sequence[Item],
        target: Fingerprint | None,
        *,
        rewrite: bool = False,
        on_change: OnChange | None = None,
        yielding: frozenset[str] = frozenset(),
        fixed: bool = False,
        own: bool = False,
    ) -> PutReport:
        added = changed = unchanged = 0
        refused: list[Rejection] = []
        outdone: list[Rejection] = []
        if self._db.read_only:  # before anything is uploaded
            raise read_only_error(self._db.path)
        check_sources(items)
        with self._files.uploaded(items, check=rewrite) as uploads, self._db.write() as tx:
            now = time.time()
            fingerprint = fingerprint_key(tx, target) if target else None
            lying = uploads.keys(SqliteFiles(self._db).known, believed=True)
            putting = Putting(tx, target, fingerprint, now, lying)
            for item in items:
                existing = existing_of(tx, item)
                if refusal := _refusal(tx, item, existing, yielding, fixed=fixed, own=own):
                    refused.append(refusal)
                    continue
                if loser := displaced(item, existing):
                    outdone.append(loser)
                plan = plan_put(item, existing, on_change)
                added += existing is None
                changed += existing is not None and not plan.unchanged
                unchanged += plan.unchanged
                if existing is not None and plan.unchanged and not rewrite:
                    touch(tx, item, existing)
                else:
                    putting.write(plan, existing)
        return PutReport(added, changed, unchanged, tuple(refused), tuple(outdone))

    def get(self, item_id: ItemId, namespace: str, *, files: bool = True) -> Entry | None:
        with self._db.snapshot():
            found = self._db.records(SQL["get"], {"id": item_id, "namespace": namespace})
            if not found:
                return None
            entry = READER.entry(found[0])
            number = found[0]["latest_version"] if files else None
            row, contents = self._version_of(entry.key, number)
        version = self._version(item_id, row, contents, AGAIN)
        return entry._replace(item=entry.item._replace(version=version))

    def versions(self, item_id: ItemId, namespace: str) -> list[VersionLine]:
        rows = self._db.rows(VERSION_SQL["listed"], {"id": item_id, "namespace": namespace})
        return ordered((bool(published), VersionLine(*line)) for published, *line in rows)

    def version(self, item_id: ItemId, namespace: str, number: str) -> Version | None:
        with self._db.snapshot():
            found = self._db.records(SQL["get"], {"id": item_id, "namespace": namespace})
            if not found:
                return None
            row, contents = self._version_of(found[0]["key"], number)
        remedy = AGAIN if number == found[0]["latest_version"] else LOST
        return self._version(f"{item_id}@{number}", row, contents, remedy)

    def published_versions(self) -> list[PublishedVersion]:
        return [PublishedVersion(*row) for row in self._db.rows(VERSION_SQL["published"])]

    def older_versions(self) -> list[tuple[ItemId, str, str]]:
        rows = self._db.rows(VERSION_SQL["older"])
        return [(ItemId(item_id), namespace, number) for item_id, namespace, number in rows]

    def ids(self) -> list[tuple[ItemId, str]]:
        return [(ItemId(item_id), namespace) for item_id, namespace in self._db.rows(SQL["ids"])]

    def named(self, name: str) -> list[Entry]:
        # A name is whatever a source says: it must never be taken for the id of something else.
        by_id, by_name = ("with_id", "named_with_namespace"), ("named", "named_by_last_part")
        ways = by_id if ":" in name else by_name
        for way in ways:
            if found := self._db.records(SQL[way], {"name": name}):
                return [READER.entry(row) for row in found]
        return []

    def page(self, after: int, limit: int) -> list[Entry]:
        rows = self._db.records(SQL["page"], {"after": after, "limit": limit})
        return [READER.entry(row) for row in rows]

    def origins(self, source: str, under: Sequence[str] = ()) -> dict[str, str]:
        params: dict[str, Value] = {"source": source, "text_version": TEXT_VERSION}
        sql = SQL["origins"]
        if under:
            sql, params["under"] = SQL["origins_under"], in_list(under)
        return {str(o): str(h) for o, h in self._db.rows(sql, params)}

    def retire_under(
        self, source: str, under: Sequence[str], seen: Sequence[str], began: float
    ) -> int:
        params: dict[str, Value] = {
            "source": source,
            "under": in_list(under),
            "seen": in_list(seen),
            "began": began,
        }
        with self._db.write() as tx:
            now = time.time()
            keys = _keys(tx.execute(SQL["retire_under"], params | {"now": now}))
            tx.execute(SQL["drop_tasks_of"], {"keys": in_list(keys)})
            note(tx, keys, Event.MISSING, now)
        return len(keys)

    def retire(
        self, source: str, seen: Sequence[str], began: float, purge_before: float
    ) -> tuple[int, int]:
        with self._db.write() as tx:
            now = time.time()
            params: dict[str, Value] = {
                "source": source,
                "seen": in_list(seen),
                "now": now,
                "began": began,
                "before": purge_before,
            }
            retired = _keys(tx.execute(SQL["retire"], params))
            tx.execute(SQL["drop_tasks_of_retired"], params)
            note(tx, retired, Event.MISSING, now)
            purged = _keys(tx.execute(SQL["long_missing"], params))
            note(tx, purged, Event.PURGED, now, detail="gone from its source for too long")
            for step in ("purge_terms", "purge"):
                tx.execute(SQL[step], {"keys": in_list(purged)})
        return len(retired), len(purged)

    def changed(self) -> list[Change]:
        rows = self._db.records(SQL["changed"])
        return [Change(READER.entry(row), READER.definition(row)) for row in rows]

    def approve(self, entries: Sequence[Entry], target: Fingerprint | None, by: str = "") -> int:
        approved = 0
        with self._db.write() as tx:
            now = time.time()
            fingerprint = fingerprint_key(tx, target) if target else None
            for entry in entries:
                params: dict[str, Value] = {
                    "key": entry.key,
                    "content_hash": entry.content_hash,
                    "approved_hash": definition_hash(
                        entry.item._replace(description=entry.imported_description)
                    ),
                }
                done = tx.execute(SQL["approve"], params).fetchone()
                if done is None:
                    continue
                approved += 1
                tx.execute(SQL["forget_approved"], params)
                note(tx, [entry.key], Event.APPROVED, now, by=by)
                write_down(tx, _approval(entry, by, now, done[1]))
                if done[0]:  # and not switched off
                    queue_again(tx, entry, target, fingerprint, now)
        return approved

    def apply_policy(self, source: str, on_change: OnChange) -> None:
        if on_change is OnChange.WARN:
            return
        with self._db.write() as tx:
            now = time.time()
            if on_change is OnChange.HOLD:
                note(tx, _keys(tx.execute(SQL["hold"], {"source": source})), Event.HELD, now)
                tx.execute(SQL["drop_tasks_of_retired"], {"source": source})
            else:
                keys = _keys(tx.execute(SQL["accept"], {"source": source}))
                note(tx, keys, Event.APPROVED, now, detail=EVERY_CHANGE)
                tx.execute(SQL["forget_accepted"], {"source": source})

    def census(self, namespaces: Sequence[str]) -> list[CensusLine]:
        params = {"namespaces": in_list(namespaces) if namespaces else None}
        return [CensusLine(*row) for row in self._db.rows(SQL["census"], params)]

    def listed(
        self,
        categories: Sequence[str],
        namespaces: Sequence[str],
        after: tuple[str, str],
        limit: int,
    ) -> list[Entry]:
        params: dict[str, Value] = {
            "categories": in_list(categories) if categories else None,
            "namespaces": in_list(namespaces) if namespaces else None,
            "id": after[0],
            "namespace": after[1],
            "limit": limit,
        }
        return [READER.entry(row) for row in self._db.records(SQL["listed"], params)]

    def take_census(self) -> None:
        Words(self._db).take_census()

    def _version_of(self, key: int, number: str | None) -> tuple[Row | None, list[Row]]:
        if number is None:
            return None, []
        for row in self._db.records(SQL["version_of"], {"key": key, "version": number}):
            return row, self._db.records(SQL["files_of"], {"version_key": row["key"]})
        return None, []

    def _version(
        self, of: str, row: Row | None, contents: Sequence[Row], remedy: str
    ) -> Version | None:
        for file in contents:
            file["content"] = self._files.content(of, file, remedy)
        return READER.version(of, row, contents) if row else None


def _refusal(
    tx: apsw.Connection,
    item: Item,
    existing: Existing | None,
    yielding: frozenset[str],
    *,
    fixed: bool,
    own: bool,
) -> Rejection | None:
    if own and existing and tx.execute(SQL["author"], {"key": existing.key}).get != item.author:
        return not_own(item)
    if holder := taken(item, existing, yielding):
        return id_taken(item, holder, yielding)
    if existing is None or not fixed:
        return None
    return version_exists(item, known_versions(tx, existing.key))


def _approval(entry: Entry, by: str, now: float, version: str) -> AuditLine:
    return AuditLine(now, by, Action.APPROVE, entry.item.namespace, entry.item.id, version)


def _keys(rows: Iterable[Sequence[Any]]) -> list[int]:
    return [int(key) for (key,) in rows]
