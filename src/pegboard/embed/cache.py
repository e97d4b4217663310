"""Vectors that a service has made, kept in the user's cache folder so that none is paid for twice.

One small file a vector, named after all that went into it. A file that is not what was written is
dropped, and the vector made again; a cache that cannot be written is done without.
"""

import hashlib
import logging
import os
import secrets
from contextlib import suppress
from pathlib import Path

from pegboard.model.items import Vector

log = logging.getLogger(__name__)

FOLDER_BYTES = 2 << 20
"""With 256 folders the whole stays below half a gigabyte, but for the moments between two looks."""
_DIGEST = hashlib.sha256().digest_size


class VectorCache:
    def __init__(self, folder: Path, scope: str) -> None:
        """`scope` names everything but the text that a vector depends on."""
        self._folder = folder
        self._scope = scope
        self._writable = True

    def get(self, text: str) -> Vector | None:
        path = self._path(text)
        try:
            kept = path.read_bytes()
        except OSError:
            return None
        vector = kept[_DIGEST:]
        if vector and kept[:_DIGEST] == _checksum(path.name, vector):
            return Vector(vector)
        log.warning("%s was damaged; it is dropped", path)
        with suppress(OSError):
            path.unlink()
        return None

    def put(self, text: str, vector: Vector) -> None:
        if not self._writable:
            return
        path = self._path(text)
        unfinished = path.with_suffix(f".{secrets.token_hex(4)}")
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            unfinished.write_bytes(_checksum(path.name, vector) + vector)
            unfinished.replace(path)
            if path.name[2] == "0":  # every sixteenth, about: looking costs more than writing
                with suppress(FileNotFoundError):  # another process prunes too
                    _prune(path.parent)
        except OSError as error:
            self._writable = False
            log.warning("%s cannot be written: %s; vectors are not kept", self._folder, error)

    def _path(self, text: str) -> Path:
        name = hashlib.sha256(f"{self._scope}\0{text}".encode()).hexdigest()
        return self._folder / name[:2] / name


def _checksum(name: str, vector: bytes) -> bytes:
    return hashlib.sha256(name.encode() + vector).digest()


def _prune(folder: Path) -> None:
    """The oldest go, until half of what is allowed is left."""
    with os.scandir(folder) as entries:
        files = [(entry.stat().st_mtime, entry.stat().st_size, entry.path) for entry in entries]
    if sum(size for _, size, _ in files) <= FOLDER_BYTES:
        return
    kept = 0
    for _, size, path in sorted(files, reverse=True):
        kept += size
        if kept > FOLDER_BYTES // 2:
            Path(path).unlink(missing_ok=True)
