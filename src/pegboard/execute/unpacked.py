"""The files of tools on this host: one read-only folder for each set of files, named by its hash.

A folder appears whole or not at all. What is in it is compared with the board's files at every call
and put right, one file at a time, while others may be reading it.
"""

import hashlib
import os
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from pegboard.errors import NotExecutable
from pegboard.execute.folders import half_made, opened_lock, remove, sweep
from pegboard.file_lock import taken
from pegboard.model.content import ItemFile
from pegboard.model.items import Item

MOST = 1_000
"""A Python tool has two: its files, and what its process begins with."""
IDLE_SECONDS = 3_600.0
LOCK_SECONDS = 30.0
TRIES = 3

_Files = Mapping[str, ItemFile]


class Unpacked:
    def __init__(
        self, cache: Path, *, most: int = MOST, idle_seconds: float = IDLE_SECONDS
    ) -> None:
        """Of more than `most` folders, those that were idle for so long are removed."""
        self._cache = cache.absolute()
        self._most = most
        self._idle_seconds = idle_seconds

    def folder(self, item: Item) -> Path:
        """Has the files of the item's version and nothing else. Raises `NotExecutable`."""
        return self.place(item.version.files if item.version else (), item.id)

    def place(self, given: Sequence[ItemFile], whose: str) -> Path:
        files = _checked(given, whose)
        place = self._cache / _key(files)
        try:
            for _ in range(TRIES):
                if self._is_right(place, files):
                    return place
                with self._alone():
                    if place.is_dir() and not place.is_symlink():
                        self._put_right(place, files)
                    else:
                        self._make(place, files)
                        sweep(self._cache, self._most, self._idle_seconds)
        except OSError as error:
            raise NotExecutable(
                f"the files of {whose} cannot be put into {self._cache}: {error.strerror}",
                "see whether the disk is full, and whether the folder may be written to",
            ) from error
        raise NotExecutable(
            f"the files of {whose} in {place} are changed again and again",
            "see what writes to this folder, and end it",
        )

    def _is_right(self, place: Path, files: _Files) -> bool:
        if place.is_symlink():
            return False
        try:
            os.utime(place)
            return _difference(place, files) == _NO_DIFFERENCE
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            return False

    def _make(self, place: Path, files: _Files) -> None:
        remove(place)
        half = half_made(self._cache)
        try:
            for path, file in files.items():
                (half / path).parent.mkdir(parents=True, exist_ok=True)
                _write(half / path, file)
            _close_folders(half, files)
            half.rename(place)
        except BaseException:
            remove(half)
            raise

    def _put_right(self, place: Path, files: _Files) -> None:
        """Files are replaced in one step each: whoever reads one finds the old or the right one."""
        _open_folders(place, files)
        found = _difference(place, files)
        half = half_made(self._cache)
        try:
            for path in found.extra:
                remove(place / path)
            for path in found.missing:
                if (place / path).is_dir():
                    remove(place / path)
                (place / path).parent.mkdir(parents=True, exist_ok=True)
                _write(half / "file", files[path])
                (half / "file").replace(place / path)
            _close_folders(place, files)
        finally:
            remove(half)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        with opened_lock(self._cache / "writing.lock") as descriptor:
            deadline = time.monotonic() + LOCK_SECONDS
            while not taken(descriptor):
                if time.monotonic() > deadline:
                    raise TimeoutError(None, "another process has been writing to it for long")
                time.sleep(0.005)
            yield


class _Difference(NamedTuple):
    missing: tuple[str, ...] = ()
    """Also those that are not what they should be."""
    extra: tuple[str, ...] = ()


_NO_DIFFERENCE = _Difference()


def _difference(place: Path, files: _Files) -> _Difference:
    folders = _folders(files)
    right: set[str] = set()
    extra: list[str] = []
    ahead = [""]
    while ahead:
        at = ahead.pop()
        with os.scandir(place / at) as entries:
            for entry in entries:
                path = f"{at}/{entry.name}" if at else entry.name
                if path in files:
                    if _is_same(entry, files[path]):
                        right.add(path)
                elif path in folders and entry.is_dir(follow_symlinks=False):
                    ahead.append(path)
                else:
                    extra.append(path)
    return _Difference(tuple(sorted(files.keys() - right)), tuple(extra))


def _is_same(entry: "os.DirEntry[str]", file: ItemFile) -> bool:
    found = entry.stat(follow_symlinks=False)
    return (
        stat.S_ISREG(found.st_mode)
        and found.st_size == len(file.content)
        and stat.S_IMODE(found.st_mode) == _mode(file)
        and Path(entry.path).read_bytes() == file.content
    )


def _mode(file: ItemFile) -> int:
    return 0o555 if file.executable else 0o444


def _write(path: Path, file: ItemFile) -> None:
    path.write_bytes(file.content)
    path.chmod(_mode(file))


def _folders(files: _Files) -> list[str]:
    """All that have a file in them, the outermost first."""
    found = {str(folder) for path in files for folder in PurePosixPath(path).parents}
    return sorted({"" if folder == "." else folder for folder in found} | {""})


def _open_folders(place: Path, files: _Files) -> None:
    """To be written to. What lies behind a link is somebody else's."""
    opened = set()
    for folder in _folders(files):
        path = place / folder
        above = not folder or folder.rpartition("/")[0] in opened
        if above and path.is_dir() and not path.is_symlink():
            path.chmod(0o755)
            opened.add(folder)


def _close_folders(place: Path, files: _Files) -> None:
    for folder in reversed(_folders(files)):
        (place / folder).chmod(0o555)


def _checked(files: Sequence[ItemFile], whose: str) -> dict[str, ItemFile]:
    """By path. The gate has seen them, but a board can be written to by others."""
    for file in files:
        if not _is_inside(file.path):
            raise NotExecutable(
                f"{whose} has a file {file.path[:200]!r}, whose path leaves its folder",
                "publish it again with paths such as main.py or lib/part.py",
            )
        if hashlib.sha256(file.content).hexdigest() != file.sha256:
            raise NotExecutable(
                f"{file.path} of {whose} does not have the content that its hash stands for",
                "sync its source again: pegboard sync",
            )
    found = {file.path: file for file in files}
    if len(found) < len(files) or found.keys() & set(_folders(found)):
        raise NotExecutable(f"{whose} has two files with one path", "publish it again")
    return found


def _is_inside(path: str) -> bool:
    parts = PurePosixPath(path).parts
    written = path.encode("utf-8", "replace").decode()
    return (
        "/".join(parts) == path == written
        and path not in ("", ".")
        and not {"..", "/"} & set(parts)
        and not {"\\", "\0"} & set(path)
    )


def _key(files: _Files) -> str:
    digest = hashlib.sha256()
    for path in sorted(files):
        file = files[path]
        digest.update(f"{path}\0{file.sha256}\0{_mode(file):o}\0".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
