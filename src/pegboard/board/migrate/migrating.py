"""Moving the items of a Kiwi database to a board: read, gate, put, and say what became of each row.

What was committed stays, wherever it is stopped, and is passed over the next time.
"""

import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pegboard.board.migrate.rows import (
    SHAPES,
    SOURCE,
    VERSIONS,
    Gate,
    Moving,
    Remark,
    moment_of,
    moving,
    origin_of,
    refusal,
    row_hash,
    uid_of,
)
from pegboard.board.migrate.vectors import Misfit, Vouched, fitting, names_of, own_row
from pegboard.model.items import EmbeddingStatus, Fingerprint, Kind, Rejection
from pegboard.ports.ledger import Ledger
from pegboard.ports.stages import Progress
from pegboard.store.postgres.kiwi import Carried, KiwiBoard, OldVector, Relation, There, Wanted
from pegboard.store.postgres.kiwi_reading import KiwiDatabase, OldItem, OldRow, Orphan
from pegboard.text import TEXT_VERSION, embedding_text, source_hash

BATCH = 100
"""Old rows to a transaction."""
BATCH_BYTES = 8_000_000
RELATED = 1_000
"""Relationships to a transaction."""
RELATED_SOMEHOW = "related"
"""What a relationship without a type is called."""
EDITED = Misfit("edited", "its item was edited on the board; a worker makes the vector of its text")


@dataclass(slots=True)
class TableReport:
    rows: int = 0
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    refused: int = 0
    versions: int = 0
    """Versions of what was added, changed or there already."""
    left_versions: int = 0
    """Versions that stayed behind with a row that was refused."""


@dataclass(slots=True)
class MigrationReport:
    dry_run: bool
    tables: dict[str, TableReport] = field(default_factory=dict)
    embeddings: Counter[str] = field(default_factory=Counter)
    """How many were `taken`, and how many were not, by reason; `queued` are items for a worker."""
    refused: list[Rejection] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)


class Settled(NamedTuple):
    """What can be put, with what came from the same row before."""

    carried: Carried
    there: There | None

    @property
    def unchanged(self) -> bool:
        """An edit on the board stays until the old row changes."""
        item, there = self.carried.item, self.there
        return there is not None and (
            (there.id, there.origin, there.origin_hash, there.text_version)
            == (item.id, item.origin, item.origin_hash, TEXT_VERSION)
        )

    @property
    def source_hash(self) -> str:
        """Of the text that it will have on the board: what a person has written there stays."""
        item, there = self.carried.item, self.there
        if there is not None and self.unchanged:
            return there.source_hash
        if there is not None and there.id == item.id:
            item = there.as_decided(item)
        return source_hash(embedding_text(item))

    @property
    def waits(self) -> bool:
        """Whether it has no vector yet."""
        status = self.there.embedding_status if self.there and self.unchanged else "pending"
        return status in (EmbeddingStatus.PENDING, EmbeddingStatus.FAILED)


