"""Tells which files of a source have changed, as soon as they have.

A thread for each root lets `watchfiles` follow the folders that tools are in. Whatever cannot be
told apart (a root that came, went or was replaced, a flood of changes, an error) is told as a
change of everything.
"""

import logging
import os
import re
import stat
import threading
import time
from collections.abc import Callable, Iterable, Mapping
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
"""Milliseconds between looks at every file, where the system has no watches left."""
LOOK_SECONDS = 0.25
"""How often it is checked that the folders are still those that are watched."""
PAUSE_SECONDS = 1.0
"""After an error, before watching begins again."""
MOST_PATHS = 2_000
"""So many changes at once are told one by one; more are a change of everything."""

FOLDERS = (GENERATED, WRITTEN)
_TEMPORARY = re.compile(
    r"^4913$|^#.*#$|~$|\.py[cod]$|\.sw[a-z]$|\.bak$|\.te?mp(\.|$)|___jb_\w+___$"
)
"""What editors and Python write beside a file."""

_Identity = tuple[tuple[int, int] | None, ...]


class Watcher:
    """Watches until it is stopped, whatever goes wrong in between."""

    def __init__(
        self, roots: Mapping[str, Path], on_change: OnChange, *, look_first: bool = True
    ) -> None:
        """`on_change` is told the source and the paths, relative to its root; none means all.

        It is called by one thread at a time, and should be quick: what changes meanwhile waits.
        With `look_first`, everything of a source is also told once watching it has begun, so that
        no change can fall between reading it for the first time and watching it.
        """
        self.errors = 0
        self.last_error = ""
        self._roots = dict(roots)
        self._on_change = on_change
        self._look_first = look_first
        self._news = threading.Event()
        self._lock = threading.Lock()
        self._telling = threading.Lock()

    def set_roots(self, roots: Mapping[str, Path]) -> None:
        """Watch these from now on; what was watched already goes on undisturbed."""
        with self._lock:
            self._roots = dict(roots)
        self._news.set()

    def run(self, stop: threading.Event) -> None:
        watches: dict[str, _RootWatch] = {}
        try:
            while not stop.is_set():
                self._news.clear()
                self._take_up(watches)
                self._news.wait(LOOK_SECONDS)
        finally:
            for each in watches.values():
                each.end.set()
            for each in watches.values():
                each.join(PAUSE_SECONDS)

    def _take_up(self, watches: "dict[str, _RootWatch]") -> None:
        with self._lock:
            roots = dict(self._roots)
        for name, each in list(watches.items()):
            if roots.get(name) != each.root:
                watches.pop(name).end.set()
            elif not each.is_alive():
                self.failed(f"{each.root} was no longer watched")
                del watches[name]
        for name in roots.keys() - watches.keys():
            watches[name] = _RootWatch(name, roots[name], self, look_first=self._look_first)
            watches[name].start()

    def tell(self, watching: "_RootWatch", paths: frozenset[str]) -> None:
        with self._telling:
            if watching.end.is_set():
                return
            try:
                self._on_change(watching.source, paths)
            except (PegboardError, OSError, RuntimeError, ValueError) as error:
                self.failed(f"a change of {watching.source} was not taken up: {error}")

    def failed(self, why: str) -> None:
        with self._lock:
            self.errors += 1
            self.last_error = why
        log.warning("%s", why)


class _RootWatch(threading.Thread):
    """Watches one root. `watchfiles` asks it at every step whether it is to stop."""

    def __init__(self, source: str, root: Path, watcher: Watcher, *, look_first: bool) -> None:
        super().__init__(name=f"watch {source}", daemon=True)
        self.source = source
        self.root = root
        self.end = threading.Event()
        self._watcher = watcher
        self._polling: bool | None = None  # None leaves it to watchfiles, which knows its systems
        self._untold = look_first
        self._identity: _Identity = ()
        self._looked = 0.0

    def run(self) -> None:
        while not self.end.is_set():
            self._identity = _identity(self.root)
            self._looked = time.monotonic()
            stands, folders = False, self._folders()
            try:
                if folders:
                    for changes in self._changes(folders):
                        stands = True
                        self._tell_changes(changes)
                else:
                    self._wait_for_folders()
            except (OSError, RuntimeError) as error:
                self._recover(error)
            self._untold = True

    def _folders(self) -> list[Path]:
        found = zip(FOLDERS, self._identity[1:], strict=True)
        return [self.root / folder for folder, identity in found if identity]
