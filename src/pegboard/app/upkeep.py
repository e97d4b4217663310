"""What keeps a board up to date: its sources, their syncs, and the vectors of its items.

All of it is for whoever may decide about the whole board, but for what a caller has of his own.
"""

import threading
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pegboard.app.looking import Looking
from pegboard.board.maintain.filling import Filling, Outcome
from pegboard.board.maintain.models import DISABLED, BoardModels, Calibrated
from pegboard.board.maintain.queueing import refresh
from pegboard.board.maintain.status import Status, status
from pegboard.board.maintain.worker import Worker
from pegboard.board.sync import adding
from pegboard.board.sync.one_source import Gate
from pegboard.board.sync.source_kinds import folder_source
from pegboard.board.sync.upstream import Upstream
from pegboard.board.trust.allowing import Trust
from pegboard.config.parts import find_settings, sealing_of, worker_settings
from pegboard.config.places import Tier
from pegboard.config.settings import Settings
from pegboard.errors import NotAllowed, UsageError
from pegboard.gate.admission import admit
from pegboard.model.calls import Caller, Role, Server, ServerConfig
from pegboard.model.content import Blob
from pegboard.model.items import (
    DEFAULT_NAMESPACE,
    PUBLISHED,
    Entry,
    Fingerprint,
    Rejection,
    SourceRecord,
)
from pegboard.ports.stages import Progress, Source, quiet
from pegboard.store.seen.rights import of_the_whole

if TYPE_CHECKING:
    from pegboard.board.trust.signing import Sealing

LEFT_BEHIND = 3600.0
"""Seconds after which an upload that nothing refers to is of a put that was killed."""


