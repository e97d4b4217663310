"""Chosen items of a project, copied to the user's own folder and through the gate to his board."""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pegboard.app import Pegboard
from pegboard.board.reading import FOLDER
from pegboard.board.signing import item_at
from pegboard.config import Located, Tier, sealing_of
from pegboard.errors import BoardReadOnly, PegboardError, UsageError
from pegboard.model import CREATED, DEFAULT_NAMESPACE, Candidate, Entry, Item, Rejection
from pegboard.sources.folder import SIDE, FolderSource
from pegboard.tiers.opening import open_user

HOME = "ai"
"""The folder in the user's data folder, and the source on the user's board."""
RECORD = "copied.json"
MANIFEST = "tool.yaml"


class Copied(NamedTuple):
    """What became of an item."""

    id: str
    state: str
    """`copied`, `updated`, `unchanged` or `refused`."""
    path: str = ""
    reason: str = ""


class _Files(NamedTuple):
    """An item as files, each by its path below the folder."""

    id: str
    origin: str
    content: Mapping[str, tuple[bytes, bool]]

    @property
    def digest(self) -> str:
        found = hashlib.sha256()
        for path, (content, executable) in sorted(self.content.items()):
            found.update(f"{path}\0{executable:d}{len(content)}\0".encode() + content)
        return found.hexdigest()


def copy_to_user(
    board: Pegboard, place: Located, names: Sequence[str], *, every: bool, force: bool
) -> list[Copied]:
    """Copy these, or all that can be. What is refused is told, and not left lying there."""
    chosen = list(_all(board)) if every else [board.show(name) for name in names]
    home = place.settings.data_folder / HOME
    try:
        home.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".copying-", dir=home) as stage:
            done = [_copied(board, place, each, Path(stage), force=force) for each in chosen]
    except OSError as error:
        raise BoardReadOnly(f"{error.filename} cannot be written: {error.strerror}") from error
    return _hung(place, home, done)


def _all(board: Pegboard) -> Iterator[Entry]:
    records = {each.name for each in board.sources() if each.kind == FOLDER}
    last: Entry | None = None
    while page := board.listed(limit=500, after=last):
        for last in page:
            if last.item.source in records or last.item.source == CREATED:
                yield board.show(f"{last.item.namespace}/{last.item.id}")


def _copied(board: Pegboard, place: Located, entry: Entry, stage: Path, *, force: bool) -> Copied:
    try:
        files = _files(board, entry.item)
        _refuse(files, place, Path(tempfile.mkdtemp(dir=stage)))
        return _put(files, place.settings.data_folder / HOME, stage, force=force)
    except PegboardError as error:
        hint = f"; {error.hint}" if error.hint else ""
        return Copied(entry.item.id, "refused", reason=f"{error.message}{hint}")


def _files(board: Pegboard, item: Item) -> _Files:
    record = next((each for each in board.sources() if each.name == item.source), None)
    if item.source == CREATED and item.version:
        return _created(item)
    if record is None or record.kind != FOLDER:
        raise UsageError(
            f"{item.id} comes from {item.source}, not from a folder of this project",
            f"add that source to your own board: pegboard add ... --board {HOME}",
        )
    root = Path(record.location)
    found = item_at(root / item.origin, item.namespace, board.settings.sync.max_file_bytes)
    inside = (root / item.origin).is_dir()
    base = item.origin if inside else item.origin.rpartition("/")[0]
    content = {f"{base}/{each.path}": (each.content, each.executable) for each in found.files}
    if found.signature:
        side = found.side_file.relative_to(root.resolve() if root.is_symlink() else root)
        content[side.as_posix()] = (found.signature, False)
    return _Files(item.id, item.origin, content)


def _created(item: Item) -> _Files:
    """A tool that was made on the board, as a folder would have it."""
    files = item.version.files if item.version else ()
    parts = [*filter(None, ("tools", item.category, *item.subcategory.split("/"))), item.name]
    origin = "/".join(parts)
    if any(each.path == MANIFEST for each in files):
        content = {f"{origin}/{each.path}": (each.content, each.executable) for each in files}
        return _Files(item.id, origin, content)
    return _Files(item.id, f"{origin}.py", {f"{origin}.py": (files[0].content, False)})


