"""Items in SQLite: put, look up, page through, retire."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

import apsw

from pegboard.calls import CensusLine, Change, OnChange
from pegboard.content import Version
from pegboard.model import (
    Drift,
    EmbeddingStatus,
    Entry,
    Fingerprint,
    Item,
    ItemId,
    PutReport,
    Rejection,
)
from pegboard.store.blobs.large_files import LargeFiles
from pegboard.store.planning import (
    Existing,
    Plan,
    definition_hash,
    id_taken,
    plan_put,
    planned_status,
    taken,
)
from pegboard.store.queries import load
from pegboard.store.sqlite.database import Database, Value, in_list
from pegboard.store.sqlite.files import SqliteFiles
from pegboard.store.sqlite.rows import READER, as_json, item_params
from pegboard.store.sqlite.tasks import fingerprint_key
from pegboard.store.sqlite.telling import read_only_error
from pegboard.store.sqlite.words import Words, add_spelling
from pegboard.text import TEXT_VERSION, index_fields, name_key

SQL = load("sqlite", "items")
TASK_SQL = load("sqlite", "tasks")


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
    ) -> PutReport:
        added = changed = unchanged = 0
        refused: list[Rejection] = []
        if self._db.read_only:  # before anything is uploaded
            raise read_only_error(self._db.path)
        with self._files.uploaded(items, check=rewrite) as uploads, self._db.write() as tx:
            now = time.time()
            fingerprint = fingerprint_key(tx, target) if target else None
            lying = uploads.keys(SqliteFiles(self._db).known, believed=True)
            for item in items:
                existing = _existing(tx, item)
                if taken(item, existing):
                    refused.append(id_taken(item, existing))
                    continue
                plan = plan_put(item, existing, on_change)
                added += existing is None
                changed += existing is not None and not plan.unchanged
                unchanged += plan.unchanged
                if existing is not None and plan.unchanged and not rewrite:
                    _touch(tx, item, existing)
                else:
                    _write(tx, plan, existing, target, fingerprint, now, lying)
        return PutReport(added, changed, unchanged, tuple(refused))

    def get(self, item_id: ItemId, namespace: str) -> Entry | None:
        with self._db.snapshot():
            found = self._db.records(SQL["get"], {"id": item_id, "namespace": namespace})
            if not found:
                return None
            entry, version, files = READER.entry(found[0]), *self._version_of(found[0])
        if version is None:
            return entry
        for file in files:
            file["content"] = self._files.content(item_id, file)
        item = entry.item._replace(version=READER.version(item_id, version, files))
        return entry._replace(item=item)

    def ids(self) -> list[tuple[ItemId, str]]:
        return [(ItemId(item_id), namespace) for item_id, namespace in self._db.rows(SQL["ids"])]

    def named(self, name: str) -> list[Entry]:
        # A name is whatever a source says: it must never be taken for the id of something else.
        ways = ("with_id", "named_with_namespace") if ":" in name else ("named",)
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
            "now": time.time(),
            "began": began,
        }
        with self._db.write() as tx:
            keys = [int(row[0]) for row in tx.execute(SQL["retire_under"], params)]
            tx.execute(SQL["drop_tasks_of"], {"keys": in_list(keys)})
        return len(keys)

    def retire(
        self, source: str, seen: Sequence[str], began: float, purge_before: float
    ) -> tuple[int, int]:
        with self._db.write() as tx:
            params: dict[str, Value] = {
                "source": source,
                "seen": in_list(seen),
                "now": time.time(),
                "began": began,
                "before": purge_before,
            }
            retired = len(list(tx.execute(SQL["retire"], params)))
            tx.execute(SQL["drop_tasks_of_retired"], params)
            tx.execute(SQL["purge_terms"], params)
            purged = len(list(tx.execute(SQL["purge"], params)))
        return retired, purged

    def changed(self) -> list[Change]:
        rows = self._db.records(SQL["changed"])
        return [Change(READER.entry(row), READER.definition(row)) for row in rows]

    def approve(self, entries: Sequence[Entry], target: Fingerprint | None) -> int:
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
                if tx.execute(SQL["approve"], params).fetchone() is None:
                    continue
                approved += 1
                tx.execute(SQL["forget_approved"], params)
                _queue_again(tx, entry, target, fingerprint, now)
        return approved

    def apply_policy(self, source: str, on_change: OnChange) -> None:
        steps = {
            OnChange.ALLOW: ("accept", "forget_accepted"),
            OnChange.HOLD: ("hold", "drop_tasks_of_retired"),
            OnChange.WARN: (),
        }
        if not steps[on_change]:
            return
        with self._db.write() as tx:
            for step in steps[on_change]:
                tx.execute(SQL[step], {"source": source})

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

    def _version_of(
        self, row: dict[str, Any]
    ) -> tuple[dict[str, Any] | None, list[dict[str, Any]]]:
        found = self._db.records(
            SQL["version_of"], {"key": row["key"], "version": row["latest_version"]}
        )
        if not found:
            return None, []
        return found[0], self._db.records(SQL["files_of"], {"version_key": found[0]["key"]})


def _existing(tx: apsw.Connection, item: Item) -> Existing | None:
    row = tx.execute(SQL["existing"], {"namespace": item.namespace, "id": item.id}).fetchone()
    if row is None:
        return None
    found = Existing(*row)
    return found._replace(active=bool(found.active), manual_override=bool(found.manual_override))


def _touch(tx: apsw.Connection, item: Item, existing: Existing) -> None:
    if (item.origin, item.origin_hash) != (existing.origin, existing.origin_hash):
        tx.execute(
            SQL["touch_origin"],
            {"key": existing.key, "origin": item.origin, "origin_hash": item.origin_hash},
        )


def _write(
    tx: apsw.Connection,
    plan: Plan,
    existing: Existing | None,
    target: Fingerprint | None,
    fingerprint: int | None,
    now: float,
    lying: Mapping[str, str],
) -> None:
    key = existing.key if existing else None
    status = planned_status(plan.text, target, _has_vector(tx, key, plan.source_hash, fingerprint))
    params = item_params(plan.item) | {
        "key": key,
        "name_key": name_key(plan.item.name),
        "imported_description": plan.imported_description,
        "content_hash": plan.content_hash,
        "text_version": TEXT_VERSION,
        "source_hash": plan.source_hash,
        "embedding_status": status.value,
        "approved_hash": plan.approved_hash,
        "drift": plan.drift.value,
        "active": int(plan.active),
        "now": now,
    }
    if key is None:
        key = int(tx.execute(SQL["insert_item"], params).get)
    else:
        if existing is not None and existing.drift != plan.drift:
            step = "keep_approved" if plan.drift is Drift.CHANGED else "forget_approved"
            tx.execute(SQL[step], params)
        tx.execute(SQL["update_item"], params)
        tx.execute(SQL["drop_terms"], {"key": key})
        tx.execute(SQL["drop_versions"], {"key": key})
    fields = index_fields(plan.item)
    tx.execute(
        SQL["add_terms"],
        fields._asdict() | {"key": key},
    )
    add_spelling(tx, plan.item)
    if plan.item.version is not None:
        _write_version(tx, key, plan.item.version, now, lying)
    _write_task(tx, key, plan, status, fingerprint, now)


def _queue_again(
    tx: apsw.Connection,
    entry: Entry,
    target: Fingerprint | None,
    fingerprint: int | None,
    now: float,
) -> None:
    """Whatever was held back may have lost its task."""
    plan = plan_put(entry.item, None, None)
    has_vector = _has_vector(tx, entry.key, plan.source_hash, fingerprint)
    status = planned_status(plan.text, target, has_vector)
    tx.execute(SQL["mark_embedding"], {"key": entry.key, "status": status.value})
    _write_task(tx, entry.key, plan, status, fingerprint, now)


def _write_version(
    tx: apsw.Connection, key: int, version: Version, now: float, lying: Mapping[str, str]
) -> None:
    """`lying` says where contents are that are not in the database, by their hash."""
    version_key = tx.execute(
        SQL["add_version"],
        {
            "key": key,
            "version": version.version,
            "manifest": as_json(version.manifest, "{}"),
            "manifest_text": version.manifest_text,
            "content_hash": version.content_hash,
            "changelog": version.changelog,
            "now": now,
        },
    ).get
    for file in version.files:
        tx.execute(
            SQL["add_file"],
            {
                "version_key": version_key,
                "path": file.path,
                "media_type": file.media_type,
                "sha256": file.sha256,
                "size_bytes": len(file.content),
                "executable": int(file.executable),
                "content": None if file.sha256 in lying else file.content,
                "storage_key": lying.get(file.sha256),
            },
        )


def _write_task(
    tx: apsw.Connection,
    key: int,
    plan: Plan,
    status: EmbeddingStatus,
    fingerprint: int | None,
    now: float,
) -> None:
    """The outbox side of a put: no vector or task of an older text outlives this transaction."""
    params: dict[str, Value] = {
        "key": key,
        "source_hash": plan.source_hash,
        "fingerprint": fingerprint,
    }
    tx.execute(TASK_SQL["drop_stale_vectors"], params)
    if status is EmbeddingStatus.PENDING and plan.active:
        tx.execute(TASK_SQL["drop_other_tasks"], params)
        tx.execute(TASK_SQL["add_task"], params | {"text": plan.text, "now": now})
    else:
        tx.execute(TASK_SQL["drop_tasks"], params)


def _has_vector(
    tx: apsw.Connection, key: int | None, source_hash: str, fingerprint: int | None
) -> bool:
    if key is None or fingerprint is None:
        return False
    params = {"key": key, "fingerprint": fingerprint, "source_hash": source_hash}
    return tx.execute(TASK_SQL["has_vector"], params).fetchone() is not None
