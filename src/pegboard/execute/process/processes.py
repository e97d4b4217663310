"""Processes of tools on this host, in a sandbox where there is one, under limits, never alone.

Each run has a private folder with the arguments and a place for its answer and for files that it
makes; the folder is gone when the run is over, and so is every process that it started.
"""

import asyncio
import platform
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from shutil import which
from typing import NamedTuple

import anyio

from pegboard.execute.folders import remove
from pegboard.execute.grants import handed_over, place_in_project
from pegboard.execute.job import Grants, Job, Limits, Sandboxing
from pegboard.execute.process.groups import Group, Groups, find_groups, noted_groups
from pegboard.execute.process.launch import Held, Launched, launch_confined, launch_freely
from pegboard.execute.process.limiting import find_ending
from pegboard.execute.process.marks import MARK, kill_room
from pegboard.execute.process.running import Running
from pegboard.execute.process.sandbox import (
    PRIVATE_TMP,
    Bubblewrap,
    View,
    find_bubblewrap,
    write_settings,
)
from pegboard.execute.process.syscalls import syscall_filter
from pegboard.execute.room import Left, Private, Room, abandoned, left_in
from pegboard.execute.stopping import signal_of
from pegboard.model.calls import Artifact, Confined, Outcome

SEARCH_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
MAX_LINE = 300

_GROUPS = "groups.json"
_CLEARING_SECONDS = 1.0
_PATIENCE = 0.01


class Command(NamedTuple):
    argv: tuple[str, ...]
    """Whole paths; the same path means the same inside the sandbox and outside."""
    folder: Path
    """The tool's own files, shown read-only at the same path."""
    environment: Mapping[str, str]
    """All that the process gets besides PATH, HOME, TMPDIR, LANG and PEGBOARD_*."""
    shown: tuple[Path, ...] = ()
    """What else it needs read-only, such as an interpreter or an environment of packages."""


class Ran(NamedTuple):
    """How a process ended and what it left."""

    outcome: Outcome
    code: int | None = None
    stdout: str = ""
    stderr: str = ""
    answer: bytes | None = None
    """What it wrote to the file that $PEGBOARD_ANSWER names."""
    artifacts: tuple[Artifact, ...] = ()
    """Files that it left in the folder that $PEGBOARD_OUTPUT names."""
    sandbox: Confined | None = None
    error: str = ""
    cut: bool = False
    """Whether its standard output was longer than what is kept of it."""


class _Host(NamedTuple):
    """What was found when the first process was to be run."""

    room: Room
    bubblewrap: Bubblewrap
    syscalls: bytes
    groups: Groups | None
    ending: str
    """The program that ends a process with its parent."""


class Processes:
    """May be used from any event loop; a run ends with the thread of the loop it was started in."""

    def __init__(self, *, scratch: Path, environ: Mapping[str, str]) -> None:
        """`environ` is Pegboard's own: nothing of it reaches a process that is not granted."""
        self._scratch = scratch
        self._environ = environ
        self._host: _Host | None = None
        self._lock = threading.Lock()

    async def run(self, command: Command, job: Job) -> Ran:
        """Never raises for what the process does. Cancelling ends all of it."""
        if sys.platform == "win32":
            return Ran(Outcome.UNAVAILABLE, error="processes of tools need Linux or macOS")
        try:
            host = self._host if self._host else await asyncio.to_thread(self._settle)
            if job.sandboxing is Sandboxing.REQUIRE and not host.bubblewrap.path:
                return Ran(Outcome.UNAVAILABLE, error=host.bubblewrap.reason)
            private = host.room.take(job.arguments)
        except OSError as error:
            return Ran(Outcome.UNAVAILABLE, error=f"no private folder can be made: {error}")
        try:
            return await self._run(host, command, job, private)
        finally:
            with anyio.CancelScope(shield=True):
                await host.room.give_back(private)

    def close(self) -> None:
        """Removes its folder; done by itself at the end of the program."""
        with self._lock:
            if self._host is not None:
                self._host.room.close()
                self._host = None

    def _settle(self) -> _Host:
        with self._lock:
            if self._host is None:
                for path in abandoned(self._scratch):
                    _clear(path)
                room, groups = Room(self._scratch, _end_groups), find_groups()
                write_settings(room.settings)
                if groups is not None:
                    groups.note(room.path / _GROUPS)
                search_path = self._environ.get("PATH", SEARCH_PATH)
                self._host = _Host(
                    room,
                    find_bubblewrap(search_path),
                    syscall_filter(platform.machine()),
                    groups,
                    find_ending(search_path),
                )
            return self._host

    async def _run(self, host: _Host, command: Command, job: Job, private: Private) -> Ran:
        group = host.groups.make(private.run, job.limits) if host.groups else None
        try:
            launched = self._launch(host, command, job, Held(private, job.limits, group))
        except (OSError, ValueError) as error:
            if group is not None:
                group.remove()
            return Ran(Outcome.UNAVAILABLE, error=f"{command.argv[0]!r} cannot be started: {error}")
        running = launched.running
        try:
            await running.ended()
        finally:
            complaints = _complaints(group, job.limits) if group else _Complaints()
            try:
                await running.end(private.run, ask=launched.confined is Confined.NOTHING)
                began = launched.began()
            finally:
                launched.close()
        return _ran(launched, left_in(private), job, began, complaints)

    def _launch(self, host: _Host, command: Command, job: Job, held: Held) -> Launched:
        if which(command.argv[0]) is None:
            raise FileNotFoundError("there is no such program")
        private, grants = held.private, job.grants
        folder = place_in_project(grants) or private.output
        if job.sandboxing is Sandboxing.OFF or not host.bubblewrap.path:
            environment = self._environment(command, grants, private, str(private.tmp))
            return launch_freely(command.argv, environment, folder, held, host.ending)
        view = View(
            own=(command.folder, *command.shown),
            private=private.path,
            grants=grants,
            environment=self._environment(command, grants, private, PRIVATE_TMP),
            folder=folder,
            settings=host.room.settings,
            tmp_bytes=job.limits.written_bytes,
        )
        return launch_confined(host.bubblewrap, host.syscalls, view, command.argv, held)

    def _environment(
        self, command: Command, grants: Grants, private: Private, tmp: str
    ) -> dict[str, str]:
        return {
            "PATH": SEARCH_PATH,
            "HOME": tmp,
            "TMPDIR": tmp,
            "LANG": "C.UTF-8",
            **handed_over(self._environ, grants),
            **command.environment,
            "PEGBOARD_ARGUMENTS": str(private.arguments),
            "PEGBOARD_ANSWER": str(private.answer),
            "PEGBOARD_OUTPUT": str(private.output),
            MARK: private.run,
        }