def _refuse(files: _Files, place: Located, trial: Path) -> None:
    """Through the gate, as the user's board would have it."""
    _write(files, trial)
    source = FolderSource(HOME, trial, namespace=DEFAULT_NAMESPACE)
    gate = sealing_of(place.settings, (Tier.USER,))
    for finding in source.scan({}):
        verdict = gate(finding) if isinstance(finding, Candidate) else finding
        if isinstance(verdict, Rejection):
            raise UsageError(verdict.reason)


def _write(files: _Files, root: Path) -> None:
    for path, (content, executable) in files.content.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        if executable:
            file.chmod(0o755)


def _put(files: _Files, home: Path, stage: Path, *, force: bool) -> Copied:
    """Each file, or the folder that the item is, at once."""
    target = home / files.origin
    there = _there(files, home)
    if there == files.digest:
        return Copied(files.id, "unchanged", str(target))
    record = _recorded(home)
    if there and there != record.get(files.origin) and not force:
        raise UsageError(
            f"{target} is not as it was copied, and is left as it is", "--force replaces it"
        )
    new = Path(tempfile.mkdtemp(dir=stage))
    _write(files, new)
    target.parent.mkdir(parents=True, exist_ok=True)
    if (new / files.origin).is_dir():
        if target.exists():
            target.rename(Path(tempfile.mkdtemp(dir=stage)) / "old")
        (new / files.origin).rename(target)
    else:
        for path in files.content:
            (new / path).replace(home / path)
        side = f"{files.origin}{SIDE}"
        if side not in files.content:
            (home / side).unlink(missing_ok=True)
    _write_record(home, record | {files.origin: files.digest})
    return Copied(files.id, "updated" if there else "copied", str(target))


def _there(files: _Files, home: Path) -> str:
    """The digest of what is at the item's place; empty if nothing is."""
    target = home / files.origin
    side = home / f"{files.origin}{SIDE}"
    if target.is_dir():
        paths = [each for each in target.rglob("*") if each.is_file()]
    else:
        paths = [each for each in (target, side) if each.is_file()]
    if not paths:
        return ""
    content = {
        each.relative_to(home).as_posix(): (
            each.read_bytes(),
            each.name != f"{target.name}{SIDE}" and os.access(each, os.X_OK),
        )
        for each in paths
        if "__pycache__" not in each.parts
    }
    return _Files(files.id, files.origin, content).digest


def _recorded(home: Path) -> dict[str, str]:
    """What was copied as; without the record, whatever is there counts as changed by hand."""
    try:
        found = json.loads((home / RECORD).read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return {str(k): str(v) for k, v in found.items()} if isinstance(found, dict) else {}


def _write_record(home: Path, record: Mapping[str, str]) -> None:
    new = home / f"{RECORD}.{os.getpid()}"
    new.write_text(json.dumps(dict(sorted(record.items())), indent=1), "utf-8")
    new.replace(home / RECORD)


def _hung(place: Located, home: Path, done: Sequence[Copied]) -> list[Copied]:
    """On the user's board; what that refuses after all is taken away again."""
    if all(each.state == "refused" for each in done):
        return list(done)
    with open_user(place, create=True) as user:
        location = str(home.resolve())
        known = next((each.name for each in user.sources() if each.location == location), "")
        name = known or user.add_folder(home, name=HOME).name
        user.sync([name])
        refused = {each.origin: each.reason for each in user.curate.rejections(name)}
    return [_settled(each, home, refused) for each in done]


def _settled(done: Copied, home: Path, refused: Mapping[str, str]) -> Copied:
    origin = Path(done.path).relative_to(home).as_posix() if done.path else ""
    if origin not in refused or done.state == "unchanged":
        return done
    target = home / origin
    if target.is_dir():
        shutil.rmtree(target)
    else:
        target.unlink(missing_ok=True)
        target.with_name(f"{target.name}{SIDE}").unlink(missing_ok=True)
    return Copied(done.id, "refused", reason=refused[origin])
