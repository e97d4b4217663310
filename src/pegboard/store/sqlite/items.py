"""Items in SQLite: put, approve, retire."""

import time
from collections.abc import Iterable, Sequence
from typing import Any

import apsw

from pegboard.model.calls import OnChange
from pegboard.model.curation import Event
from pegboard.model.items import Entry, Fingerprint, Item, PutReport, Rejection
from pegboard.model.releases import Action, AuditLine
from pegboard.store.blobs.large_files import LargeFiles
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
from pegboard.store.reading.items import ReadItems
from pegboard.store.sqlite.audit import write_down
from pegboard.store.sqlite.database import Database, Value, in_list
from pegboard.store.sqlite.files import SqliteFiles
from pegboard.store.sqlite.fingerprints import fingerprint_key
from pegboard.store.sqlite.history import note
from pegboard.store.sqlite.putting import Putting, existing_of, queue_again, touch
from pegboard.store.sqlite.rows import reading
from pegboard.store.sqlite.telling import read_only_error
from pegboard.store.sqlite.versions import known_versions
from pegboard.store.sqlite.words import Words
from pegboard.store.versioning import version_exists

SQL = load("sqlite", "items")


class SqliteItems(ReadItems):
    def __init__(self, database: Database, files: LargeFiles) -> None:
        super().__init__(reading(database), files)
        self._db = database

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

    def take_census(self) -> None:
        Words(self._db).take_census()


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
