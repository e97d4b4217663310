"""Why a process or a container is ended by us, and what its exit code says when it is not."""

import signal
from pathlib import Path
from typing import NamedTuple

from pegboard.execute.job import Limits
from pegboard.execute.room import MAX_FILES, size_of
from pegboard.model.calls import Outcome

_SHELL = 128
"""What shells, and bubblewrap and engines with them, add to the number of a signal."""


class Stopped(NamedTuple):
    outcome: Outcome
    error: str


def too_long(limits: Limits) -> Stopped:
    return Stopped(
        Outcome.TIMEOUT,
        f"it was stopped after {limits.seconds:g} seconds: give it less to do, or a longer timeout",
    )


def too_much(limits: Limits, where: str) -> Stopped:
    return Stopped(
        Outcome.KILLED,
        f"it was stopped because it wrote more than {limits.written_bytes:,} bytes {where}: "
        "make it write less, or raise run.output_mb",
    )


def overfilled(folder: Path, limits: Limits, written: int = 0) -> Stopped | None:
    """`written` are bytes that are known to be on their way to a disk, wherever they land."""
    size, files = size_of(folder)
    if max(size, written) > limits.written_bytes:
        return too_much(limits, "to its folders")
    if files > MAX_FILES:
        error = f"it was stopped because it made more than {MAX_FILES:,} files in its folder"
        return Stopped(Outcome.KILLED, error)
    return None


def signal_of(code: int) -> signal.Signals | None:
    """The signal that an exit code stands for."""
    try:
        return signal.Signals(-code if code < 0 else code - _SHELL)
    except ValueError:
        return None
