"""Private folders of runs, and what a run leaves in one.

All of one Pegboard process lie in a room: a folder that is locked as long as its owner lives.
Whoever comes later removes the rooms whose owners are gone.
"""

import asyncio
import errno
import json
import os
import secrets
import stat
import sys
import time
import weakref
from collections.abc import Callable, Iterator
from itertools import count
from mimetypes import guess_type
from pathlib import Path
from typing import NamedTuple

from pegboard.execute.folders import remove
from pegboard.model.calls import Artifact
from pegboard.model.content import Json

if sys.platform != "win32":
    import fcntl

MAX_ARTIFACTS = 100
MAX_ARTIFACT_BYTES = 16 << 20
"""Of all files together."""
MAX_ANSWER = 16 << 20
MAX_FILES = 10_000
MAX_DEPTH = 20
MAX_IDLE = 16
A_DAY = 86_400.0

_OUTPUT, _TMP = "output", "tmp"
_LOCK = "owner.lock"
_UNFINISHED = ".new-"
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
"""A link is not followed, and a pipe without a writer is not waited for."""
_FOLDER = _READ | getattr(os, "O_DIRECTORY", 0)


Leaving = Callable[[Path], bool]


class Private(NamedTuple):
    """The folder of one run."""

    path: Path
    run: str
    """The name of the run: no other has the same."""

    @property
    def arguments(self) -> Path:
        return self.path / "arguments.json"

    @property
    def answer(self) -> Path:
        return self.path / "answer.json"

    @property
    def output(self) -> Path:
        return self.path / _OUTPUT

    @property
    def tmp(self) -> Path:
        return self.path / _TMP


class Left(NamedTuple):
    """What a run left in its folder."""

    answer: bytes | None = None
    artifacts: tuple[Artifact, ...] = ()
    complaint: str = ""
    """About what was too much and is left out."""


