"""Limits of a single process, which it takes upon itself before it becomes the tool.

By a shell: what Python can run between fork and exec is slow, and not safe beside threads.
"""

import math
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from shutil import which

from pegboard.execute.job import Limits

SHELL = "/bin/sh"
OPEN_FILES = 1_024
_BLOCK = 512
_PROBE_SECONDS = 10.0
_MORE_SECONDS = 5
"""The clock on the wall is looked at by us; this is for what we do not see."""
_COUNTS_BY_NAMESPACE = (5, 14)


def limited(
    argv: Sequence[str], limits: Limits, *, entrances: Sequence[str] = (), memory: bool = True
) -> list[str]:
    """The command that enters its groups, takes its limits and becomes this one.

    `memory` limits the addresses of each process, for want of a group that counts what is used:
    programs that reserve much more than they use, such as node, cannot run under it.
    """
    seconds = math.ceil(limits.seconds * max(1.0, limits.cpus)) + _MORE_SECONDS
    most = {
        "c": 0,
        "f": limits.written_bytes // _BLOCK,
        "n": OPEN_FILES,
        "t": seconds,
        **({"v": limits.memory_bytes // 1024} if memory else {}),
    }
    enter = "".join(f'echo 0 >"${number}";' for number in range(1, len(entrances) + 1))
    take = "".join(f"ulimit -{letter} {value};" for letter, value in most.items())
    script = f'{{ {enter}{take} }} 2>/dev/null; shift {len(entrances)}; exec "$@"'
    return [SHELL, "-c", script, "sh", *entrances, *argv]


def counted(argv: Sequence[str], limits: Limits) -> list[str]:
    """The command that may have only so many processes; used inside a namespace of users.

    Outside, or on an older kernel, it would count all processes of the user, and never root's.
    """
    if sys.platform != "linux" or os.geteuid() == 0 or _kernel() < _COUNTS_BY_NAMESPACE:
        return list(argv)
    script = f"{{ ulimit -u {limits.processes} || ulimit -p {limits.processes}; }} 2>/dev/null; "
    return [SHELL, "-c", f'{script}exec "$@"', "sh", *argv]


def find_ending(search_path: str) -> str:
    """The path of setpriv, where it can end a process with its parent; else nothing."""
    path = which("setpriv", path=search_path) if sys.platform == "linux" else None
    if path is None:
        return ""
    argv = [path, "--pdeathsig", "KILL", "--", SHELL, "-c", ":"]
    try:
        tried = subprocess.run(argv, capture_output=True, timeout=_PROBE_SECONDS, env={})  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return path if tried.returncode == 0 else ""


def _kernel() -> tuple[int, ...]:
    found = re.match(r"(\d+)\.(\d+)", os.uname().release)
    return tuple(map(int, found.groups())) if found else (0, 0)
