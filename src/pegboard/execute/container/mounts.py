"""What a container is shown of this host: the run's own files, and what is granted."""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from pegboard.errors import NotExecutable
from pegboard.execute.container.wanted import Mount
from pegboard.execute.job import Grants
from pegboard.execute.room import Private

ARGUMENTS = "/pegboard/arguments.json"
OUTPUT = "/pegboard/output"
TOOL = "/pegboard/tool"

_NEVER = tuple(map(Path, ("/proc", "/sys", "/dev")))
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


def workdir_of(said: object, grants: Grants) -> str:
    """Empty for that of the image."""
    project = grants.project
    if isinstance(said, str) and said:
        return said
    if project is not None and any(
        each.is_relative_to(project) or project.is_relative_to(each)
        for each in (*grants.read, *grants.write)
    ):
        return str(project)
    return ""


def _granted(grants: Grants, nothing: Path, blank: Path) -> Iterator[Mount]:
    """At their own paths, with something empty over what is hidden."""
    hidden = list(_real(grants.hidden).values())
    masks: list[Mount] = []
    for paths, writable in ((grants.read, False), (grants.write, True)):
        for path, real in _real(paths).items():
            if _is_inside_any(real, hidden):
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


def _real(paths: Iterable[Path]) -> dict[Path, Path]:
    """Those that exist, with where they lead; never all of the host, nor what the kernel tells."""
    found: dict[Path, Path] = {}
    for path in paths:
        try:
            real = path.resolve(strict=True)
        except (OSError, RuntimeError):  # RuntimeError: links in a circle
            continue
        if real != Path(real.anchor) and not _is_inside_any(real, _NEVER):
            found[Path(os.path.normpath(path))] = real
    return found


def _is_inside_any(path: Path, folders: Iterable[Path]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


def _check(mount: Mount) -> None:
    for path in (str(mount.source), mount.target):
        if _MISUNDERSTOOD.search(path):
            raise NotExecutable(
                f"{path!r} cannot be shown in a container: engines misunderstand its name",
                "rename it without commas, quotes and control characters, or do not grant it",
            )
