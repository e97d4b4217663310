"""A put on SQLite: item, words, links, version and task, item by item in one transaction."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import apsw

from pegboard.model.items import Drift, EmbeddingStatus, Entry, Fingerprint, Item
from pegboard.store.planning import Existing, Plan, plan_put, planned_status
from pegboard.store.queries import load
from pegboard.store.rows import readable
from pegboard.store.sqlite.database import Value
from pegboard.store.sqlite.history import note
from pegboard.store.sqlite.rows import READER, as_json, as_records, item_params
from pegboard.store.sqlite.term_index import write_terms
from pegboard.store.sqlite.versions import write_version
from pegboard.text import TEXT_VERSION, index_fields, name_key

SQL = load("sqlite", "items")
LINK_SQL = load("sqlite", "curation")
TASK_SQL = load("sqlite", "tasks")


def existing_of(tx: apsw.Connection, item: Item) -> Existing | None:
    row = tx.execute(SQL["existing"], {"namespace": item.namespace, "id": item.id}).fetchone()
    if row is None:
        return None
    found = Existing(*row)
    with readable(item.id):
        imported_tags = None if found.imported_tags is None else READER.strings(row[-1])
        tags = () if imported_tags is None else READER.strings(row[-2])
    return found._replace(
        active=bool(found.active),
        manual_override=bool(found.manual_override),
        held=bool(found.held),
        off=bool(found.off),
        tags=tags,
        imported_tags=imported_tags,
    )


def touch(tx: apsw.Connection, item: Item, existing: Existing) -> None:
    if (item.origin, item.origin_hash) != (existing.origin, existing.origin_hash):
        tx.execute(
            SQL["touch_origin"],
            {"key": existing.key, "origin": item.origin, "origin_hash": item.origin_hash},
        )


class Putting(NamedTuple):
    """What all items of one put have in common."""

    tx: apsw.Connection
    target: Fingerprint | None
    fingerprint: int | None
    now: float
    lying: Mapping[str, str] = MappingProxyType({})
    """Where contents are that are not in the database, by their hash."""
    by: str | None = None
    """Who publishes what is put; None for what is not published."""

    def write(self, plan: Plan, existing: Existing | None) -> None:
        key = self.hang(plan, existing)
        if plan.item.version is not None or existing is not None:
            write_version(self.tx, key, plan.item, existing, self.now, self.lying, self.by)

    def hang(self, plan: Plan, existing: Existing | None) -> int:
        """The item with all that belongs to it but its version; its key."""
        key = self.write_item(plan, existing)
        for event, detail in plan.noted:
            note(self.tx, [key], event, self.now, detail=detail)
        if plan.item.links or existing is not None:
            _write_links(self.tx, key, plan.item)
        return key

    def write_item(self, plan: Plan, existing: Existing | None) -> int:
        """The item with its words and its task, but for what stands beside it; its key."""
        tx, key = self.tx, existing.key if existing else None
        has_vector = _has_vector(tx, key, plan.source_hash, self.fingerprint)
        status = planned_status(plan.text, self.target, has_vector)
        fields = index_fields(plan.item)
        params = item_params(plan.item) | {
            "key": key,
            "terms": sum(len(field.split()) for field in fields),
            "name_key": name_key(plan.item.name),
            "imported_description": plan.imported_description,
            "imported_tags": _own_tags(plan),
            "content_hash": plan.content_hash,
            "text_version": TEXT_VERSION,
            "source_hash": plan.source_hash,
            "embedding_status": status.value,
            "approved_hash": plan.approved_hash,
            "drift": plan.drift.value,
            "held": int(plan.held),
            "active": int(plan.active),
            "now": self.now,
        }
        if key is None:
            key = int(tx.execute(SQL["insert_item"], params).get)
        else:
            if existing is not None and existing.drift != plan.drift:
                step = "keep_approved" if plan.drift is Drift.CHANGED else "forget_approved"
                tx.execute(SQL[step], params)
            tx.execute(SQL["update_item"], params)
        write_terms(tx, key, plan.item, fields, replace=existing is not None)
        _write_task(tx, key, plan, status, self.fingerprint, self.now)
        return key


def write_words_again(tx: apsw.Connection, key: int, item: Item) -> None:
    """For an item of another visibility: what weighs words in memory goes by their index."""
    write_terms(tx, key, item, index_fields(item), replace=True)


def _own_tags(plan: Plan) -> str | None:
    return None if plan.imported_tags is None else as_json(plan.imported_tags, "[]")


def _write_links(tx: apsw.Connection, key: int, item: Item) -> None:
    links = as_records(item.links)
    tx.execute(LINK_SQL["drop_links"], {"key": key, "links": links})
    if item.links:
        tx.execute(LINK_SQL["add_links"], {"key": key, "links": links})


def queue_again(
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
