"""Tells which files of a source have changed, as soon as they have.

A thread for each place lets `watchfiles` follow the folders that items are in. What cannot be told
path by path (a root that came, went or was replaced, a flood of changes, an error) is told as a
change of everything.
"""

import logging
import stat
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from watchfiles import Change, watch

from pegboard.errors import PegboardError
from pegboard.sources.tree import TEMPORARY

log = logging.getLogger(__name__)

OnChange = Callable[[str, frozenset[str]], None]
EVERYTHING: frozenset[str] = frozenset()

STEP = 50
"""Milliseconds without a further change after which changes are told."""
LONGEST_WAIT = 200
"""Milliseconds after which they are told even if more keep coming."""
POLL = 1_000
"""Milliseconds between two looks at every file, where the system cannot watch them."""
LOOK_SECONDS = 0.25
"""How often it is checked whether other roots, or other folders in them, are to be watched."""
PAUSE_SECONDS = 1.0
"""After an error, before watching begins again; twice as long after each further one."""
LONGEST_PAUSE = 30.0
AGAIN_SECONDS = 1.0
"""Polling sees no more than the second a file was saved in, so what was saved is told twice."""
MOST_PATHS = 2_000
"""So many changes at once are told by their paths; more are a change of everything."""

_Identity = dict[Path, tuple[int, int]]


class Place(NamedTuple):
    """What of a source is watched: folders under its root with all that is in them, or one file."""

    root: Path
    folders: tuple[str, ...] = ()
    private: tuple[str, ...] = (".", "_")
    """What lies under a name that begins so does not matter."""
    file: str = ""
    """In the root. A change of it is a change of everything."""

    @property
    def watched(self) -> tuple[Path, ...]:
        return (self.root,) if self.file else tuple(self.root / each for each in self.folders)


class Watcher:
    """Watches until it is stopped, whatever goes wrong in between."""

    def __init__(
        self, places: Mapping[str, Place], on_change: OnChange, *, look_first: bool = True
    ) -> None:
        """`on_change` is told the source, and paths relative to its root; none at all means all.

        It is called from one thread at a time and should be quick: what changes meanwhile waits.
        With `look_first`, everything of a source is told as soon as it is watched, so that nothing
        can change unseen between a first reading and that moment.
        """
        self.errors = 0
        self.last_error = ""
        self._on_change = on_change
        self._look_first = look_first
        self._places = _absolute(places)
        self._counting = threading.Lock()
        self._telling = threading.Lock()

    def set_places(self, places: Mapping[str, Place]) -> None:
        """Watch these from now on. What is watched already goes on undisturbed."""
        self._places = _absolute(places)

    def run(self, stop: threading.Event) -> None:
        watches: dict[str, _PlaceWatch] = {}
        try:
            while not stop.is_set():
                self._take_up(watches, stop)
                stop.wait(LOOK_SECONDS)
        finally:
            for each in watches.values():
                each.end.set()
            for each in watches.values():
                each.thread.join(LOOK_SECONDS)

    def _take_up(self, watches: "dict[str, _PlaceWatch]", stop: threading.Event) -> None:
        places = self._places
        for name, each in list(watches.items()):
            if places.get(name) != each.place:
                watches.pop(name).end.set()
            elif not each.thread.is_alive():
                # An error that nobody foresaw ended it, and is on stderr.
                del watches[name]
                self.failed(f"watching {each.root} broke off and begins again")
                stop.wait(PAUSE_SECONDS)
        for name in places.keys() - watches.keys():
            watches[name] = _PlaceWatch(self, name, places[name], look_first=self._look_first)
            watches[name].thread.start()

    def tell(self, told_by: "_PlaceWatch", paths: frozenset[str]) -> None:
        with self._telling:
            if told_by.end.is_set():
                return
            try:
                self._on_change(told_by.source, paths)
            except (PegboardError, OSError, RuntimeError, ValueError) as error:
                self.failed(f"a change of source {told_by.source!r} was not taken up: {error}")

    def failed(self, why: str) -> None:
        with self._counting:
            self.errors += 1
            if why != self.last_error:
                log.warning(why)
            self.last_error = why


