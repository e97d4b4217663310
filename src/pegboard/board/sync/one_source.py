"""Bring a board up to date with a source: scan, gate, put, and retire what is gone."""

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from pegboard.model.calls import OnChange
from pegboard.model.items import (
    Candidate,
    Finding,
    Fingerprint,
    Form,
    Item,
    LeftOut,
    Rejection,
    SourceRecord,
    Unchanged,
)
from pegboard.ports.stages import Progress, Source
from pegboard.ports.store import Store

BATCH = 200
"""Items to a transaction: the write lock is held for a moment, and a kill loses little work."""
BATCH_BYTES = 32_000_000
"""Their files may have so many bytes together: they are all in memory at once."""

Gate = Callable[[Candidate], Item | Rejection]


@dataclass(slots=True)
class SyncReport:
    source: str
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    retired: int = 0
    purged: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    loose_links: int = 0
    """Links of its items that lead nowhere."""
    error: str = ""
    """Why the source as a whole could not be read; nothing of it was changed then."""


class Sync:
    """One pass over one source. What it has committed stays, wherever it is stopped."""

    def __init__(
        self,
        store: Store,
        gate: Gate,
        record: SourceRecord,
        target: Fingerprint | None,
        progress: Progress,
        on_change: OnChange | None = None,
        yielding: frozenset[str] = frozenset(),
    ) -> None:
        self.store = store
        self.gate = gate
        self.record = record
        self.target = target
        self.progress = progress
        self.on_change = on_change
        self.yielding = yielding
        self.report = SyncReport(record.name)
        self._items: list[Item] = []
        self._rejections: list[Rejection] = []
        self._present: list[str] = []
        self._unchanged: list[str] = []
        self._refused: list[str] = []
        self._unreadable: list[str] = []
        self._still_refused: dict[str, str] = {}
        self._ids: dict[tuple[str, str], str] = {}
        self._scanned = 0
        self._bytes = 0
        self._rewrite = False
        self._source: Source | None = None
        """The one to ask about a file, unless the board has nothing from it yet."""

    def run(
        self,
        source: Source,
        *,
        full: bool = False,
        under: Sequence[str] = (),
        keep_missing_days: float,
        stop: threading.Event,
    ) -> SyncReport:
        """With `full`, everything is read and written again, whether it changed or not.

        With `under`, it is a pass over what is at or under these paths, and nothing else is
        retired. When stopped, it keeps what it has and retires nothing: it has not seen everything.
        """
        self._rewrite = full
        self.progress("reading", 0, None)  # a large document is read for a while before it tells
        began = self.store.now()
        paths = frozenset(path.strip("/") for path in under)
        known = self.store.items.origins(self.record.name, sorted(paths))
        self._source = source if known or under else None
        refused = {
            each.origin: each.code
            for each in self.store.ledger.rejections()
            if each.source == self.record.name
        }
        self._still_refused = {o: code for o, code in refused.items() if code != "id_taken"}
        for finding in source.scan({} if full else known, under):
            self._take(finding)
            if len(self._items) + len(self._rejections) >= BATCH or self._bytes >= BATCH_BYTES:
                self._flush()
            if stop.is_set():
                self._flush()
                return self.report
        self._flush()
        if under:
            self._end_partial(known, refused, began, paths)
        else:
            self._end_whole(known, began, self.store.now() - keep_missing_days * 86_400)
        self.progress("reading", self._scanned, self._scanned)
        return self.report

    def _end_whole(self, known: Mapping[str, str], began: float, purge_before: float) -> None:
        self.report.retired, self.report.purged = self.store.items.retire(
            self.record.name, self._seen(known), began, purge_before
        )
        self.store.ledger.settle(self.record.name, self._present, [*self._present, *self._refused])
        self.store.ledger.mark_synced(self.record.name)
        self.store.items.take_census()
        self._follow_links()

    def _end_partial(
        self,
        known: Mapping[str, str],
        refused: Mapping[str, str],
        began: float,
        under: frozenset[str],
    ) -> None:
        """Retire and forget what is gone from there, and purge nothing.

        A census is only taken if many have come or gone: a save must not have to wait for it.
        """
        seen = {*self._present, *self._refused}
        self.report.retired = self.store.items.retire_under(
            self.record.name, sorted(under), self._seen(known), began
        )
        void = set(_at_or_under(refused, under)) - seen | refused.keys() & set(self._present)
        if void:
            self.store.ledger.settle(self.record.name, sorted(void), None)
        if self.report.added + self.report.retired >= BATCH:
            self.store.items.take_census()
        if self.report.added or self.report.changed or self.report.retired:
            self._follow_links()

    def _seen(self, known: Mapping[str, str]) -> list[str]:
        """What was put goes by its id: an origin may have had another one before."""
        dark = _at_or_under(known, frozenset(self._unreadable))
        return [*self._unchanged, *dark, *(item_id for _, item_id in self._ids)]

    def _follow_links(self) -> None:
        """What came, went or was renamed may be what links mean, also those of other sources."""
        self.store.curation.resolve_links()
        self.report.loose_links = len(self.store.curation.loose_links(self.record.name))

    def _take(self, finding: Finding) -> None:
        self._scanned += 1
        match finding:
            case Unchanged(origin) if origin in self._still_refused:
                self._refused.append(origin)
                self.report.rejected[self._still_refused[origin]] += 1
            case Unchanged(origin):
                self.report.unchanged += 1
                self._present.append(origin)
                self._unchanged.append(origin)
            case LeftOut(_, reason):
                self.report.left_out[reason] += 1
            case Rejection():
                self._refuse(finding)
            case Candidate():
                verdict = self.gate(finding)
                if isinstance(verdict, Item):
                    verdict = self._once(verdict, finding.form)
                if isinstance(verdict, Item):
                    self._items.append(verdict)
                    self._bytes += sum(len(file.content) for file in finding.files)
                else:
                    self._refuse(verdict)
            case _:
                assert_never(finding)

    def _once(self, item: Item, form: Form) -> Item | Rejection:
        """A second item under the same id would push out the first, at every sync anew.

        Ids come from places, which differ; only an entry of knowledge says its own.
        """
        holder = self._holder(item) if form is Form.KNOWLEDGE else ""
        first = holder or self._ids.setdefault((item.namespace, item.id), item.origin)
        if first == item.origin:
            return item
        return Rejection(
            source=item.source,
            origin=item.origin,
            origin_hash=item.origin_hash,
            code="id_taken",
            reason=f"{item.id} is already the id of {first}; rename one of them",
        )

    def _holder(self, item: Item) -> str:
        """Which other file of this source has the id on the board, and is still as it was."""
        if self._source is None:
            return ""
        for each in (entry.item for entry in self.store.items.named(item.id)):
            same = (each.source, each.namespace) == (item.source, item.namespace)
            if same and each.origin != item.origin:
                known = self.store.items.origins(self.record.name, [each.origin])
                if Unchanged(each.origin) in self._source.scan(known, [each.origin]):
                    return each.origin
        return ""

    def _refuse(self, rejection: Rejection) -> None:
        self._rejections.append(rejection)
        self._refused.append(rejection.origin)
        if rejection.code == "unreadable":
            self._unreadable.append(rejection.origin)
        self.report.rejected[rejection.code] += 1

    def _flush(self) -> None:
        if self._items:
            put = self.store.items.put(
                self._items,
                self.target,
                rewrite=self._rewrite,
                on_change=self.on_change,
                yielding=self.yielding,
            )
            self.report.added += put.added
            self.report.changed += put.changed
            self.report.unchanged += put.unchanged
            for refused in put.refused:
                self._refuse(refused)
            admitted = {item.origin for item in self._items} - {r.origin for r in put.refused}
            self.store.ledger.settle(self.record.name, sorted(admitted), None)
            self._present += sorted(admitted)
            self._rejections += put.displaced
            self._items = []
            self._bytes = 0
        if self._rejections:
            self.store.ledger.reject(self._rejections)
            self._rejections = []
        self.progress("reading", self._scanned, None)


def _at_or_under(origins: Iterable[str], paths: frozenset[str]) -> list[str]:
    """Origins that are one of these paths, or lie in a folder that is."""
    if not paths:
        return []
    return [origin for origin in origins if not paths.isdisjoint(_path_and_above(origin))]


def _path_and_above(origin: str) -> Iterator[str]:
    yield origin
    while origin := origin.rpartition("/")[0]:
        yield origin
