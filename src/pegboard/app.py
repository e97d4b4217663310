"""The composition root: settings in, a working board out. Also the Python API."""

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

from pegboard import runners
from pegboard.answers import Answer
from pegboard.board import adding, maintain
from pegboard.board.bounds import bounded, recent_runs, refuse_nonsense
from pegboard.board.curate import Curating
from pegboard.board.describe import describe
from pegboard.board.filling import Filling, Outcome
from pegboard.board.find import Ask, find
from pegboard.board.models import DISABLED, BoardModels
from pegboard.board.reading import folder_source
from pegboard.board.sync import Gate
from pegboard.board.trust import Files, Trust
from pegboard.board.upstream import BOARDS_ABOVE, Upstream
from pegboard.board.worker import Worker
from pegboard.calls import (
    OWNER,
    Asker,
    Caller,
    CallResult,
    CensusLine,
    OnChange,
    OnProgress,
    Server,
    ServerConfig,
)
from pegboard.config import (
    Located,
    Tier,
    allowed_file,
    embedders,
    find_settings,
    load,
    sealing_of,
    user_config_file,
    worker_settings,
)
from pegboard.content import Blob, Json
from pegboard.errors import BoardReadOnly, UsageError
from pegboard.freeact import PytoolsPlace, pytools_place
from pegboard.gate.admission import admit
from pegboard.model import (
    DEFAULT_NAMESPACE,
    Entry,
    Filters,
    Fingerprint,
    Mode,
    Rejection,
    SourceRecord,
)
from pegboard.ports import Embedder, Progress, Source, Store
from pegboard.settings import Settings
from pegboard.sources import mcp_config
from pegboard.store.blobs.opening import open_blobs
from pegboard.store.opening import open_store

if TYPE_CHECKING:
    from pegboard.board.create import Created, Draft
    from pegboard.board.run import Call, Running
    from pegboard.board.signing import Sealing
    from pegboard.runs import Run

SEARCH_THREADS = 4
"""So many searches may look up meaning at the same time."""

START_SECONDS = 5.0
"""So long a search for what can be called waits for servers that are just starting."""

quiet = maintain.quiet


def located(*, board: str | None = None, flags: Mapping[str, object] | None = None) -> Located:
    """The settings that hold in the working folder."""
    said = dict(flags or {}) | ({"board": board} if board else {})
    return load(cwd=Path.cwd(), environ=os.environ, flags=said, user_file=user_config_file())


def located_pytools() -> PytoolsPlace:
    """Where the variables of freeact's search server point."""
    return pytools_place(cwd=Path.cwd(), environ=os.environ)


