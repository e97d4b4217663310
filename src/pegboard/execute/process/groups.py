"""Control groups: limits that hold for a process and its descendants together.

One group per run, below Pegboard's own group, in either version of the kernel's interface. Version
2 lets a group with processes in it have no groups with limits below it, so there it is made beside
Pegboard's own, where that place is ours: delegated by systemd, or owned by the user. Where none
can be made, the limits of single processes (`limiting`) are all there is: then nothing counts the
processes of a run that is root's.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from pegboard.execute.job import Limits

CONTROLLERS = ("pids", "memory", "cpu")
HELPERS = 2
"""Processes of bubblewrap itself in each group."""

_PREFIX = "pegboard-"
_PERIOD = 100_000
"""Microseconds; in version 1 every group begins with this."""
_CHUNK = 1 << 16
_PATIENCE = 0.002
_ROUNDS = 50


class Group(NamedTuple):
    """That of one run: one folder in version 2, one for each controller in version 1."""

    folders: Mapping[str, Path]
    unified: bool

    @property
    def entrances(self) -> tuple[str, ...]:
        """Files that a process writes 0 to when it enters.

        As a thread of its own in version 1: a whole process has to wait for the kernel there.
        """
        name = "cgroup.procs" if self.unified else "tasks"
        return tuple(f"{folder}/{name}" for folder in dict.fromkeys(self.folders.values()))

    @property
    def limits_memory(self) -> bool:
        return "memory" in self.folders

    def ran_out_of_memory(self) -> bool:
        name = "memory.events" if self.unified else "memory.oom_control"
        return (
            "memory" in self.folders and _count(f"{self.folders['memory']}/{name}", "oom_kill") > 0
        )

    def ran_out_of_processes(self) -> bool:
        return "pids" in self.folders and _count(f"{self.folders['pids']}/pids.events", "max") > 0

    def written(self) -> int:
        """Bytes on their way to a disk, also those of files that have no name any more."""
        return sum(_written(pid) for pid in self._pids())

    def kill(self) -> None:
        """Everything in it; nothing new can begin."""
        if not self._pids():
            return
        if self.unified:
            _write(f"{next(iter(self.folders.values()))}/cgroup.kill", "1")
        elif "pids" in self.folders:
            _write(f"{self.folders['pids']}/pids.max", "0")
        for _ in range(_ROUNDS):
            if not (pids := self._pids()):
                return
            for pid in pids:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)

    def end(self, seconds: float) -> bool:
        """Whether it is gone, after all that is in it has been killed and waited for."""
        until = time.monotonic() + seconds
        self.kill()
        while not self.remove():
            if time.monotonic() > until:
                return False
            time.sleep(_PATIENCE)
        return True

    def remove(self) -> bool:
        """Whether it is gone: it cannot go while a process in it is still dying."""
        for folder in dict.fromkeys(self.folders.values()):
            try:
                folder.rmdir()
            except FileNotFoundError:
                continue
            except OSError:
                return False
        return True

    def _pids(self) -> list[int]:
        """Without 0, by which the kernel means one that is not to be seen from here."""
        folder = next(iter(self.folders.values()))
        return [int(line) for line in _read(f"{folder}/cgroup.procs").split() if line != "0"]


class Groups(NamedTuple):
    """Where groups can be made."""

    bases: Mapping[str, Path]
    """By controller; in version 2 all the same."""
    unified: bool

    def make(self, name: str, limits: Limits) -> Group | None:
        """None where it turns out that none can be made."""
        folders: dict[str, Path] = {}
        for controller, base in self.bases.items():
            folder = base / f"{_PREFIX}{name}"
            (limit, value), *others = _settings(controller, limits, unified=self.unified)
            with suppress(OSError):
                folder.mkdir(exist_ok=self.unified)
                if _write(f"{folder}/{limit}", value):
                    folders[controller] = folder
            for file, each in others:
                _write(f"{folder}/{file}", each)
        return Group(folders, self.unified) if folders else None

    def note(self, file: Path) -> None:
        """For whoever clears up after us, who may be in another group than we are."""
        bases = {name: str(base) for name, base in self.bases.items()}
        file.write_text(json.dumps({"bases": bases, "unified": self.unified}))

    def left_by(self, room: str) -> Iterator[Group]:
        """Groups of runs whose names begin so."""
        found: dict[str, dict[str, Path]] = {}
        for controller, base in self.bases.items():
            for folder in base.glob(f"{_PREFIX}{room}-*"):
                found.setdefault(folder.name, {})[controller] = folder
        for folders in found.values():
            yield Group(folders, self.unified)


def noted_groups(file: Path) -> Groups | None:
    try:
        said = json.loads(file.read_bytes())
        bases = {str(name): Path(base) for name, base in said["bases"].items()}
    except (OSError, ValueError, LookupError, TypeError):
        return None
    return Groups(bases, unified=bool(said["unified"]))


def find_groups() -> Groups | None:
    """Tries to make and to enter one: that there are some does not mean that we may."""
    if sys.platform != "linux":
        return None
    own, mounts = _own(_read("/proc/self/cgroup")), _read("/proc/self/mountinfo")
    places = _places(own, mounts)
    bases = {name: places[name] for name in CONTROLLERS if name in places}
    if not bases and "" in places:
        return _unified(places[""])
    usable = {name: base for name, base in bases.items() if _can_use(base, "tasks")}
    return Groups(usable, unified=False) if usable else None


def _unified(own: Path) -> Groups | None:
    """In our own group if that may have some with limits, else beside it."""
    for base in (own, own.parent) if _is_ours(own.parent) else (own,):
        if not _enabled(base):
            _write(f"{base}/cgroup.subtree_control", " ".join(f"+{name}" for name in CONTROLLERS))
        if (enabled := _enabled(base)) and _can_use(base, "cgroup.procs"):
            return Groups(dict.fromkeys(enabled, base), unified=True)
    return None


def _enabled(base: Path) -> list[str]:
    said = _read(f"{base}/cgroup.subtree_control").split()
    return [name for name in CONTROLLERS if name in said]


def _is_ours(folder: Path) -> bool:
    """Whether nobody else, such as systemd, makes groups there."""
    try:
        if os.geteuid() != 0:
            return (folder / "cgroup.procs").stat().st_uid == os.geteuid()
        return any(name.endswith(".delegate") for name in os.listxattr(folder))
    except OSError:
        return False


def _can_use(base: Path, entrance: str) -> bool:
    probe = base / f"{_PREFIX}probe-{os.getpid()}-{threading.get_ident()}"
    argv = ["/bin/sh", "-c", 'echo 0 >"$1"', "sh", str(probe / entrance)]
    try:
        probe.mkdir()
        tried = subprocess.run(argv, capture_output=True)  # noqa: S603 - it is all ours
        probe.rmdir()
    except OSError:
        return False
    return tried.returncode == 0


def _own(text: str) -> dict[str, str]:
    """Our group by controller, from lines such as `4:memory:/a/b`; version 2 has no name."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        _, names, path = line.split(":", 2)
        found |= dict.fromkeys(names.split(","), path)
    return found


