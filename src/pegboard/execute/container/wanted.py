"""A container as it is wanted, in the words of no engine, and the ways to have it run."""

import asyncio
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

from pegboard.execute.job import Limits
from pegboard.execute.output import Output

LABEL = "pegboard.until"
"""Every container of ours says when it must be over, so that whoever comes later can remove it."""
OPEN_FILES = 1_024
SPARE_SECONDS = 5
"""The time limit is ours to keep; what the container itself is given is for when we are dead."""


class Mount(NamedTuple):
    source: Path
    target: str
    writable: bool = False


class Wanted(NamedTuple):
    name: str
    image: str
    command: tuple[str, ...]
    variables: Mapping[str, str]
    """Some are secrets: they are on no command line."""
    mounts: tuple[Mount, ...]
    memory_folders: tuple[str, ...]
    """Where it may write, besides what is mounted; of limited size, and gone with it."""
    folder: Path
    """For files that are needed to start it."""
    user: str
    limits: Limits
    until: int
    workdir: str = ""
    network: bool = False

    @property
    def cpus(self) -> float:
        """Engines refuse more than there are."""
        return min(self.limits.cpus, float(os.cpu_count() or 1))

    @property
    def last_second(self) -> int:
        """When it ends by itself, also where nobody is left to end it."""
        return math.ceil(self.limits.seconds) + SPARE_SECONDS

    @property
    def memory_options(self) -> str:
        return f"rw,exec,nosuid,nodev,mode=1777,size={self.limits.written_bytes}"

    @property
    def ulimits(self) -> dict[str, int]:
        return {
            "core": 0,
            "cpu": math.ceil(self.limits.seconds * max(1.0, self.cpus)) + SPARE_SECONDS,
            "fsize": self.limits.written_bytes,
            "nofile": OPEN_FILES,
        }

    @property
    def relaxed_labels(self) -> bool:
        """SELinux lets no container read the files of people, however they are mounted."""
        return Path("/sys/fs/selinux/enforce").exists()


class Ended(NamedTuple):
    code: int
    out_of_memory: bool = False
    refusal: str = ""
    """What the engine said, if it was the engine that failed."""


class Heard:
    """What a container writes, as far as it is kept."""

    def __init__(self, limits: Limits) -> None:
        self.out = Output(limits.log_bytes)
        self.err = Output(limits.log_bytes)
        self.too_much = asyncio.Event()
        self._most = limits.written_bytes

    def add(self, output: Output, data: bytes) -> None:
        if not self.too_much.is_set():
            output.add(data)
            if self.out.size + self.err.size > self._most:
                self.too_much.set()


class Way(Protocol):
    """How an engine is told what to do: by its command, or by its socket.

    Raises `NotExecutable` where the engine does not do it.
    """

    async def volumes(self, image: str) -> tuple[str, ...] | None:
        """Folders that the image wants to be writable; None if the image is not on this host."""
        ...

    async def pull(self, image: str) -> None: ...

    async def run(self, wanted: Wanted, heard: Heard) -> Ended:
        """Nothing of the container is left when this ends, however it ends."""
        ...

    async def left(self) -> dict[str, float]:
        """All containers of ours, with the time by which they must be over."""
        ...

    async def remove(self, name: str) -> bool:
        """Ends it first. Whether it was there."""
        ...
