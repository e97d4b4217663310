"""Processes known by a mark in their environment, however far they ran from who started them."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

MARK = "PEGBOARD_RUN"
_ROUNDS = 10


def kill_run(run: str) -> None:
    """All processes of a run. Only Linux shows them; one without the mark is not found."""
    _kill(f"{MARK}={run}\0".encode())


def kill_room(room: str) -> None:
    """All processes of all runs whose names begin so."""
    _kill(f"{MARK}={room}-".encode())


def _kill(mark: bytes) -> None:
    if sys.platform != "linux":
        return
    for _ in range(_ROUNDS):
        found = list(_marked(mark))
        for pid in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if not found:
            return


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