def _clear(path: Path) -> None:
    """All that a Pegboard left that was killed. What does not go now is left for the next one."""
    until = time.monotonic() + _CLEARING_SECONDS
    while kill_room(path.name) and time.monotonic() < until:
        time.sleep(_PATIENCE)
    if _end_groups(path):
        remove(path)


def _end_groups(room: Path) -> bool:
    """Whether none is left."""
    groups = noted_groups(room / _GROUPS)
    left = groups.left_by(room.name) if groups else ()
    return all(group.end(_CLEARING_SECONDS) for group in left)


class _Complaints(NamedTuple):
    """Of a group, about what it had to refuse."""

    memory: str = ""
    processes: str = ""


def _complaints(group: Group, limits: Limits) -> _Complaints:
    memory = processes = ""
    if group.ran_out_of_memory():
        memory = (
            f"it needed more than {limits.memory_bytes >> 20:,} MB of memory: "
            "give it less to do, or raise run.memory_mb"
        )
    if group.ran_out_of_processes():
        processes = f" (it wanted more than {limits.processes:,} processes at once)"
    return _Complaints(memory, processes)


def _ran(launched: Launched, left: Left, job: Job, began: bool, complaints: _Complaints) -> Ran:
    running, hide = launched.running, job.secrets.hide
    stderr = running.stderr.text(hide)
    outcome, error = _verdict(running, last_line(stderr), began, complaints)
    return Ran(
        outcome,
        running.code,
        running.stdout.text(hide),
        f"{stderr}\n{left.complaint}".strip() if left.complaint else stderr,
        left.answer,
        left.artifacts,
        launched.confined if outcome is not Outcome.UNAVAILABLE else None,
        error,
        running.stdout.cut,
    )


def _verdict(
    running: Running, said: str, began: bool, complaints: _Complaints
) -> tuple[Outcome, str]:
    code = running.code
    if running.stopped is not None:
        outcome, error = running.stopped
        return outcome, error + complaints.processes
    if code == 0 and began:
        return Outcome.OK, ""
    if complaints.memory:
        return Outcome.KILLED, complaints.memory
    if not began and code is not None and code >= 0:
        return Outcome.UNAVAILABLE, f"it cannot be started: {said or 'no reason was given'}"
    if code is None:
        return Outcome.KILLED, f"it was ended by a signal{complaints.processes}"
    if number := signal_of(code):
        return Outcome.KILLED, f"it was ended by {number.name}{complaints.processes}"
    ended = f"it ended with exit code {code}" + (f": {said}" if said else "")
    return Outcome.FAILED, ended + complaints.processes


def last_line(text: str) -> str:
    """The last one with anything on it, no longer than a message should be."""
    lines = [line.strip() for line in text.strip().splitlines()]
    return lines[-1][:MAX_LINE] if lines else ""
