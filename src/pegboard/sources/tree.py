"""A folder whose files nobody has checked yet: what its names lead to, and their content."""

import errno
import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO

from pegboard.model.items import LeftOut, Rejection
from pegboard.sources.unfit import Unfit

TEMPORARY = re.compile(r"^4913$|^#.*#$|~$|\.py[cod]$|\.sw[a-z]$|\.bak$|\.te?mp(\.|$)|___jb_\w+___$")
"""What editors and Python write beside a file."""

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_BINARY = getattr(os, "O_BINARY", 0)
_FOR_GOOD = (errno.ENOENT, errno.EISDIR, errno.ENOTDIR, errno.ELOOP, errno.EINVAL)


class Tree:
    """What every source that reads a folder can say about what it meets there."""

    def __init__(self, name: str, root: Path, max_file_bytes: int) -> None:
        self._name = name
        self._root = root
        self._limit = max_file_bytes

    def _names(self, folder: str, wanted: "Wanted") -> Iterator[str | LeftOut | Rejection]:
        """Sorted names in a folder; those that cannot be a tool or category come as findings."""
        try:
            with os.scandir(self._root / folder) as entries:
                names = sorted(wanted.among(folder, (entry.name for entry in entries)))
        except OSError as error:
            yield self._unreadable(folder, error)
            return
        for name in names:
            yield self._name_problem(folder, name) or name

    def _name_problem(self, folder: str, name: str) -> LeftOut | Rejection | None:
        origin = f"{folder}/{name}"
        if printable(name) != name:
            reason = "the name is not UTF-8, or has a control character in it; rename it"
            return self._rejected(printable(origin), "", "bad_name", reason)
        if ":" in name:
            reason = "a name with ':' would make the id ambiguous; rename it"
            return self._rejected(origin, "", "bad_name", reason)
        if name.startswith(("_", ".")):
            return LeftOut(origin, "names that start with _ or . are private")
        return None

    def _folder_problem(self, origin: str) -> LeftOut | Rejection | None:
        found = self._stat(origin, self._root / origin)
        if not isinstance(found, os.stat_result):
            return found
        if not stat.S_ISDIR(found.st_mode):
            return LeftOut(origin, "a folder was expected here, and this is a file")
        return None

    def _stat(self, origin: str, path: Path) -> os.stat_result | LeftOut | Rejection:
        """What the path leads to, if it leads nowhere outside the root."""
        try:
            return self.look(path)
        except FileNotFoundError as error:
            if not path.is_symlink():
                return LeftOut(origin, "it vanished while the folder was read")
            return self._unreadable(origin, error)
        except (OSError, RuntimeError) as error:
            return self._unreadable(origin, error)
        except Unfit as unfit:
            return self._rejected(origin, "", unfit.code, unfit.reason)

    def look(self, path: Path) -> os.stat_result:
        """Raises `Unfit` if it is a link that leads outside the root."""
        found = path.lstat()
        if not stat.S_ISLNK(found.st_mode):
            return found
        found = path.stat()
        if path.resolve(strict=True).is_relative_to(self._root.resolve()):
            return found
        raise Unfit(
            "outside",
            "the link leads out of the source's folder; copy the target into it instead",
        )

    def _content(self, path: Path, found: os.stat_result) -> bytes | None:
        return content(path, found, self._limit)

    def _unreadable(self, origin: str, error: Exception, what: str = "it") -> Rejection:
        """Not there, or not a file, is for good; anything else may pass, and is told apart."""
        reason = f"{what} cannot be read ({cause(error)}); make it readable, or remove it"
        passing = isinstance(error, OSError) and error.errno not in _FOR_GOOD
        return self._rejected(origin, "", "unreadable" if passing else "not_a_file", reason)

    def _rejected(self, origin: str, digest: str, code: str, reason: str) -> Rejection:
        return Rejection(
            source=self._name, origin=origin, origin_hash=digest, code=code, reason=reason
        )


class Wanted:
    """Which names a scan looks at: all, or those on the way to some paths and under them.

    Folders are listed whole all the same, so that a name is only looked at if it is really there:
    a file system that ignores case would find it under any spelling.
    """

    def __init__(self, under: Sequence[str]) -> None:
        paths = {tuple(part for part in path.split("/") if part) for path in under}
        self._whole = {"/".join(path) for path in paths} if paths else {""}
        self._names: dict[str, set[str]] = {}
        for path in paths:
            for depth, name in enumerate(path):
                self._names.setdefault("/".join(path[:depth]), set()).add(name)

    def among(self, folder: str, names: Iterable[str]) -> Iterable[str]:
        if self._covers(folder):
            return names
        some = self._names.get(folder, set())
        return [name for name in names if name in some]

    def _covers(self, folder: str) -> bool:
        parts = folder.split("/")
        return "" in self._whole or any(
            "/".join(parts[:depth]) in self._whole for depth in range(1, len(parts) + 1)
        )


def content(path: Path, found: os.stat_result, limit: int) -> bytes | None:
    """The file's bytes, or None if there are more than the limit."""
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder")
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file")
    if found.st_size > limit:
        return None
    with _opened(path) as file:
        read = file.read(found.st_size + 1)
        if len(read) > found.st_size:
            read += file.read(limit + 1 - len(read))
    return read if len(read) <= limit else None


def _opened(path: Path) -> IO[bytes]:
    """What is opened may not be what was looked at: a pipe would keep us waiting."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _BINARY)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not a regular file")
    return os.fdopen(descriptor, "rb")


def printable(name: str) -> str:
    """The name on one line: what is not UTF-8, and control characters, as backslash escapes."""
    text = os.fsencode(name).decode("utf-8", "backslashreplace")
    return _CONTROL.sub(lambda found: found.group().encode("unicode_escape").decode(), text)


def cause(error: Exception) -> str:
    strerror = error.strerror if isinstance(error, OSError) else None
    return strerror or type(error).__name__
