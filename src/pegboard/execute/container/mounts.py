"""What a container is shown of this host: the run's own files, and what is granted."""

import re
from collections.abc import Iterator
from pathlib import Path

from pegboard.errors import NotExecutable
from pegboard.execute.container.wanted import Mount
from pegboard.execute.grants import is_inside_any, to_be_shown
from pegboard.execute.job import Grants
from pegboard.execute.room import Private

ARGUMENTS = "/pegboard/arguments.json"
OUTPUT = "/pegboard/output"
TOOL = "/pegboard/tool"

_MISUNDERSTOOD = re.compile(r'[,"\x00-\x1f]')
"""Engines write mounts as lists with commas."""


def mounts_of(private: Private, tool: Path | None, grants: Grants) -> tuple[Mount, ...]:
    """Raises `NotExecutable`."""
    nothing, blank = private.path / "nothing", private.path / "blank"
    nothing.mkdir(0o555)
    blank.touch(0o444)
    # Whoever the container runs as must get in; nobody else does, by the folder around them.
    private.arguments.chmod(0o444)
    private.output.chmod(0o777)
    own = [Mount(private.arguments, ARGUMENTS), Mount(private.output, OUTPUT, writable=True)]
    if tool is not None:
        own.append(Mount(tool, TOOL))
    found: dict[str, Mount] = {}
    for mount in (*_granted(grants, nothing, blank), *own):
        _check(mount)
        found[mount.target] = mount
    return tuple(found.values())


def _granted(grants: Grants, nothing: Path, blank: Path) -> Iterator[Mount]:
    """At their own paths, with something empty over what is hidden."""
    hidden = list(to_be_shown(grants.hidden).values())
    masks: list[Mount] = []
    for paths, writable in ((grants.read, False), (grants.write, True)):
        for path, real in to_be_shown(paths).items():
            if is_inside_any(real, hidden):
                continue
            yield Mount(real, str(path), writable)
            for each in hidden:
                if each.is_relative_to(real):
                    # As places of mounts, the folders around it cannot be moved, and it with them.
                    around = [inner for inner in each.parents if real in inner.parents]
                    for inner in reversed(around) if writable else ():
                        if inner not in (*grants.read, *grants.write):
                            yield Mount(inner, str(path / inner.relative_to(real)), writable)
                    target = str(path / each.relative_to(real))
                    masks.append(Mount(nothing if each.is_dir() else blank, target))
    yield from masks


def _check(mount: Mount) -> None:
    for path in (str(mount.source), mount.target):
        if _MISUNDERSTOOD.search(path):
            raise NotExecutable(
                f"{path!r} cannot be shown in a container: engines misunderstand its name",
                "rename it without commas, quotes and control characters, or do not grant it",
            )
