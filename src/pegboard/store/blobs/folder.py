"""Large files in a folder, on this machine or shared by several."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pegboard.errors import BoardError, BoardFull, BoardReadOnly
from pegboard.model.content import Blob
from pegboard.store.blobs.large_files import is_key

_FULL = (errno.ENOSPC, errno.EDQUOT)
_CLOSED = (errno.EACCES, errno.EPERM, errno.EROFS)
# Nothing in the folder may lead elsewhere or keep a reader waiting, as a link or a pipe would.
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_READ |= getattr(os, "O_BINARY", 0)


class FolderBlobs:
    """The folder is made by the first put."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.place = str(root)

    def put(self, key: str, content: bytes) -> None:
        path = self._path(key)
        part = path.with_name(f"{path.name}.{os.urandom(4).hex()}.part")
        with self._told():
            self._make(path.parent)
            try:
                with part.open("xb") as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
                part.replace(path)
            except BaseException:
                part.unlink(missing_ok=True)
                raise
            settle(path.parent)

    def get(self, key: str) -> bytes | None:
        with self._told():
            try:
                file = os.open(self._path(key), _READ)
            except (FileNotFoundError, NotADirectoryError):
                return None
            with os.fdopen(file, "rb") as opened:
                if not stat.S_ISREG(os.fstat(file).st_mode):
                    return None
                return opened.read()

    def has(self, key: str) -> bool:
        with self._told():
            try:
                return stat.S_ISREG(self._path(key).lstat().st_mode)
            except (FileNotFoundError, NotADirectoryError):
                return False

    def delete(self, key: str) -> None:
        with self._told():
            self._path(key).unlink(missing_ok=True)

    def listed(self, under: str) -> Iterator[Blob]:
        with self._told():
            for folder, _, names in os.walk(self._path(under), onerror=_unless_gone):
                for path in sorted(Path(folder) / name for name in names):
                    key = path.relative_to(self._root).as_posix()
                    with suppress(FileNotFoundError):
                        found = path.lstat()
                        if is_key(key) and stat.S_ISREG(found.st_mode):
                            yield Blob(key, found.st_size, found.st_mtime)

    def _path(self, key: str) -> Path:
        if not is_key(key):
            raise BoardError(f"{key!r} is no key of a large file", "check with: pegboard doctor")
        return self._root / key

    def _make(self, folder: Path) -> None:
        missing = [each for each in (folder, *folder.parents) if not each.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        for each in missing:
            settle(each.parent)

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            why = f"{error.filename or self._root}: {error.strerror or error}"
            if error.errno in _FULL:
                raise BoardFull(
                    f"the disk that holds the large files is full ({why})",
                    "free some space and run the command again; nothing committed was lost",
                ) from error
            if error.errno in _CLOSED:
                raise BoardReadOnly(
                    f"the folder of the large files cannot be used ({why})",
                    "check its owner and permissions, or set blobs.place to another folder",
                ) from error
            raise BoardError(
                f"the folder of the large files cannot be used ({why})",
                "check blobs.place and that the disk is healthy",
            ) from error


def settle(folder: Path) -> None:
    """Make sure that names in it outlive a power cut; Windows sees to that by itself."""
    if os.name == "nt":
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _unless_gone(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise error
