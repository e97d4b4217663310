"""How a process is started: in the sandbox, or for want of one with nothing around it."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pegboard.execute.job import Limits
from pegboard.execute.process.groups import Group
from pegboard.execute.process.limiting import BEGAN, begun, limited
from pegboard.execute.process.marks import MARK
from pegboard.execute.process.running import Running
from pegboard.execute.process.sandbox import Bubblewrap, View, arguments
from pegboard.execute.room import Private
from pegboard.model.calls import Confined

_TOLD = 4_096


class Launched(NamedTuple):
    running: Running
    confined: Confined
    status: int | None = None
    """On which a command in a sandbox says that it began."""

    def began(self) -> bool:
        """Whether the command was started. Asked once."""
        if self.status is None:
            return True
        try:
            return BEGAN.encode() in os.read(self.status, _TOLD)
        except BlockingIOError:
            return False

    def close(self) -> None:
        if self.status is not None:
            os.close(self.status)


class Held(NamedTuple):
    """What holds for a run in either case."""

    private: Private
    limits: Limits
    group: Group | None

    def limited(self, argv: Sequence[str], ending: str = "") -> list[str]:
        entrances = self.group.entrances if self.group else ()
        memory = self.group is None or not self.group.limits_memory
        return limited(argv, self.limits, entrances=entrances, memory=memory, ending=ending)


def launch_confined(
    bubblewrap: Bubblewrap, syscalls: bytes, view: View, argv: Sequence[str], held: Held
) -> Launched:
    """Its arguments go by a file in memory: those of a process can be read by everybody.

    Its environment is among them: bubblewrap itself, outside the sandbox, must not be led astray
    by variables that a tool chose.
    """
    words = arguments(bubblewrap, view)
    if any("\0" in word for word in words):
        raise ValueError("a path or a variable of its environment holds a zero byte")
    status, told = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    given: list[int] = []
    try:
        given.append(_in_memory("\0".join(words).encode("utf-8", "surrogateescape")))
        options = ["--args", str(given[-1])]
        if syscalls:
            given.append(_in_memory(syscalls))
            options += ["--seccomp", str(given[-1])]
        running = Running(
            held.limited([bubblewrap.path, *options, "--", *begun(argv, held.limits)]),
            {MARK: held.private.run},
            limits=held.limits,
            folder=held.private.path,
            group=held.group,
            stdin=told,
            pass_fds=given,
        )
    except (OSError, ValueError):
        os.close(status)
        raise
    finally:
        for each in (told, *given):
            os.close(each)
    return Launched(running, Confined.BUBBLEWRAP, status)


def launch_freely(
    argv: Sequence[str], environment: Mapping[str, str], folder: Path, held: Held, ending: str
) -> Launched:
    running = Running(
        held.limited(argv, ending),
        environment,
        limits=held.limits,
        folder=held.private.path,
        group=held.group,
        cwd=folder,
    )
    return Launched(running, Confined.NOTHING)


def _in_memory(data: bytes) -> int:
    file = os.memfd_create("pegboard")
    os.write(file, data)
    os.lseek(file, 0, os.SEEK_SET)
    return file
