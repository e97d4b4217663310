"""Items in an `.ai` folder as they stand, and putting others in their place, each as a whole."""

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from pegboard.board.trust.private_files import replace
from pegboard.errors import UsageError
from pegboard.model.content import ItemFile
from pegboard.sources.folder.bundle import PartUnreadable, is_part, make_file, read_bundle
from pegboard.sources.folder.layouts import LAYOUTS, SIDE
from pegboard.sources.tree import Tree
from pegboard.sources.unfit import Unfit

MOST_BYTES = 20_000_000
_NEW, _OLD = ".pulling", ".pulled-over"


class Standing(NamedTuple):
    """An item that lies there."""

    path: Path
    files: Mapping[str, ItemFile]
    side_file: bytes


def standing(root: Path, path: str, folder: bool) -> Standing | None:
    """What lies at this path under the root. Raises `UsageError` for what is not ours to touch."""
    place = _inside(root, path)
    _recover(place)
    other = place.with_suffix("") if not folder else None
    if folder:
        single = LAYOUTS[path.partition("/")[0]].single
        other = place.with_name(f"{place.name}{single}") if single else None
    if other is not None and other != place and os.path.lexists(other) and _is_item(other, path):
        raise UsageError(f"{other} has the same id", "rename or remove it first")
    if not os.path.lexists(place):
        return None
    if place.is_symlink() or place.is_dir() != folder:
        raise UsageError(f"{place} is not what is to be put there", "move it away first")
    try:
        if folder:
            document = LAYOUTS[path.partition("/")[0]].document
            listed = {f.path: f for f in _in_folder(root, place, document)}
            return Standing(place, listed, _read(place / f"{document}{SIDE}"))
        executable = bool(place.stat().st_mode & 0o111)
        file = make_file(place.name, place.read_bytes(), executable=executable)
        return Standing(place, {place.name: file}, _read(place.with_name(f"{place.name}{SIDE}")))
    except OSError as error:
        raise UsageError(f"{place} cannot be read: {error.strerror}") from error


def _in_folder(root: Path, place: Path, document: str) -> tuple[ItemFile, ...]:
    try:
        return read_bundle(Tree("pull", root, MOST_BYTES), place, document, MOST_BYTES)
    except (Unfit, PartUnreadable) as error:
        raise UsageError(f"{place} cannot be compared: {error}", "move it away first") from error


def _is_item(other: Path, path: str) -> bool:
    document = LAYOUTS[path.partition("/")[0]].document
    return other.is_file() or (bool(document) and (other / document).exists())


def _read(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() and not path.is_symlink() else b""


def put_in_place(
    root: Path, path: str, folder: bool, files: Mapping[str, ItemFile], side_file: bytes
) -> Path:
    """Whoever looks meanwhile sees the old item, the new one, or for a moment none."""
    place = _inside(root, path)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        if folder:
            _put_folder(place, LAYOUTS[path.partition("/")[0]].document, files, side_file)
        else:
            _put_file(place, files[place.name], side_file)
    except OSError as error:
        raise UsageError(
            f"{error.filename or place} cannot be written: {error.strerror}",
            "nothing was lost; put that right, and pull again",
        ) from error
    return place


def _put_file(place: Path, file: ItemFile, side_file: bytes) -> None:
    """First the signature goes, so that it never stands beside what it does not speak of."""
    beside = place.with_name(f"{place.name}{SIDE}")
    if _read(beside) != side_file:
        beside.unlink(missing_ok=True)
    replace(place, file.content, 0o777 if file.executable else 0o666)
    if side_file:
        replace(beside, side_file, 0o666)


def _put_folder(
    place: Path, document: str, files: Mapping[str, ItemFile], side_file: bytes
) -> None:
    new, old = place.with_name(f".{place.name}{_NEW}"), place.with_name(f".{place.name}{_OLD}")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir()
    for file in files.values():
        target = new / file.path
        target.parent.mkdir(parents=True, exist_ok=True)
        replace(target, file.content, 0o777 if file.executable else 0o666)
    if side_file:
        replace(new / f"{document}{SIDE}", side_file, 0o666)
    if place.exists():
        place.rename(old)
    new.rename(place)
    _recover(place)


def _recover(place: Path) -> None:
    """The end of every replacement, also of one that was killed: the old folder goes.

    What is no part of an item, such as hidden files, caches and backups, is the person's own: it
    comes along. If there is no new folder, the old one comes back.
    """
    old = place.with_name(f".{place.name}{_OLD}")
    if not old.is_dir():
        return
    if not os.path.lexists(place):
        old.rename(place)
        return
    for path in _left_in(old, ""):
        target = place / path
        if not os.path.lexists(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            (old / path).rename(target)
    shutil.rmtree(old, ignore_errors=True)


def _left_in(folder: Path, prefix: str) -> Iterator[str]:
    """What does not belong to the item, each as high up as can be."""
    for each in sorted((folder / prefix).iterdir()):
        path = f"{prefix}{each.name}"
        if not is_part(path):
            yield path
        elif each.is_dir() and not each.is_symlink():
            yield from _left_in(folder, f"{path}/")


def _inside(root: Path, path: str) -> Path:
    """The place, if no link leads out of the root on the way, and no item lies around it."""
    layout, *above, last = path.split("/")
    document, place = LAYOUTS[layout].document, root
    for depth, part in enumerate(("", layout, *above)):
        place /= part
        if place.is_symlink():
            raise UsageError(f"{place} is a link, and nothing is unpacked through one")
        if depth > 1 and document and os.path.lexists(place / document):
            raise UsageError(
                f"{path} would lie inside of another item, {place}", "rename or remove that first"
            )
    return place / last
