"""Processes known by a mark in their environment, however far they ran from who started them."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

MARK = "PEGBOARD_RUN"
_ROUNDS = 10


def kill_marked(run: str) -> None:
    """All processes of a run, or of all runs whose names begin so.

    Only Linux shows them. One that takes the mark off itself is not found.
    """
    if sys.platform != "linux":
        return
    for _ in range(_ROUNDS):
        found = list(_marked(f"{MARK}={run}".encode()))
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
        if any(each.startswith(mark) for each in environment.split(b"\0")):
            yield int(folder.name)