class Pegboard:
    """One board and everything that can be done with it.

    >>> with Pegboard.open() as board:
    ...     for hit in board.search("send a message to my colleagues").hits:
    ...         print(hit.id, hit.score)
    """

    def __init__(self, store: Store, settings: Settings, place: Located | None = None) -> None:
        declared = place.servers if place else ()
        self.store = store
        self.settings = settings
        self._tiers = place.tiers if place else (Tier.USER,)
        self._project = place.ground if place else None
        self.within: Filters | None = None
        """What whoever is served here may find, and so describe and call; None for the owner."""
        self.caller = OWNER
        self.trouble: Callable[[], Sequence[str]] = tuple
        """Why the board may be out of date, as far as somebody here keeps it up."""
        self.trust = Trust(
            store,
            OnChange(settings.trust.changed),
            Files(place.files if place else (), str(user_config_file()), allowed_file()),
            lambda: [mcp_config.from_table(s.name, s.table, where=s.file) for s in declared],
        )
        # onnxruntime reports its use to its maker from the moment it is loaded, unless told not to.
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
        sessions = partial(runners.open_sessions, settings, os.environ)
        self.upstream = Upstream(store, sessions, self.boards_above())
        self.models = BoardModels(
            store, settings.embed.spec, embedders(settings.embed, os.environ), self.trust
        )
        self.curate = Curating(store, self.models.target)
        self._beside = ThreadPoolExecutor(SEARCH_THREADS, "pegboard-search")

    @classmethod
    def open(cls, board: str | None = None, *, create: bool = False, **flags: object) -> Self:
        """The board of the working folder's project, or the one in this file.

        Settings can be given as `section__key`, for instance `search__limit=10`.
        """
        place = located(board=board, flags={k.replace("__", "."): v for k, v in flags.items()})
        blobs = open_blobs(place.blobs, os.environ)
        store = open_store(place.board, create=create, blobs=blobs)
        return cls(store, place.settings, place)

    @property
    def embedder(self) -> Embedder | None:
        """What the settings ask for; None if this process is to embed nothing."""
        return self.models.own

    @embedder.setter
    def embedder(self, embedder: Embedder | None) -> None:
        self.models.own = embedder

    @property
    def target(self) -> Fingerprint | None:
        """What new vectors must be like; None if there are to be none."""
        return self.models.target()

    @staticmethod
    def boards_above() -> tuple[str, ...]:
        """The boards of the Pegboards that started this process, directly or not."""
        return tuple(filter(None, os.environ.get(BOARDS_ABOVE, "").split(os.pathsep)))

    def seen_by(self, caller: Caller) -> Self:
        """The same board for a caller: it tells and does only what that caller's rights allow.

        It is not closed by itself.
        """
        view = copy(self)
        view.caller, view.store = caller, self.store.seen_by(caller)
        if not caller.everywhere:
            view.within = Filters(namespaces=(DEFAULT_NAMESPACE, *caller.namespaces))
        return view

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        if "running" in self.__dict__:
            self.running.close()
        self.upstream.close()
        self._beside.shutdown()
        self.models.close()
        self.store.close()

    def search(
        self,
        query: str,
        *,
        mode: str | None = None,
        limit: int | None = None,
        filters: Filters | None = None,
        threshold: float | None = None,
        diverse: bool = False,
        explain: bool = False,
        executable: bool = False,
    ) -> Answer:
        """The hits that fit, best first; if none does, `nearest` has the three that come closest.

        What is not given is taken from the settings. A threshold that is given holds for every hit;
        0 lets everything through. With `executable`, only tools that can be called now.
        """
        found = self.settings.search
        wanted = found.limit if limit is None else limit
        refuse_nonsense(wanted, threshold, mode)
        ask = Ask(
            text=query,
            mode=Mode(mode or found.mode),
            filters=self._bounded(filters or Filters(), executable),
            limit=wanted,
            threshold=threshold,
            diverse=diverse,
            explain=explain,
        )
        embedder = self.models.searching()
        answer = find(self.store, embedder, ask, find_settings(found), beside=self._beside)
        allowed = self.within.namespaces if self.within else ()
        notices = self.upstream.missing(allowed) if executable else []
        if not allowed:
            notices += self.trouble()
        return answer._replace(notices=(*answer.notices, *notices))

    def _bounded(self, asked: Filters, executable: bool) -> Filters:
        if executable:
            asked = asked._replace(live=self._live())
        return bounded(self.store, asked, self.within)

    def _live(self) -> tuple[str, ...]:
        """Servers that can be called now; where nobody has asked them yet, they are asked."""
        if not self.upstream.opened and (servers := list(self.upstream.configs())):
            try:
                self.sync(servers, embed=False)
            except BoardReadOnly:
                self.upstream.fetch(servers)
        self.upstream.ask_the_rest()
        self.upstream.starting(START_SECONDS)
        return self.upstream.live()

    def show(self, name: str) -> Entry:
        return describe(self.store, name, self.within)

    def census(self) -> list[CensusLine]:
        """How many items each category of each source has."""
        return self.store.items.census(self.within.namespaces if self.within else ())

    def listed(
        self, categories: Sequence[str] = (), *, limit: int = 100, after: Entry | None = None
    ) -> list[Entry]:
        """Items of these categories, or of all, in the order of their ids."""
        namespaces = self.within.namespaces if self.within else ()
        begin = (after.item.id, after.item.namespace) if after else ("", "")
        return self.store.items.listed(categories, namespaces, begin, limit)

    def prepare_call(
        self,
        name: str,
        arguments: Json,
        *,
        seconds: float | None = None,
        on_progress: OnProgress | None = None,
        asker: Asker | None = None,
    ) -> "Call":
        """A call that may have to be approved. Raises if there is no such tool."""
        return self.running.prepare(
            name,
            arguments,
            self.within or Filters(),
            asker or Asker(),
            seconds=seconds,
            on_progress=on_progress,
        )

    def call(
        self,
        name: str,
        arguments: Json,
        *,
        seconds: float | None = None,
        approve: Callable[[str], bool] | None = None,
    ) -> CallResult:
        """Call a tool, `id@version` or just `id`, and wait for what it brings back.

        `approve` is asked where a person has to be; without it, such a call is denied.
        """
        return self.prepare_call(name, arguments, seconds=seconds).result(approve)

    @cached_property
    def running(self) -> "Running":
        """What runs tools; made with the first call."""
        place, settings = (self._project, self._tiers), self.settings.run
        return runners.make_running(self.store, settings, self.upstream, place, os.environ)

    def runs(self, name: str | None = None, limit: int = 20) -> "Sequence[Run]":
        """How calls ended, the newest first, of one item or of all."""
        chosen = self.show if self.within else self.curate.chosen
        return recent_runs(self.store, chosen(name).item if name else None, self.within, limit)

    def create(
        self,
        draft: "Draft",
        *,
        anyway: bool = False,
        try_with: Json | None = None,
        namespace: str = "",
    ) -> "Created":
        """Hang a tool that was made just now, unless one for the same is there already."""
        from pegboard.board.create import Making

        gate = sealing_of(self.settings.trust, self._tiers)
        making = Making(self.store, gate, self.search, self.models.target, self.running.trial)
        return making.make(
            draft,
            self.within,
            anyway=anyway,
            try_with=try_with,
            namespace=namespace,
            author=self.caller.subject,
        )

    def add_folder(
        self, path: Path | str, *, name: str | None = None, namespace: str = DEFAULT_NAMESPACE
    ) -> SourceRecord:
        record = adding.folder_record(Path(path), name, namespace)
        return adding.add_source(self.store, record, self._source(record))

    def add_source(
        self, kind: str, location: str, *, name: str | None, namespace: str = DEFAULT_NAMESPACE
    ) -> SourceRecord:
        """A document as a source, by its path or URL; `openapi` is such a kind."""
        record = adding.document_record(kind, location, name, namespace)
        return adding.add_source(self.store, record, self._source(record))

    def add_servers(self, configs: Sequence[ServerConfig]) -> None:
        """MCP servers as sources; the next sync reads their tools."""
        adding.add_servers(self.store, configs)

    def servers(self) -> list[Server]:
        return self.upstream.servers()

    def sources(self) -> list[SourceRecord]:
        return self.store.ledger.sources()

    def remove_source(self, name: str) -> None:
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
        """Bring the board up to date with these sources, or all; with `under`, with these paths."""
        if not names:
            self.trust.follow_files()
        chosen = adding.chosen(self.store, names)
        sealing = sealing_of(self.settings.trust, self._tiers)
        filling = self._filling(sealing, progress, stop)
        filling.full = full
        filling.under = under
        with filling.embedding(beside=embed) as target:
            self.upstream.prefetch([each.name for each in chosen if each.kind == "mcp"])
            opening = partial(self._source, stop=filling.stop, sealing=sealing)
            filling.read(chosen, opening, target, self.trust.policy)
        return filling.outcome

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

    def worker(self) -> Worker:
        if self.models.own is None:
            raise UsageError(*DISABLED)
        return Worker(self.store, self.models, worker_settings(self.settings.embed))

    def backfill(
        self, *, progress: Progress = quiet, stop: threading.Event | None = None, work: bool = True
    ) -> Outcome:
        """Queue whatever has no vector of the present model, and embed it."""
        filling = self._filling(admit, progress, stop)
        with filling.embedding(beside=work):
            pass
        return filling.outcome

    def retry(self, name: str | None) -> int:
        """Make failed embeddings pending again, of one item or of all."""
        return self.store.tasks.revive(self.show(name).key if name else None)

    def refresh(self, name: str | None, *, progress: Progress = quiet) -> int:
        """Queue a new embedding, of one item or of all."""
        target = self.target
        if target is None:
            raise UsageError(*DISABLED)
        entry = self.show(name) if name else None
        return maintain.refresh(self.store, target, entry, progress)

    def status(self) -> maintain.Status:
        return maintain.status(self.store, self.models.target, self.models.building())

    def rejections(self) -> list[Rejection]:
        return self.store.ledger.rejections()

    def check(self) -> list[str]:
        return maintain.check(self.store)

    def unused_files(self, *, remove: bool = False) -> list[Blob]:
        """Large files that nothing on the board refers to, and no running put will."""
        return maintain.unused_files(self.store, remove=remove)

    def _source(
        self,
        record: SourceRecord,
        stop: threading.Event | None = None,
        sealing: "Sealing | None" = None,
    ) -> Source:
        if record.kind == "mcp":
            return self.upstream.source(record.name, stop or threading.Event())
        found = folder_source(record, self.settings.sync.max_file_bytes, os.environ)
        return sealing.marked(record, found) if sealing else found