class Upkeep(Looking):
    settings: Settings
    caller: Caller
    trust: Trust
    models: BoardModels
    upstream: Upstream
    _whole: "Upkeep"
    """The board itself, where this is somebody's view of it."""
    _tiers: tuple[Tier, ...]
    _environ: Mapping[str, str]

    @property
    def target(self) -> Fingerprint | None:
        """What new vectors must be like; None if there are to be none."""
        return self.models.target()

    def _for_the_whole(self, what: str) -> None:
        if not self.caller.everywhere:
            raise of_the_whole(what)

    def add_folder(
        self, path: Path | str, *, name: str | None = None, namespace: str = DEFAULT_NAMESPACE
    ) -> SourceRecord:
        self._for_the_whole("add a source")
        record = adding.folder_record(Path(path), name, namespace)
        return adding.add_source(self.store, record, self._source(record))

    def add_source(
        self, kind: str, location: str, *, name: str | None, namespace: str = DEFAULT_NAMESPACE
    ) -> SourceRecord:
        """A document as a source, by its path or URL; `openapi` is such a kind."""
        self._for_the_whole("add a source")
        record = adding.document_record(kind, location, name, namespace)
        return adding.add_source(self.store, record, self._source(record))

    def add_servers(self, configs: Sequence[ServerConfig]) -> None:
        """MCP servers as sources; the next sync reads their tools."""
        self._for_the_whole("add a server")
        adding.add_servers(self.store, configs)

    def servers(self) -> list[Server]:
        return self.store.ledger.servers()

    def sources(self) -> list[SourceRecord]:
        return self.store.ledger.sources()

    def remove_source(self, name: str) -> None:
        if name == PUBLISHED:
            raise UsageError(
                "what was published is not removed: others rely on it",
                "take versions back with: pegboard yank ID VERSION",
            )
        if not self.store.ledger.remove_source(name):
            raise adding.no_source(self.store, name)

    def sync(
        self,
        names: Sequence[str] = (),
        *,
        full: bool = False,
        embed: bool = True,
        under: Sequence[str] = (),
        progress: Progress = quiet,
        stop: threading.Event | None = None,
    ) -> Outcome:
        """Bring the board up to date with these sources, or all; with `under`, with these paths.

        An admin of some namespaces has to name their sources, and leaves embedding to the worker.
        """
        if not self.caller.everywhere:
            self._check_own(names)
            done = self._whole.sync(names, full=full, embed=False, under=under, stop=stop)
            return Outcome(done.sources, waiting=self.store.tasks.waiting(self.target))
        if not names:
            self.trust.follow_files()
        chosen = adding.chosen(self.store, names)
        sealing = sealing_of(self.settings, self._tiers)
        filling = self._filling(sealing, progress, stop)
        filling.full = full
        filling.under = under
        with filling.embedding(beside=embed) as target:
            self.upstream.prefetch([each.name for each in chosen if each.kind == "mcp"])
            opening = partial(self._source, stop=filling.stop, sealing=sealing)
            filling.read(chosen, opening, target, self.trust.policy)
        return filling.outcome

    def _check_own(self, names: Sequence[str]) -> None:
        own = {each.name for each in self.sources()} if self.caller.role is Role.ADMIN else set()
        if not names or not own.issuperset(names):
            said = ", ".join(map(repr, names)) or "to sync all sources"
            raise NotAllowed(
                f"{said} is not yours to decide", "an admin of their namespace syncs sources"
            )

    def _filling(self, gate: Gate, progress: Progress, stop: threading.Event | None) -> Filling:
        return Filling(
            self.store,
            self.models,
            worker_settings(self.settings.embed),
            gate,
            progress,
            stop or threading.Event(),
            keep_missing_days=self.settings.sync.keep_missing_days,
        )

    def _source(
        self,
        record: SourceRecord,
        stop: threading.Event | None = None,
        sealing: "Sealing | None" = None,
    ) -> Source:
        if record.kind == "mcp":
            return self.upstream.source(record.name, stop or threading.Event())
        found = folder_source(record, self.settings.sync.max_file_bytes, self._environ)
        return sealing.marked(record, found) if sealing else found

    def worker(self) -> Worker:
        self._for_the_whole("embed")
        if self.models.own is None:
            raise UsageError(*DISABLED)
        return Worker(self.store, self.models, worker_settings(self.settings.embed))

    def backfill(
        self, *, progress: Progress = quiet, stop: threading.Event | None = None, embed: bool = True
    ) -> Outcome:
        """Queue whatever has no vector of the present model, and embed it."""
        self._for_the_whole("embed")
        filling = self._filling(admit, progress, stop)
        with filling.embedding(beside=embed):
            pass
        return filling.outcome

    def calibrate(self) -> Calibrated:
        """Scale the scores of the active model by the board's own content."""
        self._for_the_whole("calibrate a model")
        return self.models.calibrate(find_settings(self.settings.search))

    def retry(self, of: str | Entry | None) -> int:
        """Make failed embeddings pending again, of one item or of all that are one's own."""
        entry = self.show(of) if isinstance(of, str) else of
        return self.store.tasks.revive(entry.key if entry else None)

    def refresh(self, of: str | Entry | None, *, progress: Progress = quiet) -> int:
        """Queue a new embedding, of one item or of all that are one's own."""
        target = self.target
        if target is None:
            raise UsageError(*DISABLED)
        entry = self.show(of) if isinstance(of, str) else of
        return refresh(self.store, target, entry, progress, whose=self.caller)

    def status(self) -> Status:
        return status(self.store, self.models.target, self.models.building())

    def rejections(self) -> list[Rejection]:
        return self.store.ledger.rejections()

    def now(self) -> float:
        """Seconds since the epoch by the board's own clock, the same for every machine."""
        return self.store.now()

    @property
    def address(self) -> str:
        """Where the board is: its file, or its database without a password."""
        return str(self.store.facts()["board"])

    def knock(self) -> None:
        """Ask the database a little; raises what keeps it from answering."""
        self.store.now()
        self.store.models.state()

    def check(self) -> list[str]:
        return self.store.check()

    def unused_files(self, *, remove: bool = False) -> list[Blob]:
        """Large files that nothing refers to: their item has changed or gone, or never came.

        What is younger is left alone, because another process may be about to commit it.
        """
        return self.store.unused_files(LEFT_BEHIND, remove=remove)
