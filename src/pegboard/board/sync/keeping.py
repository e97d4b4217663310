"""Keeps a board up to date while a face serves it: follows its sources, embeds what is new."""

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path

from pegboard.board.sync.one_source import SyncReport
from pegboard.board.sync.source_kinds import DOCUMENTS, FOLDER, IN_FOLDERS, PYTOOLS, USER_FOLDER
from pegboard.errors import PegboardError
from pegboard.model.calls import Listing, ServerConfig
from pegboard.model.items import SourceRecord
from pegboard.sources import pytools
from pegboard.sources.folder.layouts import LAYOUTS
from pegboard.sources.watch import Place, Watcher

log = logging.getLogger(__name__)

LOOK_SECONDS = 2.0
"""How soon it is noticed that another process added a source, or that something must be retried."""

LISTEN_SECONDS = 60.0
AGAIN_SECONDS = 30.0
MOST_PATHS = 2_000
"""When more has changed, looking at everything is no more work."""

Paths = frozenset[str]
EVERYTHING: Paths = frozenset()


class Keeping:
    """Several threads, each of which ends soon after `close`, wherever it is."""

    def __init__(
        self,
        *,
        sources: Callable[[], Sequence[SourceRecord]],
        servers: Callable[[], Mapping[str, ServerConfig]],
        sync: Callable[[str, Sequence[str], threading.Event], Sequence[SyncReport]],
        fetch: Callable[[Sequence[str]], Mapping[str, "Future[Listing]"]],
        refresh: Callable[[], None],
        work: Callable[[threading.Event], object] | None,
        on_change: Callable[[], None],
        await_change: Callable[[threading.Event, float], bool] | None = None,
        follow: bool = True,
        watch: bool = True,
    ) -> None:
        self.errors = 0
        """Syncs that failed since the start; each was logged, and tried again."""
        self._sources = sources
        self._servers = servers
        self._refresh = refresh
        self._sync = sync
        self._fetch = fetch
        self._on_change = on_change
        self._follow = follow
        self._stop = threading.Event()
        self._wanted: dict[str, Paths] = {}
        self._news = threading.Condition()
        self._known: dict[str, tuple[SourceRecord, ServerConfig | None]] = {}
        self._wrong: dict[str, str] = {}
        self._again: dict[str, float] = {}
        """When a server that did not list its tools is asked again."""
        self._watcher = Watcher({}, self.want, look_first=follow) if watch else None
        self._await_change = await_change
        jobs = [self._keep, *([work] if work else []), *([self._listen] if await_change else [])]
        jobs += [self._watcher.run] if self._watcher else []
        self._threads = [
            threading.Thread(target=job, args=(self._stop,), daemon=True) for job in jobs
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Ask every thread to end; `close` waits for them."""
        self._stop.set()
        with self._news:
            self._news.notify_all()

    def close(self, seconds: float = 1.5) -> None:
        self.stop()
        deadline = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(deadline - time.monotonic(), 0.0))

    def trouble(self) -> list[str]:
        """What could not be brought up to date, each with its reason.

        Not servers: what they offer is marked where it is found.
        """
        wrong, known = self._wrong.copy(), self._known
        return [
            f"{name} is not up to date: {why}"
            for name, why in wrong.items()
            if name not in known or known[name][0].kind != "mcp"
        ]

    def want(self, source: str, paths: Paths = EVERYTHING) -> None:
        """Ask for a sync of a source, or of these paths of it; several wishes become one."""
        with self._news:
            before = self._wanted.get(source)
            joined = paths | (before or EVERYTHING)
            whole = not paths or before == EVERYTHING or len(joined) > MOST_PATHS
            self._wanted[source] = EVERYTHING if whole else joined
            self._news.notify_all()

    def want_server(self, name: str) -> None:
        """Ask an MCP server for its tools; the sync follows when they are there."""
        try:
            asked = self._fetch([name])
        except PegboardError as error:
            self._failed(name, str(error))
            self._known.pop(name, None)  # and so it is taken up again at the next look
            return
        for each in asked.values():
            each.add_done_callback(lambda done: self.want(name))

    def _keep(self, stop: threading.Event) -> None:
        while not stop.is_set():
            try:
                self._look()
                for name, paths in self._next().items():
                    self._bring_up_to_date(name, paths)
            except PegboardError as error:
                self._failed("the board", str(error))
                stop.wait(LOOK_SECONDS)
            except Exception:
                log.exception("keeping the board up to date met an error it does not know")
                self._failed("the board", "an unknown error, which was logged")
                stop.wait(LOOK_SECONDS)

    def _listen(self, stop: threading.Event) -> None:
        """What other processes do to the board is told here as well."""
        while not stop.is_set() and self._await_change is not None:
            try:
                if self._await_change(stop, LISTEN_SECONDS):
                    self._on_change()
            except PegboardError as error:
                log.warning("whether others have changed the board is not known: %s", error)
                stop.wait(LOOK_SECONDS)

    def _look(self) -> None:
        """Take up sources that have come or changed, and leave those that are gone."""
        due = [name for name, when in self._again.items() if time.monotonic() >= when]
        for name in due:
            del self._again[name]
            self.want_server(name)
        servers = self._servers()
        now = {
            record.name: (record._replace(synced_at=None), servers.get(record.name))
            for record in self._sources()
        }
        self._wrong.pop("the board", None)
        if now == self._known:
            return
        fresh = [record for name, (record, _) in now.items() if self._known.get(name) != now[name]]
        gone = self._known.keys() - now.keys()
        self._known = now
        self._wrong = {name: why for name, why in self._wrong.items() if name in now}
        self._refresh()
        places = {record.name: place for record, _ in now.values() if (place := watched(record))}
        if self._watcher is not None:
            self._watcher.set_places(places)
        for record in fresh if self._follow else []:
            if record.kind == "mcp":
                self.want_server(record.name)
            elif self._watcher is None or record.name not in places:  # it looks at those first
                self.want(record.name)
        if gone and self._follow:  # an id that others have waited for may be free
            for name in (name for name, (each, _) in now.items() if each.kind in IN_FOLDERS):
                self.want(name)

    def _next(self) -> dict[str, Paths]:
        with self._news:
            if not self._wanted and not self._stop.is_set():
                self._news.wait(LOOK_SECONDS)
            wanted, self._wanted = self._wanted, {}
        return wanted

    def _bring_up_to_date(self, name: str, paths: Paths) -> None:
        if self._stop.is_set() or name not in self._known:
            return
        try:
            reports = self._sync(name, sorted(paths), self._stop)
        except PegboardError as error:
            self._failed(name, str(error))
            self.want(name, paths)
            self._stop.wait(LOOK_SECONDS)
            return
        for report in reports:  # of others as well, which waited for an id of this one
            if report.error:
                self._failed(report.source, report.error)
                if self._known.get(report.source, (None, None))[1] is not None:
                    self._again[report.source] = time.monotonic() + AGAIN_SECONDS
            else:
                self._wrong.pop(report.source, None)
            if report.added or report.changed or report.retired or report.purged:
                self._on_change()

    def _failed(self, name: str, why: str) -> None:
        self.errors += 1
        if self._wrong.get(name) != why:
            log.warning("not up to date: %s: %s", name, why)
        self._wrong[name] = why


def watched(record: SourceRecord) -> Place | None:
    """What of a source can be watched, if it is in files."""
    where = Path(record.location)
    if record.kind == PYTOOLS:
        return Place(where, (pytools.GENERATED, pytools.WRITTEN))
    if record.kind in (FOLDER, USER_FOLDER):
        return Place(where, tuple(LAYOUTS), private=(".", "__pycache__"))
    if record.kind in DOCUMENTS and "://" not in record.location:
        return Place(where.parent, file=where.name)
    return None
