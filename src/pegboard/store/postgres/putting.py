"""A put on PostgreSQL: many items with a few statements, all in one transaction."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pegboard.model.calls import OnChange
from pegboard.model.items import (
    Drift,
    EmbeddingStatus,
    Entry,
    Fingerprint,
    Item,
    PutReport,
    Rejection,
)
from pegboard.store.planning import (
    Existing,
    Plan,
    displaced,
    id_taken,
    not_own,
    plan_put,
    planned_status,
    taken,
)
from pegboard.store.postgres.database import Connection, run
from pegboard.store.postgres.history import note
from pegboard.store.postgres.rows import as_rows, item_values
from pegboard.store.postgres.statements import columns
from pegboard.store.postgres.term_index import IndexedText, write_spelling, write_terms
from pegboard.store.postgres.versions import Versioned, known_versions, write_versions
from pegboard.store.queries import load
from pegboard.store.versioning import version_exists
from pegboard.text import TEXT_VERSION, card, name_key

SQL = load("postgres", "items")
LINK_SQL = load("postgres", "curation")
TASK_SQL = load("postgres", "tasks")

MOST_AT_ONCE = 4_000_000
"""Characters of items that one statement carries."""


class Planned(NamedTuple):
    plan: Plan
    existing: Existing | None
    key: int = 0
    status: EmbeddingStatus = EmbeddingStatus.BLANK

    @property
    def item(self) -> Item:
        return self.plan.item


class Putting:
    """One put, inside one transaction."""

    def __init__(
        self,
        tx: Connection,
        target: Fingerprint | None,
        fingerprint: int | None,
        on_change: OnChange | None,
        lying: Mapping[str, str],
        yielding: frozenset[str] = frozenset(),
        by: str | None = None,
    ) -> None:
        self.tx = tx
        self.target = target
        self.fingerprint = fingerprint
        self.on_change = on_change
        self.lying = lying
        """Where large contents lie, by their hash."""
        self.yielding = yielding
        self.by = by
        """Who publishes what is put; None for what is not published."""

    def put(
        self, items: Sequence[Item], *, rewrite: bool, fixed: bool = False, own: bool = False
    ) -> PutReport:
        added = changed = unchanged = 0
        refused: list[Rejection] = []
        outdone: list[Rejection] = []
        for part in _parts(items):
            existing = self.existing(part)
            known = (
                known_versions(self.tx, [each.key for each in existing.values()]) if fixed else {}
            )
            to_write: list[Planned] = []
            touched: list[tuple[Item, Existing]] = []
            for item in part:
                found = existing.get((item.namespace, item.id))
                if refusal := self._refusal(item, found, known, own=own):
                    refused.append(refusal)
                    continue
                if loser := displaced(item, found):
                    outdone.append(loser)
                plan = plan_put(item, found, self.on_change)
                added += found is None
                changed += found is not None and not plan.unchanged
                unchanged += plan.unchanged
                if found is not None and plan.unchanged and not rewrite:
                    touched.append((item, found))
                else:
                    to_write.append(Planned(plan, found))
            self._touch(touched)
            self.write(to_write)
        return PutReport(added, changed, unchanged, tuple(refused), tuple(outdone))

    def _refusal(
        self,
        item: Item,
        found: Existing | None,
        known: Mapping[int, Mapping[str, str]],
        *,
        own: bool,
    ) -> Rejection | None:
        if own and found and run(self.tx, SQL["author"], {"key": found.key}) != [(item.author,)]:
            return not_own(item)
        if holder := taken(item, found, self.yielding):
            return id_taken(item, holder, self.yielding)
        return version_exists(item, known.get(found.key, {})) if found else None

    def existing(self, items: Sequence[Item]) -> dict[tuple[str, str], Existing]:
        params = {"namespaces": [i.namespace for i in items], "ids": [i.id for i in items]}
        rows = run(self.tx, SQL["existing"], params)
        return {(namespace, item_id): _existing(*rest) for namespace, item_id, *rest in rows}

    def _touch(self, seen: Iterable[tuple[Item, Existing]]) -> None:
        moved = [
            {"key": known.key, "origin": item.origin, "origin_hash": item.origin_hash}
            for item, known in seen
            if (item.origin, item.origin_hash) != (known.origin, known.origin_hash)
        ]
        if moved:
            run(self.tx, SQL["touch_origins"], {"rows": as_rows(moved)})

    def write(self, planned: Sequence[Planned]) -> None:
        if not planned:
            return
        written = self.hang(planned)
        versioned = [Versioned(each.key, each.item, each.existing) for each in written]
        write_versions(self.tx, versioned, self.lying, self.by)

    def hang(self, planned: Sequence[Planned]) -> list[Planned]:
        """Items with all that belongs to them but their versions."""
        written = self.write_items(planned)
        old = [each.key for each in written if each.existing is not None]
        note(self.tx, [(each.key, noted) for each in written for noted in each.plan.noted])
        self._write_links(written, old)
        return written

    def write_items(self, planned: Sequence[Planned]) -> list[Planned]:
        """Items with their words and tasks, but for what stands beside them."""
        known = [(each.existing.key, each.plan) for each in planned if each.existing]
        embedded = _with_vectors(self.tx, known, self.fingerprint)
        planned = [
            each._replace(
                key=each.existing.key if each.existing else 0,
                status=planned_status(
                    each.plan.text,
                    self.target,
                    each.existing is not None and each.existing.key in embedded,
                ),
            )
            for each in planned
        ]
        written = [*self._insert(planned), *self._update(planned)]
        write_terms(self.tx, [IndexedText(each.key, each.item, each.plan.text) for each in written])
        write_spelling(self.tx, [each.item for each in written])
        write_tasks(self.tx, written, self.fingerprint)
        return written

    def _write_links(self, written: Sequence[Planned], old: Sequence[int]) -> None:
        names = ("linking", "relations", "targets")
        said = ((each.key, link) for each in written for link in each.item.links)
        links = list(dict.fromkeys((key, link.relation, link.target) for key, link in said))
        params = columns(names, links) | {"keys": list(old)}
        if old:
            run(self.tx, LINK_SQL["drop_links"], params)
        if links:
            run(self.tx, LINK_SQL["add_links"], params)

    def _insert(self, planned: Sequence[Planned]) -> list[Planned]:
        new = [each for each in planned if each.existing is None]
        if not new:
            return []
        rows = [_row(each) | {"place": place} for place, each in enumerate(new)]
        found = run(self.tx, SQL["insert_items"], {"rows": as_rows(rows)})
        keys = {(namespace, item_id): int(key) for namespace, item_id, key in found}
        return [each._replace(key=keys[each.item.namespace, each.item.id]) for each in new]

    def _update(self, planned: Sequence[Planned]) -> list[Planned]:
        old = [each for each in planned if each.existing is not None]
        if not old:
            return []
        for drift, step in ((Drift.CHANGED, "keep_approved"), (Drift.NONE, "forget_approved")):
            keys = [
                each.key
                for each in old
                if each.existing and each.existing.drift != each.plan.drift == drift
            ]
            if keys:
                run(self.tx, SQL[step], {"keys": keys})
        run(self.tx, SQL["update_items"], {"rows": as_rows([_row(each) for each in old])})
        for step in ("drop_terms", "drop_texts"):
            run(self.tx, SQL[step], {"keys": [each.key for each in old]})
        return old


def _existing(*row: Any) -> Existing:  # noqa: ANN401 (of a row)
    found = Existing(*row)
    imported_tags = None if found.imported_tags is None else tuple(found.imported_tags)
    return found._replace(tags=tuple(found.tags), imported_tags=imported_tags)


def _with_vectors(
    tx: Connection, known: Sequence[tuple[int, Plan]], fingerprint: int | None
) -> frozenset[int]:
    """Keys of those whose text has its vector already."""
    if not known or fingerprint is None:
        return frozenset()
    rows = [(key, plan.source_hash, plan.item.kind.value) for key, plan in known]
    params = columns(("keys", "hashes", "kinds"), rows) | {"fingerprint": fingerprint}
    return frozenset(int(row[0]) for row in run(tx, TASK_SQL["have_vectors"], params))


def queue_again(
    tx: Connection, entry: Entry, target: Fingerprint | None, fingerprint: int | None
) -> None:
    """Whatever could not be found for a while may have lost its task."""
    plan = plan_put(entry.item, None, None)
    has_vector = bool(_with_vectors(tx, [(entry.key, plan)], fingerprint))
    status = planned_status(plan.text, target, has_vector)
    run(tx, SQL["mark_embedding"], {"key": entry.key, "status": status.value})
    write_tasks(tx, [Planned(plan, None, entry.key, status)], fingerprint)


def write_tasks(tx: Connection, planned: Sequence[Planned], fingerprint: int | None) -> None:
    """The outbox side of a put: no vector or task of an older text outlives this transaction."""
    names = ("keys", "hashes", "kinds")
    rows = [(each.key, each.plan.source_hash, each.item.kind.value) for each in planned]
    run(tx, TASK_SQL["drop_stale_vectors"], columns(names, rows))
    waiting = [
        each
        for each in planned
        if each.status is EmbeddingStatus.PENDING and each.plan.active and fingerprint is not None
    ]
    others = {each.key for each in planned} - {each.key for each in waiting}
    if others:
        run(tx, SQL["drop_tasks_of"], {"keys": sorted(others)})
    if waiting:
        params = columns(
            ("keys", "hashes", "texts"),
            [(each.key, each.plan.source_hash, each.plan.text) for each in waiting],
        ) | {"fingerprint": fingerprint}
        run(tx, TASK_SQL["drop_other_tasks"], params)
        run(tx, TASK_SQL["add_tasks"], params)


def _row(each: Planned) -> dict[str, object]:
    plan = each.plan
    return item_values(plan.item) | {
        "key": each.key,
        "name_key": name_key(plan.item.name),
        "card": card(plan.item),
        "imported_description": plan.imported_description,
        "imported_tags": plan.imported_tags,
        "content_hash": plan.content_hash,
        "text_version": TEXT_VERSION,
        "source_hash": plan.source_hash,
        "embedding_status": each.status.value,
        "approved_hash": plan.approved_hash,
        "drift": plan.drift.value,
        "held": plan.held,
        "active": plan.active,
    }


def _parts(items: Sequence[Item]) -> Iterator[list[Item]]:
    """So many at a time as one statement can carry, and no id twice among them."""
    part: list[Item] = []
    ids: set[tuple[str, str]] = set()
    size = 0
    for item in items:
        weight = len(item.body) + len(item.description) + 2_000
        if part and ((item.namespace, item.id) in ids or size + weight > MOST_AT_ONCE):
            yield part
            part, ids, size = [], set(), 0
        part.append(item)
        ids.add((item.namespace, item.id))
        size += weight
    if part:
        yield part
