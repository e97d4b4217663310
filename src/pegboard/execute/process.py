"""Processes of tools on this host, in a sandbox where there is one, under limits, never alone.

Each run has a private folder with the arguments and a place for its answer and for files that it
makes; the folder is gone when the run is over, and so is every process that it started.
"""

import asyncio
import json
import os
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from pegboard.calls import Artifact, Confined, Outcome
from pegboard.execute.job import Grants, Job, Sandboxing
from pegboard.execute.room import Left, Private, Room, abandoned, left_in, remove
from pegboard.execute.running import Running
from pegboard.execute.sandbox import PRIVATE_TMP, Bubblewrap, View, arguments, find_bubblewrap

SEARCH_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
INSTALL = "install it (apt install bubblewrap, dnf install bubblewrap)"


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


class _Host(NamedTuple):
    """What was found when the first process was to be run."""

    room: Room
    bubblewrap: Bubblewrap


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
            host = self._host or await asyncio.to_thread(self._settle)
            bubblewrap = host.bubblewrap if job.sandboxing is not Sandboxing.OFF else Bubblewrap()
            if job.sandboxing is Sandboxing.REQUIRE and not bubblewrap.path:
                return Ran(Outcome.UNAVAILABLE, error=f"{bubblewrap.reason}: {INSTALL}")
            private = host.room.private(job.arguments)
        except OSError as error:
            return Ran(Outcome.UNAVAILABLE, error=f"no private folder can be made: {error}")
        try:
            return await self._run(command, job, private, bubblewrap)
        finally:
            remove(private.path)

    def close(self) -> None:
        """Removes its folder; done by itself at the end of the program."""
        with self._lock:
            if self._host is not None:
                self._host.room.close()

    def _settle(self) -> _Host:
        with self._lock:
            if self._host is None:
                for path in abandoned(self._scratch):
                    remove(path)
                bubblewrap = find_bubblewrap(self._environ.get("PATH", SEARCH_PATH))
                self._host = _Host(Room(self._scratch), bubblewrap)
            return self._host

    async def _run(
        self, command: Command, job: Job, private: Private, bubblewrap: Bubblewrap
    ) -> Ran:
        confined = Confined.BUBBLEWRAP if bubblewrap.path else Confined.NOTHING
        environment = self._environment(command, job.grants, private, confined)
        folder = _working_folder(job.grants, private)
        try:
            if bubblewrap.path:
                own = (command.folder, *command.shown)
                view = View(own, private.path, job.grants, environment, folder, 64 << 20)
                running, status = _confined(bubblewrap, view, command, job)
            else:
                running = Running(
                    command.argv, environment, limits=job.limits, folder=private.path, cwd=folder
                )
                status = -1
        except (OSError, ValueError) as error:
            return Ran(Outcome.UNAVAILABLE, error=f"{command.argv[0]!r} cannot be started: {error}")
        try:
            await running.ended()
        finally:
            await running.end(lambda: None, ask=not bubblewrap.path)
            began = status < 0 or _began(status)
        return _ran(running, left_in(private), job, confined, began)

    def _environment(
        self, command: Command, grants: Grants, private: Private, confined: Confined
    ) -> dict[str, str]:
        tmp = PRIVATE_TMP if confined is Confined.BUBBLEWRAP else str(private.tmp)
        handed_on = {n: self._environ[n] for n in grants.variables if n in self._environ}
        return {
            "PATH": SEARCH_PATH,
            "HOME": tmp,
            "TMPDIR": tmp,
            "LANG": "C.UTF-8",
            **handed_on,
            **command.environment,
            "PEGBOARD_ARGUMENTS": str(private.arguments),
            "PEGBOARD_ANSWER": str(private.answer),
            "PEGBOARD_OUTPUT": str(private.output),
        }


def _confined(
    bubblewrap: Bubblewrap, view: View, command: Command, job: Job
) -> tuple[Running, int]:
    """Its arguments go by a file in memory: those of a process can be read by everybody."""
    words = "\0".join(arguments(bubblewrap, view))
    given = os.memfd_create("arguments")
    status, told = os.pipe()
    try:
        os.write(given, words.encode("utf-8", "surrogateescape"))
        os.lseek(given, 0, os.SEEK_SET)
        argv = (bubblewrap.path, "--args", str(given), "--json-status-fd", str(told), "--")
        running = Running(
            (*argv, *command.argv),
            {},
            limits=job.limits,
            folder=view.private,
            pass_fds=(given, told),
        )
    except BaseException:
        os.close(status)
        raise
    finally:
        os.close(given)
        os.close(told)
    return running, status


def _began(status: int) -> bool:
    """Whether the command was started: bubblewrap tells its exit code only then."""
    os.set_blocking(status, False)
    try:
        return b"exit-code" in os.read(status, 4096)
    except BlockingIOError:
        return False
    finally:
        os.close(status)


def _working_folder(grants: Grants, private: Private) -> Path:
    """The project, for whoever is granted something in it."""
    project = grants.project
    if project is not None and any(
        each.is_relative_to(project) or project.is_relative_to(each)
        for each in (*grants.read, *grants.write)
    ):
        return project
    return private.output


def _ran(running: Running, left: Left, job: Job, confined: Confined, began: bool) -> Ran:
    hide = job.secrets.hide
    stderr = running.stderr.text(hide)
    if left.complaint:
        stderr = f"{stderr}\n{left.complaint}".strip()
    outcome, code, error = Outcome.OK, running.code, ""
    if running.stopped is not None:
        outcome, error = running.stopped
    elif not began:
        outcome, error = Outcome.UNAVAILABLE, f"it cannot be started: {stderr.strip()}"
    elif code is None or code < 0 or code > 128:
        outcome, error = Outcome.KILLED, f"it was ended by a signal (exit code {code})"
    elif code != 0:
        outcome, error = Outcome.FAILED, f"it ended with exit code {code}"
    return Ran(
        outcome,
        code,
        running.stdout.text(hide),
        stderr,
        left.answer,
        left.artifacts,
        confined,
        error,
    )