class Migrating:
    def __init__(
        self,
        old: KiwiDatabase,
        board: KiwiBoard,
        ledger: Ledger,
        gate: Gate,
        namespace: str,
        target: Fingerprint | None,
        vouched: Vouched,
        progress: Progress,
        *,
        dry_run: bool,
    ) -> None:
        self.old = old
        self.board = board
        self.ledger = ledger
        self.gate = gate
        self.namespace = namespace
        self.target = target
        self.vouched = vouched
        self.progress = progress
        self.report = MigrationReport(dry_run)
        self._known = {
            each.origin: (each.origin_hash, each.code)
            for each in ledger.rejections()
            if each.source == SOURCE
        }
        self._ids: dict[str, str] = {}
        self._uids: dict[str, str] = {}
        self._embedded: set[str] = set()
        self._zettels: dict[str, str] = {}

    def run(self, stop: threading.Event) -> MigrationReport:
        for table in SHAPES:
            if table in self.old.tables:
                self._move(table, stop)
        if not stop.is_set():
            if "knowledge_relationships" in self.old.tables:
                self._relate()
            self._strangers()
        return self.report

    def _move(self, table: str, stop: threading.Event) -> None:
        report = self.report.tables.setdefault(table, TableReport())
        total = self.old.counts[table]
        for batch in self._batches(table):
            if stop.is_set():
                return
            self._flush(report, batch)
            self.progress(table, report.rows, total)

    def _batches(self, table: str) -> Iterator[list[OldItem | Orphan]]:
        batch: list[OldItem | Orphan] = []
        size = 0
        for old in self.old.items(table, *VERSIONS[table]):
            batch.append(old)
            versions = old.versions if isinstance(old, OldItem) else ()
            size += sum(len(str(row.get("content") or "")) for row in (old.row, *versions))
            if len(batch) >= BATCH or size >= BATCH_BYTES:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    def _flush(self, report: TableReport, batch: Sequence[OldItem | Orphan]) -> None:
        refused = [_of_nothing(old) for old in batch if isinstance(old, Orphan)]
        moved: list[Moving] = []
        for old in batch:
            if isinstance(old, OldItem):
                found = moving(old, self.namespace, self.gate)
                self.report.remarks += found.remarks
                refused += found.refused
                moved.append(found)
        settled: list[Settled] = []
        for verdict in self._settle([each.carried for each in moved if each.carried]):
            if isinstance(verdict, Rejection):
                refused.append(verdict)
            else:
                settled.append(verdict)
        to_put = [each for each in settled if not each.unchanged]
        vectors = self._vectors(settled)
        taken = frozenset(vectors)
        if not self.report.dry_run:
            put = self.board.put([each.carried for each in to_put], vectors)
            refused += put.refused
            taken = put.hung
            self._record(refused, [each.carried.item.origin for each in settled])
        self._count(report, moved, settled, {each.origin for each in refused}, taken)
        self.report.refused += refused

    def _settle(self, carried: Sequence[Carried]) -> Iterator[Settled | Rejection]:
        """Each with what is on the board already, or with what is in its way there."""
        wanted = Wanted(
            ids=[each.item.id for each in carried],
            uids=[each.uid for each in carried],
            origins=[each.item.origin for each in carried],
            version_uids=[version.uid for each in carried for version in each.versions],
        )
        there = self.board.there(wanted)
        elsewhere = self.board.versions_elsewhere(wanted)
        for each in carried:
            if reason := self._in_the_way(each, there, elsewhere):
                yield refusal(each.item.origin, each.item.origin_hash, *reason)
                continue
            self._ids[each.item.id] = each.item.origin
            self._uids |= dict.fromkeys(_uids(each), each.item.origin)
            if each.item.kind is Kind.KNOWLEDGE:
                self._zettels[each.item.aliases[0]] = each.item.id
            yield Settled(each, _same(each, there))

    def _in_the_way(
        self, each: Carried, there: Sequence[There], elsewhere: dict[str, str]
    ) -> tuple[str, str] | None:
        item, mine = each.item, (SOURCE, each.item.origin)
        if first := self._ids.get(item.id):
            return "duplicate_id", f"{item.id} is already the id of {first}; rename one of them"
        for uid in _uids(each):
            holder = self._uids.get(uid) or elsewhere.get(uid)
            if holder:
                return "duplicate_uuid", f"{holder} has the UUID {uid} too"
        for other in there:
            if other.uid == each.uid and (other.source, other.origin) != mine:
                return "uuid_taken", f"{other.id} on the board has the UUID {each.uid}"
            if other.id == item.id and other.active and other.source != SOURCE:
                return "id_taken", (
                    f"{item.id} already hangs on this board from source {other.source!r}; "
                    "rename one of them, or import with --namespace"
                )
        return None

    def _vectors(self, settled: Sequence[Settled]) -> dict[str, OldVector]:
        """By id, the old vectors that fit items which have none yet."""
        if self.target is None or not settled:
            return {}
        names = {n for each in settled for n in names_of(each.carried.item, each.carried.uid)}
        rows: dict[str, list[OldRow]] = {}
        for row in self.old.embeddings(sorted(names)):
            rows.setdefault(str(row["item_id"]), []).append(row)
        found: dict[str, OldVector] = {}
        for each in settled:
            item = each.carried.item
            own = own_row(item, each.carried.uid, rows)
            if own is None:
                continue
            self._embedded.add(str(own["item_id"]))
            fits = fitting(own, item, self.target, self.vouched)
            said = source_hash(embedding_text(item))
            if isinstance(fits, Misfit):
                self._leave(str(own["item_id"]), fits)
            elif each.waits and each.source_hash != said:
                self._leave(str(own["item_id"]), EDITED)
            elif each.waits:
                found[item.id] = OldVector(fits, said)
        return found

    def _leave(self, item_id: str, misfit: Misfit) -> None:
        self.report.embeddings[misfit.code] += 1
        self.report.remarks.append(Remark(f"item_embeddings/{item_id}", *misfit))

    def _record(self, refused: Sequence[Rejection], settled: Sequence[str]) -> None:
        """Rejections that were not known, or not with this reason; those that are over go."""
        new = [each for each in refused if self._known.get(each.origin) != _why(each)]
        lost = {each.origin for each in refused}
        over = [origin for origin in settled if origin in self._known and origin not in lost]
        if over:
            self.ledger.settle(SOURCE, over, None)
        if new:
            self.ledger.reject(new)

    def _count(
        self,
        report: TableReport,
        moved: Sequence[Moving],
        settled: Sequence[Settled],
        refused: set[str],
        taken: frozenset[str],
    ) -> None:
        kept = [each for each in settled if each.carried.item.origin not in refused]
        new = [each for each in kept if not each.unchanged]
        report.rows += len(moved)
        report.refused += len(moved) - len(kept)
        report.added += sum(each.there is None for each in new)
        report.changed += sum(each.there is not None for each in new)
        report.unchanged += len(kept) - len(new)
        report.versions += sum(len(each.carried.versions) for each in kept)
        here = {each.carried.item.origin for each in kept}
        report.left_versions += sum(each.versions for each in moved if each.origin not in here)
        self.report.embeddings["taken"] += len(taken)
        if self.target is not None:
            queued = [each for each in new if each.carried.item.id not in taken]
            self.report.embeddings["queued"] += len(queued)

    def _relate(self) -> None:
        known = self.board.related()
        table = self.report.tables.setdefault("knowledge_relationships", TableReport())
        new: list[Relation] = []
        refused: list[Rejection] = []
        for row in self.old.relationships():
            table.rows += 1
            found = self._relation(row)
            if isinstance(found, Rejection):
                refused.append(found)
            elif found[:3] in known:
                table.unchanged += 1
            else:
                known.add(found[:3])
                new.append(found)
        table.added, table.refused = len(new), len(refused)
        self.report.refused += refused
        if not self.report.dry_run:
            for first in range(0, len(new), RELATED):
                self.board.relate(new[first : first + RELATED])
            self._record(refused, [])

    def _relation(self, row: OldRow) -> Relation | Rejection:
        ends = [str(row[name]) for name in ("from_zettel_id", "to_zettel_id")]
        kind = str(row.get("relationship_type") or RELATED_SOMEHOW)
        ids = [self._zettels.get(end) for end in ends]
        if ids[0] and ids[1]:
            return Relation(ids[0], ids[1], kind, uid_of(row), moment_of(row, "created_at"))
        missing = next(end for end, here in zip(ends, ids, strict=True) if not here)
        origin = f"knowledge_relationships/{ends[0]} {kind} {ends[1]}"
        return refusal(
            origin,
            row_hash(row),
            "no_entry",
            f"the entry {missing!r} was not moved, or is not there",
        )

    def _strangers(self) -> None:
        """Embeddings of nothing that was moved."""
        if self.target is None:
            return
        for item_id in self.old.embedded_ids():
            if item_id not in self._embedded:
                self._leave(
                    item_id, Misfit("no_item", "nothing that was moved has this id or name")
                )


def _of_nothing(old: Orphan) -> Rejection:
    table = next(table for table, (versions, _) in VERSIONS.items() if versions == old.table)
    owner = old.row.get(VERSIONS[table][1])
    return refusal(
        origin_of(old.table, old.row),
        row_hash(old.row),
        "no_item",
        f"it is a version of {owner}, which is not among the {table}",
    )


def _uids(each: Carried) -> list[str]:
    return [each.uid, *(version.uid for version in each.versions)]


def _same(each: Carried, there: Sequence[There]) -> There | None:
    """What came from the same row, else what of ours hangs under the same id."""
    ours = [other for other in there if other.source == SOURCE]
    same = [other for other in ours if other.origin == each.item.origin]
    return next(iter(same or [other for other in ours if other.id == each.item.id]), None)


def _why(each: Rejection) -> tuple[str, str]:
    return each.origin_hash, each.code
