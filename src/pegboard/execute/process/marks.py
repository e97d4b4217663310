"""Processes known by a mark in their environment, however far they ran from who started them."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

MARK = "PEGBOARD_RUN"


def kill_run(run: str) -> bool:
    """Whether a process of the run was still there; each has been sent its end.

    Only Linux shows them, and not one that took the mark off itself.
    """
    return _kill(f"{MARK}={run}\0".encode())


def kill_room(room: str) -> bool:
    """The same for all runs whose names begin so."""
    return _kill(f"{MARK}={room}-".encode())


def _kill(mark: bytes) -> bool:
    found = list(_marked(mark)) if sys.platform == "linux" else []
    for pid in found:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    return bool(found)


def _marked(mark: bytes) -> Iterator[int]:
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            environment = (folder / "environ").read_bytes()
        except OSError:  # it has ended, or is somebody else's
            continue
        if environment.startswith(mark) or b"\0" + mark in environment:
            yield int(folder.name)
