"""Tells which files of a source have changed, as soon as they have.

A thread for each root lets `watchfiles` follow the folders that tools are in. What cannot be told
path by path (a root that came, went or was replaced, a flood of changes, an error) is told as a
change of everything.
"""

import logging
import re
import stat
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from watchfiles import Change, watch

from pegboard.errors import PegboardError
from pegboard.sources.pytools import GENERATED, WRITTEN

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

_FOLDERS = (GENERATED, WRITTEN)
_PRIVATE = (".", "_")
_TEMPORARY = re.compile(
    r"^4913$|^#.*#$|~$|\.py[cod]$|\.sw[a-z]$|\.bak$|\.te?mp(\.|$)|___jb_\w+___$"
)
"""What editors and Python write beside a file."""

_Identity = dict[Path, tuple[int, int]]


class Watcher:
    """Watches until it is stopped, whatever goes wrong in between."""

    def __init__(
        self, roots: Mapping[str, Path], on_change: OnChange, *, look_first: bool = True
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
        self._roots = _absolute(roots)
        self._counting = threading.Lock()
        self._telling = threading.Lock()

    def set_roots(self, roots: Mapping[str, Path]) -> None:
        """Watch these from now on. What is watched already goes on undisturbed."""
        self._roots = _absolute(roots)

    def run(self, stop: threading.Event) -> None:
        watches: dict[str, _RootWatch] = {}
        try:
            while not stop.is_set():
                self._take_up(watches, stop)
                stop.wait(LOOK_SECONDS)
        finally:
            for each in watches.values():
                each.end.set()
            for each in watches.values():
                each.thread.join(LOOK_SECONDS)

    def _take_up(self, watches: "dict[str, _RootWatch]", stop: threading.Event) -> None:
        roots = self._roots
        for name, each in list(watches.items()):
            if roots.get(name) != each.root:
                watches.pop(name).end.set()
            elif not each.thread.is_alive():
                # An error that nobody foresaw ended it, and is on stderr.
                del watches[name]
                self.failed(f"watching {each.root} broke off and begins again")
                stop.wait(PAUSE_SECONDS)
        for name in roots.keys() - watches.keys():
            watches[name] = _RootWatch(self, name, roots[name], look_first=self._look_first)
            watches[name].thread.start()

    def tell(self, told_by: "_RootWatch", paths: frozenset[str]) -> None:
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


class _RootWatch:
    """Watches one root, until `end` is set."""

    def __init__(self, watcher: Watcher, source: str, root: Path, *, look_first: bool) -> None:
        self.thread = threading.Thread(target=self._run, name=f"watch {source}", daemon=True)
        self.source = source
        self.root = root
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
        self._identity = _identity(self.root)
        folders = [path for path in self._identity if path != self.root]
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
        ):
            if not changes.isdisjoint((Change.deleted, str(folder)) for folder in folders):
                return
            self._tell(path for _, path in changes)
            if not self._polling:
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
        return _identity(self.root) != self._identity

    def _tell(self, changed: Iterable[str]) -> None:
        paths = {name for name in map(self._name, changed) if _matters(name)}
        if not paths:
            return
        one_by_one = len(paths) <= MOST_PATHS and "" not in paths
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


def _absolute(roots: Mapping[str, Path]) -> dict[str, Path]:
    return {name: root.absolute() for name, root in roots.items()}


def _identity(root: Path) -> _Identity:
    """Which folders stand there now; another one under the same name is not the same."""
    found = {}
    for path in (root, *(root / folder for folder in _FOLDERS)):
        try:
            here = path.stat()
        except OSError:
            continue
        if stat.S_ISDIR(here.st_mode):
            found[path] = (here.st_dev, here.st_ino)
    return found


def _matters(path: str) -> bool:
    """Whether a tool can come of it: what is private cannot, nor what lies there for a moment."""
    parts = path.split("/")
    if any(part.startswith(_PRIVATE) for part in parts):
        return False
    return len(parts) < 3 or not _TEMPORARY.search(parts[-1])
