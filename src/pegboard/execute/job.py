"""One run of one tool, with everything about it decided: what executors are handed."""

from enum import StrEnum
from pathlib import Path
from typing import NamedTuple, Protocol

from pegboard.execute.secrets import Secrets
from pegboard.model.calls import CallResult, OnProgress
from pegboard.model.content import Json
from pegboard.model.items import Item


class Sandboxing(StrEnum):
    """Whether a process must have a sandbox."""

    REQUIRE = "require"
    PREFER = "prefer"
    OFF = "off"


class Grants(NamedTuple):
    """What a run is given beyond its own files and a private folder."""

    read: tuple[Path, ...] = ()
    """Files and folders, by their whole path; everything below a folder with it."""
    write: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()
    """What is never shown, also where it lies in a folder that is granted."""
    network: bool = False
    variables: tuple[str, ...] = ()
    """Names of variables that are handed on from Pegboard's own environment; `*` at the end."""
    project: Path | None = None
    """Where relative paths begin; the working folder of whatever is granted something in it."""


class Limits(NamedTuple):
    seconds: float = 60.0
    memory_bytes: int = 1 << 30
    processes: int = 64
    cpus: float = 1.0
    log_bytes: int = 64_000
    """Of what it writes to its outputs, so much is kept, from the beginning and the end."""
    written_bytes: int = 64 << 20
    """It is stopped when it writes more than this, to its outputs or to its folders."""


class Job(NamedTuple):
    item: Item
    """With its version and files."""
    arguments: Json
    """Checked, and with defaults filled in."""
    secrets: Secrets
    """Looks up what the tool may use, and remembers what must not be seen."""
    limits: Limits = Limits()
    grants: Grants = Grants()
    sandboxing: Sandboxing = Sandboxing.PREFER
    on_progress: OnProgress | None = None


class Executor(Protocol):
    """Runs one type of tool."""

    async def run(self, job: Job) -> CallResult:
        """Never raises for what a tool does. Cancelling it ends whatever it started."""
        ...

    async def close(self) -> None:
        """Let go of what it keeps from one run to the next; nothing runs any more."""
        ...