def _places(own: Mapping[str, str], mounts: str) -> dict[str, Path]:
    """Our group as a folder, by controller. A container is shown only a part of the tree."""
    found: dict[str, Path] = {}
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        _, _, _, root, point = before.split(" ")[:5]
        kind, _, options = after.split(" ")[:3]
        names = {"cgroup": options.split(","), "cgroup2": [""]}.get(kind, [])
        for name in names:
            if name in own and name not in found:
                inside = own[name].removeprefix(root.rstrip("/")).lstrip("/")
                found[name] = Path(point) / inside
    return {name: path for name, path in found.items() if path.is_dir()}


def _settings(controller: str, limits: Limits, *, unified: bool) -> list[tuple[str, str]]:
    quota = max(1_000, int(limits.cpus * _PERIOD))
    memory = str(limits.memory_bytes)
    match controller, unified:
        case "pids", _:
            return [("pids.max", str(limits.processes + HELPERS))]
        case "memory", True:
            swap = ("memory.swap.max", "0")
            return [("memory.max", memory), swap, ("memory.oom.group", "1")]
        case "memory", False:
            return [("memory.limit_in_bytes", memory), ("memory.memsw.limit_in_bytes", memory)]
        case "cpu", True:
            return [("cpu.max", f"{quota} {_PERIOD}")]
        case _:
            return [("cpu.cfs_quota_us", str(quota))]


def _count(file: str, name: str) -> int:
    for line in _read(file).splitlines():
        key, _, value = line.partition(" ")
        if key == name:
            return int(value)
    return 0


def _written(pid: int) -> int:
    file = f"/proc/{pid}/io"
    return _count(file, "write_bytes:") - _count(file, "cancelled_write_bytes:")


def _read(file: str) -> str:
    """Nothing if it cannot be read: processes end while we look."""
    try:
        opened = os.open(file, os.O_RDONLY)
    except OSError:
        return ""
    try:
        return b"".join(iter(lambda: os.read(opened, _CHUNK), b"")).decode()
    except OSError:
        return ""
    finally:
        os.close(opened)


def _write(file: str, value: str) -> bool:
    """Whether it was taken. Not by `Path`: there are many of these in every run."""
    try:
        opened = os.open(file, os.O_WRONLY | os.O_TRUNC)
    except OSError:
        return False
    try:
        os.write(opened, value.encode())
    except OSError:
        return False
    finally:
        os.close(opened)
    return True
