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

BEGAN = "began"
"""What a command in a sandbox says on its standard input, right before it becomes the tool."""
_UNTIL_TIED = (
    "pegboard_filters() {"
    " pegboard_seen=; while read -r pegboard_name pegboard_value; do"
    ' case "$pegboard_name" in Seccomp*) pegboard_seen="$pegboard_seen $pegboard_value";; esac;'
    ' done <"/proc/$1/status"; '
    "} 2>/dev/null; "
    'pegboard_filters $$; pegboard_own="$pegboard_seen"; '
    'while pegboard_filters 1; [ "$pegboard_seen" != "$pegboard_own" ]; do :; done; '
)
"""As long as the first process of the sandbox does not have the filter that this one has.

Without other programs, for speed. Without a filter, or where none is shown, it waits for nothing.
"""
_SAY_BEGAN = (
    '[ -x "$1" ] || { echo "$1: not found in the sandbox" >&2; exit 127; }; '
    f"echo {BEGAN} >&0 || exit 1"
)


def limited(
    argv: Sequence[str],
    limits: Limits,
    *,
    entrances: Sequence[str] = (),
    memory: bool = True,
    ending: str = "",
) -> list[str]:
    """The command that enters its groups, takes its limits and becomes this one.

    `memory` limits the addresses of each process, for want of a group that counts what is used:
    programs that reserve much more than they use, such as node, cannot run under it.
    `ending` is the path of a program by which it ends with us, if there is one. The shell, which
    comes after that, ends if we had ended before.
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
    watched = f'[ "$PPID" = {os.getpid()} ] || exit 1; ' if ending else ""
    script = f'{watched}{{ {enter}{take} }} 2>/dev/null; shift {len(entrances)}; exec "$@"'
    first = [ending, "--pdeathsig", "KILL", "--"] if ending else []
    return [*first, SHELL, "-c", script, "sh", *entrances, *argv]


def begun(argv: Sequence[str], limits: Limits) -> list[str]:
    """The command that becomes this one inside a sandbox, and says so: see `BEGAN`.

    Its standard input is a pipe that only we read, until it is empty. Bubblewrap starts the tool
    first and ties the life of the sandbox to ours then; by the filter of system calls, which
    comes next, we know that it has. If we are gone by now, nobody would ever end the tool: so
    what is said here is said to a broken pipe, and that ends the sandbox.
    """
    script = f"{_UNTIL_TIED}{_count(limits)}{_SAY_BEGAN}; exec </dev/null; "
    return [SHELL, "-c", f'{script}exec "$@"', "sh", *argv]


def _count(limits: Limits) -> str:
    """How it may have only so many processes; used inside a namespace of users.

    Outside, or on an older kernel, it would count all processes of the user, and never root's.
    """
    if sys.platform != "linux" or os.geteuid() == 0 or _kernel() < _COUNTS_BY_NAMESPACE:
        return ""
    return f"{{ ulimit -u {limits.processes} || ulimit -p {limits.processes}; }} 2>/dev/null; "


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
