"""All files of an item that is a folder: so many, so large, and none from outside the root."""

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from pegboard.model.content import ItemFile
from pegboard.sources.tree import TEMPORARY, Tree, content, printable
from pegboard.sources.unfit import Unfit

MOST_FILES = 200
MOST_BYTES = 20_000_000
"""All files of an item together."""
DEEPEST = 16
MOST_ENTRIES = 10_000
"""Names that are read of one folder."""

_CACHES = frozenset({"__pycache__", "node_modules", "venv"})
_MEDIA_TYPES = {
    ".py": "text/x-python",
    ".sh": "text/x-shellscript",
    ".md": "text/markdown",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
    ".json": "application/json",
    ".toml": "application/toml",
    ".xml": "application/xml",
    ".js": "text/javascript",
    ".ts": "text/x-typescript",
    ".html": "text/html",
    ".css": "text/css",
    ".csv": "text/csv",
    ".sql": "application/sql",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".pdf": "application/pdf",
    ".zip": "application/zip",
}


class TooLarge(Unfit):
    """Refused by its size, without being read; `digest` tells whether it is still the same."""

    def __init__(self, reason: str, digest: str) -> None:
        super().__init__("too_large", reason)
        self.digest = digest


class PartUnreadable(Exception):
    """One file of an item cannot be read, and so the item cannot."""

    def __init__(self, path: str, error: Exception) -> None:
        super().__init__(path)
        self.path = path
        self.error = error


class Part(NamedTuple):
    path: str
    """Relative to the item's folder."""
    place: Path
    found: os.stat_result


def read_bundle(tree: Tree, folder: Path, document: str, limit: int) -> tuple[ItemFile, ...]:
    """Every file in the folder but the document's side file, by path.

    The limit is for the document. Raises `Unfit`, or `PartUnreadable`.
    """
    parts = [part for part in _parts(tree, folder) if part.path != f"{document}.sig"]
    sizes = {part.path: part.found.st_size for part in parts}
    if document not in sizes:
        raise Unfit("not_a_file", f"{document} is no file; make it one, or remove it")
    if sizes[document] > limit:
        reason = f"{document} is larger than {limit} bytes; make it smaller"
        raise TooLarge(reason, _looks(parts))
    total = sum(sizes.values())
    if total > MOST_BYTES:
        reason = (
            f"its files have {total:,} bytes together, and at most {MOST_BYTES:,} are allowed; "
            "keep large data somewhere else"
        )
        raise TooLarge(reason, _looks(parts))
    return tuple(_files(parts))


def _files(parts: Iterable[Part]) -> Iterator[ItemFile]:
    left = MOST_BYTES
    for part in parts:
        try:
            read = content(part.place, part.found, left)
        except OSError as error:
            raise PartUnreadable(part.path, error) from error
        if read is None:
            raise Unfit("too_large", "its files grew while they were read; try again")
        left -= len(read)
        yield make_file(part.path, read, executable=bool(part.found.st_mode & 0o111))


def make_file(path: str, read: bytes, *, executable: bool = False) -> ItemFile:
    return ItemFile(
        path,
        read,
        hashlib.sha256(read).hexdigest(),
        media_type=_media_type(path, read),
        executable=executable,
    )


def bundle_hash(files: Iterable[ItemFile], signature: bytes) -> str:
    digest = hashlib.sha256(hashlib.sha256(signature).digest())  # so that it has an end
    for file in files:
        digest.update(f"\0{file.path}\0{file.sha256}{file.executable:d}".encode())
    return digest.hexdigest()


def _looks(parts: Iterable[Part]) -> str:
    """A hash of what can be known of files without reading them."""
    seen = [(part.path, part.found.st_size, part.found.st_mtime_ns) for part in parts]
    return f"stat:{hashlib.sha256(repr(seen).encode()).hexdigest()}"


def _parts(tree: Tree, folder: Path) -> list[Part]:
    found: list[Part] = []
    waiting = [("", folder, False)]
    while waiting:
        prefix, place, linked = waiting.pop()
        for name in _names(place, prefix):
            path = f"{prefix}{name}"
            part = Part(path, place / name, _looked_at(tree, path, place / name))
            is_link = part.place.is_symlink()
            if not stat.S_ISDIR(part.found.st_mode):
                found.append(part)
            elif path.count("/") >= DEEPEST:
                raise Unfit("too_deep", f"{path} lies deeper than {DEEPEST} folders; move it up")
            elif is_link and (linked or leads_back(part.place)):
                reason = f"the link {path} leads in a circle, or through another link; remove it"
                raise Unfit("loop", reason)
            else:
                waiting.append((f"{path}/", part.place, linked or is_link))
        if len(found) > MOST_FILES:
            reason = f"it has more than {MOST_FILES} files; keep data somewhere else"
            raise Unfit("too_many", reason)
    return sorted(found)


def _names(folder: Path, prefix: str) -> list[str]:
    """What belongs to an item: nothing hidden, no cache, nothing an editor leaves behind."""
    try:
        names = listed(folder)
    except OSError as error:
        raise PartUnreadable(prefix.rstrip("/") or "its folder", error) from error
    for name in names:
        if printable(name) != name:
            told = f"the name {printable(prefix + name)} is not UTF-8, or has a control character"
            reason = f"{told} in it; rename it"
            raise Unfit("bad_name", reason)
    return [name for name in names if is_part(name)]


def is_part(path: str) -> bool:
    """Whether a file of an item's folder belongs to the item."""
    return not any(
        name.startswith(".") or name in _CACHES or TEMPORARY.search(name)
        for name in path.split("/")
    )


def listed(folder: Path) -> list[str]:
    """The names in a folder, as long as there are not too many. Raises `Unfit` or `OSError`."""
    names = []
    with os.scandir(folder) as entries:
        for entry in entries:
            names.append(entry.name)
            if len(names) > MOST_ENTRIES:
                reason = f"the folder holds more than {MOST_ENTRIES:,} entries; divide it"
                raise Unfit("too_many", reason)
    return names


def _looked_at(tree: Tree, path: str, place: Path) -> os.stat_result:
    try:
        return tree.look(place)
    except (OSError, RuntimeError) as error:
        raise PartUnreadable(path, error) from error
    except Unfit as unfit:
        raise Unfit(unfit.code, f"{path}: {unfit.reason}") from unfit


def leads_back(link: Path) -> bool:
    """Whether a link to a folder stands inside that folder."""
    return link.parent.resolve().is_relative_to(link.resolve())


def _media_type(path: str, read: bytes) -> str:
    known = _MEDIA_TYPES.get(Path(path).suffix.lower())
    if known:
        return known
    try:
        read.decode("utf-8")
    except UnicodeDecodeError:
        return "application/octet-stream"
    return "application/octet-stream" if b"\0" in read else "text/plain"
