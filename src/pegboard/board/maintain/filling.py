"""Filling a board: sources are read while what they have queued already is being embedded."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pegboard.board.maintain.models import BoardModels
from pegboard.board.maintain.worker import Worker, WorkerSettings, WorkReport
from pegboard.board.sync.one_source import Gate, Sync, SyncReport
from pegboard.board.sync.source_kinds import IN_FOLDERS, reach, yielding
from pegboard.errors import ModelUnavailable, SourceError
from pegboard.model.calls import OnChange
from pegboard.model.items import Fingerprint, SourceRecord
from pegboard.ports.stages import Progress, Source
from pegboard.ports.store import Store


@dataclass(slots=True)
class Outcome:
    sources: list[SyncReport] = field(default_factory=list)
    work: WorkReport = field(default_factory=WorkReport)
    waiting: int = 0
    notices: list[str] = field(default_factory=list)


class Filling:
    def __init__(
        self,
        store: Store,
        models: BoardModels,
        settings: WorkerSettings,
        gate: Gate,
        progress: Progress,
        stop: threading.Event,
        *,
        keep_missing_days: float,
    ) -> None:
        self.store = store
        self.models = models
        self.settings = settings
        self.gate = gate
        self.progress = progress
        self.stop = stop
        self.keep_missing_days = keep_missing_days
        self.full = False
        """Whether everything is read and written again, changed or not."""
        self.under: Sequence[str] = ()
        """The paths to look at, if not all."""
        self.outcome = Outcome()

    @contextmanager
    def embedding(self, *, beside: bool) -> Iterator[Fingerprint | None]:
        """Embed what the block queues while it goes on queueing, and the rest after it.

        Yields what vectors are to be like. A model that cannot be used stops nothing: what needs a
        vector waits for it. Without `beside`, everything that is queued is left to a worker.
        """
        try:
            self.models.follow_settings()
            target = self.models.target()
        except ModelUnavailable as error:
            self._without_model(error)
            yield None
            return
        all_queued = threading.Event()
        with ThreadPoolExecutor(1) as pool:
            working = pool.submit(self._work, all_queued) if beside else None
            try:
                yield target
                if not self.under:  # a look at a part has queued what it put, and must be quick
                    self.models.queue_missing(self.progress)
            except BaseException:
                if working is not None:  # else `stop` is of others, who go on without this
                    self.stop.set()
                raise
            finally:
                all_queued.set()
        if working is not None:
            working.result()
            self.outcome.notices += self.models.take_notices()
        self.outcome.waiting = sum(map(self.store.tasks.waiting, self.models.targets()))

    def _work(self, all_queued: threading.Event) -> None:
        if self.models.own is None:
            return
        worker = Worker(self.store, self.models, self.settings)
        try:
            worker.drain(self.stop, self.progress, all_queued)
        except ModelUnavailable as error:
            self._without_model(error)
        self.outcome.work = worker.report

    def _without_model(self, error: ModelUnavailable) -> None:
        goes_on = (
            "goes on with the old model" if self.models.another_serves else "goes by words only"
        )
        self.outcome.notices.append(f"nothing was embedded, search {goes_on}: {error}")

    def read(
        self,
        records: Sequence[SourceRecord],
        open_source: Callable[[SourceRecord], Source],
        target: Fingerprint | None,
        policy: OnChange,
    ) -> None:
        """These sources, and what waited elsewhere for an id that one of them no longer has.

        If one cannot be read, that is in its report, and the others go on. The policy is for
        servers, which may become something else.
        """
        for record in records:
            on_change = policy if record.kind == "mcp" else None
            self._read(record, open_source, target, on_change, reach(record, self.under))
        for record, paths in waiting_for_ids(self.store, self.outcome.sources):
            self._read(record, open_source, target, None, paths)

    def _read(
        self,
        record: SourceRecord,
        open_source: Callable[[SourceRecord], Source],
        target: Fingerprint | None,
        on_change: OnChange | None,
        under: Sequence[str],
    ) -> None:
        if self.stop.is_set():
            return
        if on_change is not None:
            self.store.items.apply_policy(record.name, on_change)
        sources = self.store.ledger.sources()
        sync = Sync(
            self.store, self.gate, record, target, self.progress, on_change, yielding(sources)
        )
        self.outcome.sources.append(sync.report)
        try:
            sync.run(
                open_source(record),
                full=self.full,
                under=under,
                keep_missing_days=self.keep_missing_days,
                stop=self.stop,
            )
        except SourceError as error:
            sync.report.error = str(error)
        if record.name not in {each.name for each in self.store.ledger.sources()}:
            self.store.ledger.remove_source(record.name)  # somebody removed it meanwhile


def waiting_for_ids(
    store: Store, reports: Sequence[SyncReport]
) -> list[tuple[SourceRecord, list[str]]]:
    """Sources, and paths in them, that were refused for an id which may be free by now.

    Only those that are on this machine: nobody has asked for them.
    """
    freed = [at for at, report in enumerate(reports) if report.retired]
    if not freed:
        return []
    read_since = {report.source for report in reports[freed[-1] + 1 :]}
    waiting: dict[str, list[str]] = {}
    for each in store.ledger.rejections():
        if each.code == "id_taken" and each.source not in read_since:
            waiting.setdefault(each.source, []).append(each.origin)
    return [
        (record, waiting[record.name])
        for record in store.ledger.sources()
        if record.name in waiting and record.kind in IN_FOLDERS and Path(record.location).is_dir()
    ]