class _PlaceWatch:
    """Watches one place, until `end` is set."""

    def __init__(self, watcher: Watcher, source: str, place: Place, *, look_first: bool) -> None:
        self.thread = threading.Thread(target=self._run, name=f"watch {source}", daemon=True)
        self.source = source
        self.place = place
        self.root = place.root
        self.end = threading.Event()
        self._watcher = watcher
        self._untold = look_first
        self._stands = False
        self._began = 0.0
        self._pause = PAUSE_SECONDS
        self._polling: bool | None = None  # None lets watchfiles choose what suits the system
        self._identity: _Identity = {}
        self._looked_at = 0.0
        self._again: frozenset[str] | None = None
        self._again_at = 0.0

    def _run(self) -> None:
        while not self.end.is_set():
            self._stands, self._began = False, time.monotonic()
            try:
                self._follow()
                self._polling = None
            except (OSError, RuntimeError) as error:
                self._recover(error)
            self._untold = True

    def _follow(self) -> None:
        """Tell changes until the root is no longer what it was."""
        self._identity = _identity(self.place)
        folders = [path for path in self.place.watched if path in self._identity]
        if not folders:
            while not self.is_set():
                self.end.wait(LOOK_SECONDS)
            return
        for changes in watch(
            *folders,
            watch_filter=None,
            debounce=LONGEST_WAIT,
            step=STEP,
            stop_event=self,
            rust_timeout=0,  # a timeout drops what changes at that very moment
            raise_interrupt=False,
            force_polling=self._polling,
            poll_delay_ms=POLL,
            recursive=not self.place.file,
        ):
            if not changes.isdisjoint((Change.deleted, str(folder)) for folder in folders):
                return
            self._tell(path for _, path in changes)
            if not self._polling and not self.place.file:
                _make_sure_of(path for change, path in changes if change is Change.added)

    def is_set(self) -> bool:
        """What `watchfiles` asks at every step: whether to stop."""
        self._stands = True
        if self._untold:
            self._untold = False
            self._watcher.tell(self, EVERYTHING)
        now = time.monotonic()
        if self._again is not None and now >= self._again_at:
            again, self._again = self._again, None
            self._watcher.tell(self, again)
        if self.end.is_set():
            return True
        if now < self._looked_at + LOOK_SECONDS:
            return False
        self._looked_at = now
        return _identity(self.place) != self._identity

    def _tell(self, changed: Iterable[str]) -> None:
        paths = {name for name in map(self._name, changed) if _matters(name, self.place)}
        if not paths:
            return
        one_by_one = len(paths) <= MOST_PATHS and "" not in paths and not self.place.file
        told = frozenset(paths | self._real_names(paths)) if one_by_one else EVERYTHING
        self._watcher.tell(self, told)
        if self._polling:
            alike = told if self._again is None else told and self._again and told | self._again
            self._again, self._again_at = alike, time.monotonic() + AGAIN_SECONDS

    def _name(self, path: str) -> str:
        """Relative to the root; empty if the system calls the root by another name."""
        found = Path(path)
        return found.relative_to(self.root).as_posix() if found.is_relative_to(self.root) else ""

    def _real_names(self, names: Iterable[str]) -> set[str]:
        """The same without links: of all the names a folder has, the system tells only one."""
        root, found = self.root.resolve(), set()
        folders = {name.rpartition("/")[0] for name in names}
        real = {folder: (self.root / folder).resolve() for folder in folders}
        for name in names:
            folder, _, last = name.rpartition("/")
            if real[folder].is_relative_to(root):
                found.add((real[folder] / last).relative_to(root).as_posix())
        return found

    def _recover(self, error: Exception) -> None:
        if isinstance(error, FileNotFoundError):  # it went while it was about to be watched
            self.end.wait(LOOK_SECONDS)
            return
        self._watcher.failed(f"{self.root} cannot be watched: {error}")
        if not self._stands and not self._polling:
            self._polling = True
            log.warning(
                "looking at every file of %s each second instead; if there are too many for the "
                "system to watch, raise fs.inotify.max_user_watches and max_user_instances",
                self.root,
            )
            return
        if time.monotonic() - self._began > LONGEST_PAUSE:
            self._pause = PAUSE_SECONDS
        self.end.wait(self._pause)
        self._pause = min(2 * self._pause, LONGEST_PAUSE)
        if not self._stands:
            self._watcher.tell(self, EVERYTHING)


def _make_sure_of(added: Iterable[str]) -> None:
    """Raise an error if the system will not watch a new folder: of that, nobody is told."""
    new = next((path for path in added if Path(path).is_dir()), None)
    if new is None:
        return
    at_once = threading.Event()
    at_once.set()
    with suppress(FileNotFoundError):
        for _ in watch(new, step=1, stop_event=at_once, recursive=False):
            pass


def _absolute(places: Mapping[str, Place]) -> dict[str, Place]:
    return {name: place._replace(root=place.root.absolute()) for name, place in places.items()}


def _identity(place: Place) -> _Identity:
    """Which folders stand there now; another one under the same name is not the same."""
    found = {}
    for path in (place.root, *place.watched):
        try:
            here = path.stat()
        except OSError:
            continue
        if stat.S_ISDIR(here.st_mode):
            found[path] = (here.st_dev, here.st_ino)
    return found


def _matters(path: str, place: Place) -> bool:
    """Whether an item can come of it: what is private cannot, nor what lies there for a moment."""
    if place.file:
        return path in ("", place.file)
    parts = path.split("/")
    if any(part.startswith(place.private) for part in parts):
        return False
    return len(parts) < 3 or not TEMPORARY.search(parts[-1])