class Room:
    def __init__(self, scratch: Path, leaving: Leaving = lambda room: True) -> None:
        """Raises OSError where no folder can be made.

        `leaving` is called before it is removed, and tells whether it may be.
        """
        scratch.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.name = f"{os.getpid()}-{secrets.token_hex(6)}"
        self.path = scratch / self.name
        self._numbers, self._folders = count(1), count(1)
        self._idle: list[Path] = []
        # Locked before it is called a room, so that nobody takes it for one without an owner.
        unfinished = scratch / f"{_UNFINISHED}{self.name}"
        unfinished.mkdir(mode=0o700)
        lock = os.open(unfinished / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        _lock(lock)
        unfinished.rename(self.path)
        self.close = weakref.finalize(self, _leave, self.path, lock, os.getpid(), leaving)

    @property
    def settings(self) -> Path:
        return self.path / "etc"

    def take(self, arguments: Json) -> Private:
        """A folder for one run."""
        try:
            path = self._idle.pop()
        except IndexError:
            path = self._make()
        private = Private(path, f"{self.name}-{next(self._numbers)}")
        file = os.open(private.arguments, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(file, "wb") as opened:
            opened.write(json.dumps(dict(arguments)).encode())
        return private

    async def give_back(self, private: Private) -> None:
        """Nothing that was in it can be found any more.

        One that is empty then is kept for the next run: on a busy disk, making and removing
        folders takes longer than everything else about a run.
        """
        if _is_as_made(private) and len(self._idle) < MAX_IDLE:
            self._idle.append(private.path)
        else:
            await asyncio.to_thread(remove, private.path)

    def _make(self) -> Path:
        path = self.path / str(next(self._folders))
        for each in (path, path / _OUTPUT, path / _TMP):
            each.mkdir(mode=0o700)
        return path


def _is_as_made(private: Private) -> bool:
    """When what is expected there has been taken out. A process may have changed all of it."""
    try:
        for file in (private.arguments, private.answer):
            file.unlink(missing_ok=True)
        folders = {_OUTPUT: private.output, _TMP: private.tmp}
        return (
            _is_private(private.path)
            and set(os.listdir(private.path)) == set(folders)  # noqa: PTH208
            and all(_is_private(each) and not any(each.iterdir()) for each in folders.values())
        )
    except OSError:
        return False


def _is_private(path: Path) -> bool:
    mode = path.lstat().st_mode
    return stat.S_ISDIR(mode) and mode & 0o777 == 0o700


def abandoned(scratch: Path) -> Iterator[Path]:
    """Rooms whose owners are gone, each while its lock is held by us."""
    for path in scratch.iterdir() if scratch.is_dir() else ():
        try:
            if path.name.startswith(_UNFINISHED) or sys.platform == "win32":
                if time.time() - path.stat().st_mtime > A_DAY:
                    yield path
                continue
            lock = os.open(path / _LOCK, os.O_RDWR)
        except OSError:
            continue
        try:
            if _lock(lock):
                yield path
        finally:
            os.close(lock)


def _lock(lock: int) -> bool:
    """Whether it is ours now. A file system without locks has rooms that nobody else removes."""
    if sys.platform == "win32":
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _leave(path: Path, lock: int, owner: int, leaving: Leaving) -> None:
    if os.getpid() == owner:  # not a fork of it
        if leaving(path):
            remove(path)
        os.close(lock)


def size_of(folder: Path) -> tuple[int, int]:
    """Bytes on disk and number of files, counted until there are too many of them."""
    size = files = 0
    waiting = [str(folder)]
    while waiting and files <= MAX_FILES:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    files += 1
                    size += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:  # nested so deeply that nobody can look there
                return size, MAX_FILES + 1
            continue  # it is being removed while we look
    return size, files


def left_in(private: Private) -> Left:
    """Read without following any link: the process could make one to anywhere."""
    try:
        folder = os.open(private.path, _FOLDER)
    except OSError:
        return Left()
    try:
        answer, complaint = _answer(folder, private.answer.name)
        artifacts, left_out = _artifacts(folder, private.output.name)
    finally:
        os.close(folder)
    if left_out:
        complaint += (
            f"\n{left_out:,} files of its output are left out: at most {MAX_ARTIFACTS} files "
            f"and {MAX_ARTIFACT_BYTES >> 20} MB are kept"
        )
    return Left(answer, artifacts, complaint.strip())


def _answer(folder: int, name: str) -> tuple[bytes | None, str]:
    content = _content(folder, name, MAX_ANSWER)
    if isinstance(content, int):
        return None, f"its answer of {content:,} bytes is left out: at most {MAX_ANSWER:,} are read"
    return content, ""


def _artifacts(folder: int, name: str) -> tuple[tuple[Artifact, ...], int]:
    found: list[Artifact] = []
    size = left_out = 0
    try:
        output = os.open(name, _FOLDER, dir_fd=folder)
    except OSError:
        return (), 0
    try:
        for root, folders, names, here in os.fwalk(".", dir_fd=output, follow_symlinks=False):
            folders[:] = sorted(folders) if root.count(os.sep) < MAX_DEPTH else []
            for each in sorted(names):
                content = None
                if len(found) < MAX_ARTIFACTS:
                    content = _content(here, each, MAX_ARTIFACT_BYTES - size)
                if isinstance(content, bytes):
                    size += len(content)
                    found.append(_artifact(os.path.normpath(Path(root) / each), content))
                elif content is not None or len(found) >= MAX_ARTIFACTS:
                    left_out += 1
    finally:
        os.close(output)
    return tuple(found), left_out


def _artifact(name: str, content: bytes) -> Artifact:
    media_type = guess_type(name)[0] or "application/octet-stream"
    return Artifact(name.encode("utf-8", "replace").decode(), media_type, content)


def _content(folder: int, name: str, most: int) -> bytes | int | None:
    """None for what is no regular file, its size if that is more than may be read."""
    try:
        file = os.open(name, _READ, dir_fd=folder)
    except OSError:
        return None
    with os.fdopen(file, "rb") as opened:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode):
            return None
        if found.st_size > most:
            return found.st_size
        return opened.read(most)
