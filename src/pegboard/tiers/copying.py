"""Chosen items of a project, copied to the user's own folder and through the gate to his board."""

import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pegboard.app.pegboard import Pegboard
from pegboard.board.publish.lock_file import sums
from pegboard.board.publish.packing import Release, release_of
from pegboard.board.publish.placing import put_in_place, standing
from pegboard.board.sync.source_kinds import FOLDER
from pegboard.board.trust.private_files import replace
from pegboard.config.parts import sealing_of
from pegboard.config.places import Located, Tier
from pegboard.errors import BoardReadOnly, PegboardError, UsageError
from pegboard.model.content import ItemFile
from pegboard.model.items import CREATED, DEFAULT_NAMESPACE, Entry, Rejection
from pegboard.ports.stages import quiet
from pegboard.sources.folder.layouts import SIDE, candidate_of, read_at
from pegboard.tiers.opening import open_user
from pegboard.tiers.pulling import read_folder

HOME = "ai"
"""The folder in the user's data folder, and the source on the user's board."""
RECORD = "copied.json"


class Copied(NamedTuple):
    """What became of an item."""

    id: str
    state: str
    """`copied`, `updated`, `unchanged` or `refused`."""
    path: str = ""
    reason: str = ""


def copy_to_user(
    board: Pegboard, place: Located, names: Sequence[str], *, every: bool, force: bool
) -> list[Copied]:
    """Copy these, or all that can be. What is refused is told, and not left lying there."""
    chosen = list(_all(board)) if every else [board.show(name) for name in names]
    home = place.settings.data_folder / HOME
    try:
        home.mkdir(parents=True, exist_ok=True)
        done = [_copied(board, place, each, home, force=force) for each in chosen]
    except OSError as error:
        raise BoardReadOnly(f"{error.filename} cannot be written: {error.strerror}") from error
    return _hung(place, home, done)


def _all(board: Pegboard) -> Iterator[Entry]:
    records = {each.name for each in board.sources() if each.kind == FOLDER}
    last: Entry | None = None
    while page := board.listed(limit=500, after=last):
        for last in page:
            if last.item.source in records or last.item.source == CREATED:
                yield board.show(last.item.reference)


def _copied(board: Pegboard, place: Located, entry: Entry, home: Path, *, force: bool) -> Copied:
    try:
        release = release_of(entry, board.sources(), board.settings.sync.max_file_bytes)
        _refuse(release, place)
        return _put(entry.item.id, release, home, force=force)
    except PegboardError as error:
        hint = f"; {error.hint}" if error.hint else ""
        return Copied(entry.item.id, "refused", reason=f"{error.message}{hint}")


def _refuse(release: Release, place: Located) -> None:
    """Through the gate, as the user's board would have it."""
    read = read_at(release.path, release.folder, release.files, release.side_file)
    if read is None:
        raise UsageError(f"{release.path} is not what a folder there would be read as")
    gate = sealing_of(place.settings, (Tier.USER,))
    verdict = gate(candidate_of(read, HOME, DEFAULT_NAMESPACE))
    if isinstance(verdict, Rejection):
        raise UsageError(verdict.reason)


def _put(item_id: str, release: Release, home: Path, *, force: bool) -> Copied:
    files = {each.path: each for each in release.files}
    new, target = _digest(files, release.side_file), home / release.path
    here = standing(home, release.path, release.folder)
    there = _digest(here.files, here.side_file) if here else ""
    if there == new:
        return Copied(item_id, "unchanged", str(target))
    record = _recorded(home)
    if there and there != record.get(release.path) and not force:
        raise UsageError(
            f"{target} is not as it was copied, and is left as it is", "--force replaces it"
        )
    put_in_place(home, release.path, release.folder, files, release.side_file)
    said = json.dumps(dict(sorted((record | {release.path: new}).items())), indent=1)
    replace(home / RECORD, said.encode(), 0o666)
    return Copied(item_id, "updated" if there else "copied", str(target))


def _digest(files: Mapping[str, ItemFile], side_file: bytes) -> str:
    said = [sums(files), hashlib.sha256(side_file).hexdigest()]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()


def _recorded(home: Path) -> dict[str, str]:
    """What was copied as; without the record, whatever is there counts as changed by hand."""
    try:
        found = json.loads((home / RECORD).read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return {str(k): str(v) for k, v in found.items()} if isinstance(found, dict) else {}


def _hung(place: Located, home: Path, done: Sequence[Copied]) -> list[Copied]:
    """On the user's board; what that refuses after all is taken away again."""
    if all(each.state == "refused" for each in done):
        return list(done)
    with open_user(place, create=True) as user:
        _, name = read_folder(user, home, quiet)
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
