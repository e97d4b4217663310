"""Permissions as grants: patterns become the files and folders that they mean at this moment."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from pegboard.errors import UsageError
from pegboard.execute.job import Grants
from pegboard.model.content import Access, Permission, Resource
from pegboard.model.items import Item

MOST_FILES = 1_000
MOST_LOOKED_AT = 100_000
"""Names that one pattern is held against."""

GUARDED = (".git", "pegboard.toml")

_NEVER = tuple(map(Path, ("/proc", "/dev", "/sys")))
"""A run has these of its own, or not at all, whatever is granted."""

_WILD = re.compile(r"[*?]")


class Ground(NamedTuple):
    """Where the paths of permissions begin."""

    project: Path
    """Relative ones."""
    home: Path
    """Those with `~/`."""
    hidden: tuple[Path, ...] = ()


def grants_of(item: Item, ground: Ground) -> Grants:
    """What the permissions of an item come to.

    Raises `UsageError` for one that is too wide, or that the file system has no place for.
    """
    read: dict[Path, None] = {}
    write: dict[Path, None] = {}
    for each in item.permissions:
        if each.resource is Resource.FILESYSTEM:
            into = write if each.access is Access.WRITE else read
            try:
                into.update(dict.fromkeys(_paths(each, ground)))
            except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle
                raise UsageError(
                    f"the permission to {each.access} {each.scope!r} cannot be granted: {error}"
                ) from error
    project = ground.project.resolve()
    read |= dict.fromkeys(_guarded(project, list(write)))
    return Grants(
        read=tuple(path for path in read if path not in write),
        write=tuple(write),
        hidden=ground.hidden,
        network=any(each.resource is Resource.NETWORK for each in item.permissions),
        variables=tuple(_variables(item)),
        project=project,
    )


def handed_over(environ: Mapping[str, str], grants: Grants) -> dict[str, str]:
    """The variables that are granted: by name, or by a beginning with a `*` behind it."""
    whole = {each for each in grants.variables if not each.endswith("*")}
    begun = tuple(each[:-1] for each in grants.variables if each.endswith("*"))
    return {
        name: value for name, value in environ.items() if name in whole or name.startswith(begun)
    }


def place_in_project(grants: Grants) -> Path | None:
    """Where a run begins that is granted something in its project, or all around it."""
    project = grants.project.resolve() if grants.project else None
    if project is None or not project.is_dir():
        return None
    granted = (*grants.read, *grants.write)
    near = any(each.is_relative_to(project) or project.is_relative_to(each) for each in granted)
    return project if near else None


def to_be_shown(paths: Iterable[Path]) -> dict[Path, Path]:
    """Those that exist, with where they lead; never all of the host, nor what the kernel tells.

    A mount over a link would land wherever it points inside.
    """
    found: dict[Path, Path] = {}
    for path in paths:
        try:
            real = path.resolve(strict=True)
        except (OSError, RuntimeError):  # RuntimeError: links in a circle
            continue
        if real != Path(real.anchor) and not is_inside_any(real, _NEVER):
            found[Path(os.path.normpath(path))] = real
    return found


def is_inside_any(path: Path, folders: Iterable[Path]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


def _guarded(project: Path, write: Sequence[Path]) -> Iterator[Path]:
    """What may be read in a folder that may be written, unless it is named itself.

    Others act on it without a sandbox: a hook of Git's would be run by the next commit.
    """
    for name in GUARDED:
        path = project / name
        if path.exists() and any(folder in path.parents for folder in write):
            yield path


def _variables(item: Item) -> Iterator[str]:
    for each in item.permissions:
        if each.resource is Resource.ENVIRONMENT and each.access is Access.READ:
            yield each.scope
        elif each.resource is Resource.FILESYSTEM and each.scope.startswith("~"):
            yield "HOME"  # it will look there for what it is granted there


def _paths(permission: Permission, ground: Ground) -> Iterator[Path]:
    """Of a pattern that ends in `**`, folders with all that is in them; else files, and folders
    that are named in full. What is under the project must be there in truth: a link in a project
    that somebody else wrote must not lead out of it.
    """
    scope = permission.scope
    if scope.startswith("/"):
        base, inside = Path("/"), scope.lstrip("/")
    elif scope.startswith("~"):
        base, inside = ground.home, scope[1:].lstrip("/")
    else:
        base, inside = ground.project, scope
    bound = ground.project.resolve() if base == ground.project else None
    whole = inside == "**" or inside.endswith("/**")
    inside = inside.removesuffix("**").rstrip("/")
    if whole and permission.access is Access.WRITE and bound and not _WILD.search(inside):
        _make_folder(base / inside, bound)
    for path in _matches(base, inside, folders=whole, scope=scope):
        real = path.resolve()
        if bound is None or real == bound or bound in real.parents:
            yield real


def _make_folder(path: Path, bound: Path) -> None:
    """What a tool may fill has to be there; nothing is made where a link leads out."""
    nearest = next(each for each in (path, *path.parents) if each.exists()).resolve()
    if nearest == bound or bound in nearest.parents:
        path.mkdir(parents=True, exist_ok=True)


def _matches(base: Path, inside: str, *, folders: bool, scope: str) -> Iterator[Path]:
    if not _WILD.search(inside):
        if (base / inside).exists():
            yield base / inside
        return
    found = 0
    looked = iter(islice(base.glob(inside), MOST_LOOKED_AT))
    for path in looked:
        if path.is_dir() is not folders:
            continue
        found += 1
        if found > MOST_FILES:
            raise UsageError(
                f"the permission for {scope!r} means more than {MOST_FILES:,} files",
                "name a folder instead, as in src/**",
            )
        yield path
