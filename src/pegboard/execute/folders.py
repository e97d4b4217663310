"""Folders of ours on this host: how they are removed, and which are kept to be used again."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

HALF = "new-"
GONE = "gone-"
LOCK = ".lock"
"""How the names of things begin or end that are nobody's folder yet, or no longer, or never."""


@contextmanager
def opened_lock(path: Path) -> Iterator[int]:
    """A file to be locked; the system lets go of it when it is closed or the process dies."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def half_made(cache: Path) -> Path:
    """A new folder beside those that are ready, to become one of them by its name."""
    return Path(tempfile.mkdtemp(prefix=HALF, dir=cache))


def remove(path: Path) -> None:
    """Whatever it is, also what is unreadable in it, or nested too deeply for Python.

    It may be gone already.
    """
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
        return
    try:
        shutil.rmtree(path)
    except (OSError, RecursionError):
        script = 'chmod -R u+rwX -- "$1"; rm -rf -- "$1"'
        argv = ["/bin/sh", "-c", script, "sh", str(path)]
        subprocess.run(argv, capture_output=True)  # noqa: S603 - nothing of it is a stranger's


def set_aside(path: Path) -> Path:
    """Under another name, in one step, so that nobody finds half of it while it is removed."""
    aside = path.with_name(f"{GONE}{token_hex(8)}")
    with suppress(FileNotFoundError):
        path.rename(aside)
    return aside


def sweep(cache: Path, most: int, idle_seconds: float) -> None:
    """Removes what was used longest ago, as far as there are too many and it is idle."""
    idle_since = time.time() - idle_seconds
    ages = sorted((_used(path), path) for path in cache.iterdir() if not path.name.endswith(LOCK))
    leftovers = [path for _, path in ages if path.name.startswith((HALF, GONE))]
    ready = [path for _, path in ages if path not in leftovers]
    for path in [*leftovers, *ready[: max(0, len(ready) - most)]]:
        if _used(path) < idle_since:
            with suppress(OSError):
                remove(set_aside(path))


def _used(path: Path) -> float:
    """When somebody last said that it is used; one that is just gone is of no interest."""
    try:
        return path.lstat().st_mtime
    except FileNotFoundError:
        return float("inf")
