"""Runs of scripts as processes of tools, and what may remain of them: nothing."""

import asyncio
import os
import sys
import textwrap
from pathlib import Path

import pytest

from making import seen_below
from pegboard.execute.job import Grants, Job, Limits, Sandboxing
from pegboard.execute.process.groups import find_groups
from pegboard.execute.process.processes import Command, Processes, Ran
from pegboard.execute.process.sandbox import find_bubblewrap
from pegboard.execute.secrets import Secrets
from pegboard.model.items import Item, ItemId

WAIT = 20.0
"""Far more than anything here takes."""
PYTHON = Path(sys.executable).resolve()
OWN_PYTHON = (Path(sys.base_prefix).resolve(),)

needs_bubblewrap = pytest.mark.skipif(
    not find_bubblewrap(os.environ["PATH"]).path, reason="bubblewrap does not work on this host"
)
limits_processes = pytest.mark.skipif(
    find_groups() is None and os.geteuid() == 0, reason="nothing counts the processes of root"
)
needs_groups = pytest.mark.skipif(find_groups() is None, reason="no control groups can be made")


class Runs:
    """Scripts run in a folder of their own, as a tool has one."""

    def __init__(self, where: Path, **environ: str) -> None:
        self.scratch = where / "scratch"
        self.folder = where / "tool"
        self.folder.mkdir(parents=True, exist_ok=True)
        self._rooms: set[str] = set()
        self.processes = Processes(
            scratch=self.scratch, environ={"PATH": os.environ["PATH"], **environ}
        )

    def command(self, script: str, **environment: str) -> Command:
        """A script for the shell, or one for Python if it imports anything."""
        text = textwrap.dedent(script)
        if "import " in text:
            (self.folder / "main.py").write_text(text)
            argv = (str(PYTHON), "-I", "-S", str(self.folder / "main.py"))
            return Command(argv, self.folder, environment, OWN_PYTHON)
        return Command(("/bin/sh", "-c", text), self.folder, environment)

    def run(self, script: str, environment: dict[str, str] | None = None, **job) -> Ran:
        command = self.command(script, **environment or {})
        return asyncio.run(self.processes.run(command, a_job(**job)))

    def said(self, script: str, **job) -> str:
        ran = self.run(script, **job)
        assert ran.outcome == "ok", ran
        return ran.stdout.strip()

    def left(self) -> list[str]:
        """Processes, groups and private folders that are still there."""
        processes = [f"process {pid}" for pid in seen_in_proc(str(self.scratch).encode())]
        rooms = list(self.scratch.glob("*")) if self.scratch.exists() else []
        self._rooms |= {room.name for room in rooms}
        bases = (find_groups() or [{}])[0].values()
        groups = [each for room in self._rooms for base in bases for each in base.glob(f"*{room}*")]
        inside = [each for room in rooms for each in seen_below(room, "[0-9]*/**/*")]
        folders = [each for each in inside if each.name not in ("output", "tmp")]
        return [*processes, *map(str, (*groups, *folders))]


def a_job(
    arguments: dict[str, object] | None = None,
    *,
    grants: Grants | None = None,
    sandboxing: Sandboxing = Sandboxing.REQUIRE,
    secrets: Secrets | None = None,
    **limits,
) -> Job:
    limits = {"seconds": WAIT} | limits
    item = Item(ItemId("tests:tool"), "tool")
    return Job(
        item,
        arguments or {},
        secrets or Secrets(),
        Limits(**limits),
        grants or Grants(),
        sandboxing,
    )


def seen_in_proc(text: bytes, *files: str) -> list[int]:
    """Processes, other than this one, with this in their environment or command line."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            said = b"".join(
                (folder / file).read_bytes() for file in files or ("environ", "cmdline")
            )
        except OSError:
            continue
        if text in said and int(folder.name) != os.getpid():
            found.append(int(folder.name))
    return found


def open_files() -> int:
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.is_dir() else 0
