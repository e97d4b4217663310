"""A copy of a board in a file, made while others read and write it. The copy is a board itself."""

import hashlib
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import apsw

from pegboard.errors import BoardCorrupt, BoardError
from pegboard.store.blobs.folder import FolderBlobs, settle
from pegboard.store.blobs.large_files import is_key
from pegboard.store.queries import load
from pegboard.store.sqlite.opening import open_connection, recognised, refuse_nothing
from pegboard.store.sqlite.telling import told

SQL = load("sqlite", "files")
BUSY_SECONDS = 30.0
BESIDE = ("", "-wal", "-shm", "-files")
"""What a board's name may have behind it."""


class Copied(NamedTuple):
    schema: int
    bytes: int
    files: int
    """Large files that lie beside the copy."""
    elsewhere: int
    """Large files that stay where they are, because they do not lie beside the board."""
    lost: tuple[str, ...]
    """Keys of large files that are missing or damaged already."""


def copy_board(path: Path, target: Path, *, with_files: bool) -> Copied:
    """Copy the board at one moment, then the large files beside it; all of it or nothing.

    The schema stays as it is: whoever goes back to an older Pegboard needs the older board.
    """
    with told(path):
        refuse_nothing(path)
        source = open_connection(path, BUSY_SECONDS, create=False)
    try:
        with told(path):
            schema = recognised(source, path)
        _refuse_taken(target)
        with _finished(path, target) as part, told(target):
            keys = _copy_pages(source, path, part)
            found, lost = _copy_files(path, part, keys if with_files else {})
        elsewhere = 0 if with_files else len(keys)
        return Copied(schema, target.stat().st_size, found, elsewhere, tuple(lost))
    finally:
        source.close()


def _refuse_taken(target: Path) -> None:
    for each in (target.with_name(target.name + ending) for ending in BESIDE):
        if each.exists() or each.is_symlink():
            raise _taken(each)


def _taken(path: Path) -> BoardError:
    return BoardError(f"{path} is there already", "name a new file, or move what is there away")


def _files_of(board: Path) -> Path:
    return board.with_name(f"{board.name}-files")


@contextmanager
def _finished(path: Path, target: Path) -> Iterator[Path]:
    """A file that gets the name of the copy once everything is there, and else is gone.

    Of several copies to one name, the first that is whole gets it.
    """
    part = target.with_name(f"{target.name}.{os.urandom(4).hex()}.part")
    own = [part]
    try:
        with told(target):  # for nobody else to read, before there is anything in it
            _make(part)
        yield part
        with told(target):
            part.chmod(stat.S_IMODE(path.stat().st_mode))
            _make(target)
            own.append(target)
            if _files_of(part).exists():
                _files_of(part).rename(_files_of(target))
            part.replace(target)
            settle(target.parent)
    except BaseException:
        for each in own:
            for ending in ("", "-wal", "-shm", "-journal"):
                each.with_name(each.name + ending).unlink(missing_ok=True)
            shutil.rmtree(_files_of(each), ignore_errors=True)
        raise


def _make(path: Path) -> None:
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError as error:
        raise _taken(path) from error


def _copy_pages(source: apsw.Connection, path: Path, part: Path) -> dict[str, str]:
    """In one step, which reads one moment of the board; then the copy is looked at.

    Returns the SHA-256 of each of its large files, by key.
    """
    copy = open_connection(part, BUSY_SECONDS, create=False)
    try:
        with copy.backup("main", source, "main") as backup:
            backup.step(-1)
        found = copy.execute("PRAGMA integrity_check(1)").get
        if found != "ok":
            raise _damaged(path, found)
        return {key: digest for digest, key in copy.execute(SQL["large"])}
    except (apsw.CorruptError, apsw.NotADBError) as error:  # the copy is what the board is
        raise _damaged(path, error) from error
    finally:
        copy.close()


def _damaged(path: Path, found: object) -> BoardCorrupt:
    return BoardCorrupt(
        f"{path} is damaged, and so its copy would be ({found})",
        "see how much with: pegboard doctor; older backups stay as they are",
    )


def _copy_files(path: Path, target: Path, keys: dict[str, str]) -> tuple[int, list[str]]:
    """After the board: what it refers to at its moment is not removed for an hour."""
    here, there = FolderBlobs(_files_of(path)), FolderBlobs(_files_of(target))
    lost: list[str] = []
    for key, digest in keys.items():
        content = here.get(key) if is_key(key) else None
        if content is None or hashlib.sha256(content).hexdigest() != digest:
            lost.append(key)
        else:
            there.put(key, content)
    return len(keys) - len(lost), lost
