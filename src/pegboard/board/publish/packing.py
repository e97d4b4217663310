"""A release made of what somebody has: files in a folder, or a tool on a board."""

import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from pegboard.board.publish.releasing import Parcel
from pegboard.board.sync.source_kinds import FOLDER, USER_FOLDER
from pegboard.board.trust.keyring import Keyring
from pegboard.board.trust.signing import Found, item_at
from pegboard.errors import NotTrusted, UsageError
from pegboard.formats.semver import latest, parse
from pegboard.gate.refusal import Refused
from pegboard.gate.releases import Need, Record, check_record, id_of, pack, record_hash
from pegboard.gate.side_files import claimed, key_id, moment, written
from pegboard.gate.signatures import State, check_release
from pegboard.gate.versions import UNNUMBERED
from pegboard.model.content import ItemFile
from pegboard.model.items import CREATED, DEFAULT_NAMESPACE, Entry, Item, ItemId, SourceRecord

NEEDS = ("uses", "requires")
"""Relations by which an item says what it is of no use without."""
FIRST = "1.0.0"


class Release(NamedTuple):
    """What is to be published, not yet signed."""

    item: Item
    files: tuple[ItemFile, ...]
    path: str
    folder: bool
    side_file: bytes = b""
    """The signature that lies beside it, if there is one."""

    @property
    def id(self) -> str:
        """As it is on a registry: what was made on a board lies in a folder from then on."""
        made = self.item.source == CREATED
        return id_of(self.path, self.folder) if made else self.item.id


def release_at(path: Path, max_file_bytes: int) -> Release:
    """What lies in a folder. Raises `UsageError` if that is no item."""
    return _of_found(item_at(path, DEFAULT_NAMESPACE, max_file_bytes))


def release_of(entry: Entry, sources: Iterable[SourceRecord], max_file_bytes: int) -> Release:
    """What hangs on a board, if it came from a folder or was made there."""
    item = entry.item
    if item.source == CREATED:
        return _of_created(item)
    record = next((each for each in sources if each.name == item.source), None)
    if record is None or record.kind not in (FOLDER, USER_FOLDER):
        raise UsageError(
            f"{item.id} has no files of its own: it is what {item.source!r} describes",
            "take what lies in an .ai folder, or was made with pegboard create",
        )
    return _of_found(item_at(Path(record.location) / item.origin, item.namespace, max_file_bytes))


def _of_found(found: Found) -> Release:
    return Release(found.item, found.files, found.item.origin, found.folder, found.signature)


def _of_created(item: Item) -> Release:
    files = item.version.files if item.version else ()
    folder = any(file.path == "tool.yaml" for file in files)
    parts = [*filter(None, (item.category, *item.subcategory.split("/")))]
    last = item.name if folder or not files else files[0].path
    path = "/".join(("tools", *parts, last))
    return Release(item, files, path, folder)


def recorded(
    release: Release, namespace: str, version: str, changelog: str, there: Iterable[str]
) -> Record:
    """What is said of a release. `there` are the numbers that are published already."""
    said = release.item.version.version if release.item.version else ""
    own = "" if said.startswith(UNNUMBERED) else said
    if own and version and own != version and release.item.source != CREATED:
        raise UsageError(
            f"its manifest says version {own}, and --version says {version}",
            f"write {version} into the manifest, or leave --version out",
        )
    number = version or own
    if not number:
        raise UsageError("it has no version", f"give it one: --version {_next(there)}")
    record = Record(
        id=release.id,
        kind=release.item.kind.value,
        namespace=namespace,
        version=number,
        path=release.path,
        folder=release.folder,
        changelog=changelog or (release.item.version.changelog if release.item.version else ""),
        requires=tuple(
            Need(link.target, link.range)
            for link in release.item.links
            if link.range and link.relation in NEEDS
        ),
    )
    try:
        check_record(record)
    except Refused as refused:
        raise UsageError(f"{release.path}: {refused.reason}") from refused
    return record


def _next(there: Iterable[str]) -> str:
    """A number that is free."""
    highest = parse(latest(there, early=True) or "")
    if highest is None:
        return FIRST
    step = 0 if highest.early else 1
    return f"{highest.major}.{highest.minor}.{highest.patch + step}"


def sealed(
    release: Release, record: Record, keyring: Keyring, key: str | None, seconds: float | None
) -> Parcel:
    """The bundle, signed as a release. Raises where nobody would believe it."""
    name, now = keyring.chosen(key), time.time()
    private = keyring.private(name)
    public = private.public_key().public_bytes_raw()
    try:
        bundle = pack(record, release.files)
    except Refused as refused:
        raise UsageError(f"it cannot be published: {refused.reason}") from refused
    version = release.item.version
    if version is None:
        raise UsageError(f"{record.id} has no files, and so there is nothing to publish")
    item = release.item._replace(
        id=ItemId(record.id),
        namespace=record.namespace,
        version=version._replace(version=record.version, files=release.files),
    )
    claim = claimed(
        item,
        release.files,
        key_id(public),
        moment(now),
        moment(now + seconds) if seconds else "",
        version=record.version,
        release=record_hash(record.text),
    )
    side = written(claim, release.files, signer_name=name, public_key=public, sign=private.sign)
    verdict = check_release(side, record.text, item, keyring.trusted(), now)
    if verdict.state not in (State.TRUSTED, State.UNKNOWN):
        raise NotTrusted(f"{record.reference} was not signed: {verdict.reason}")
    return Parcel(bundle, side)
