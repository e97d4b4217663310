"""Files that only one person may read or have written: opened with care, replaced as a whole."""

import errno
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pegboard.errors import KeyUnusable
from pegboard.file_lock import taken

MOST_BYTES = 1 << 24
LOCK_SECONDS = 10.0
_PLAIN = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_READ = os.O_RDONLY | _PLAIN
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _PLAIN


def read_private(path: Path) -> bytes:
    """A file that only this person can have written, and only this person can read."""
    try:
        descriptor = os.open(path, _READ)
    except FileNotFoundError:
        raise
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise KeyUnusable(
                f"{path} is a symbolic link, which others may turn elsewhere",
                "put the file itself in its place",
            ) from error
        raise KeyUnusable(f"{path} cannot be read: {error.strerror}") from error
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise KeyUnusable(f"{path} is no file")
        if os.name != "nt":  # where rights are not in the mode
            _refuse_shared(path, found)
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise KeyUnusable(f"{path} has more than {MOST_BYTES:,} bytes")
    return content


def _refuse_shared(path: Path, found: os.stat_result) -> None:
    if found.st_uid != os.geteuid():
        raise KeyUnusable(
            f"{path} belongs to another user",
            f"if it is yours: chown {os.geteuid()} {path}",
        )
    if stat.S_IMODE(found.st_mode) & 0o077:
        mode = f"{stat.S_IMODE(found.st_mode):04o}"
        raise KeyUnusable(f"{path} is open to others (mode {mode})", f"run: chmod 600 {path}")


def write_new(path: Path, content: bytes, mode: int = 0o600) -> None:
    """Raises `FileExistsError` rather than touch what is there."""
    descriptor = os.open(path, _CREATE, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(descriptor)
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def replace(path: Path, content: bytes, mode: int = 0o600) -> None:
    """Whoever reads the file meanwhile sees all of the old content, or all of the new."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.new")
    beside.unlink(missing_ok=True)  # of a process that was killed
    write_new(beside, content, mode)
    beside.replace(path)


@contextmanager
def locked(path: Path, seconds: float = LOCK_SECONDS) -> Iterator[None]:
    """Alone among processes and threads; the system lets go of it when a process dies."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | _PLAIN, 0o600)
    deadline = time.monotonic() + seconds
    try:
        while not taken(descriptor):
            if time.monotonic() > deadline:
                raise KeyUnusable(
                    f"another process holds {path}", "wait until it has ended, and try again"
                )
            time.sleep(0.01)
        yield
    finally:
        os.close(descriptor)
