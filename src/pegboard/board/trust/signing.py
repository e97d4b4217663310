"""Signing items in a folder, verifying them there or on a board, asking for it at the gate."""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from pegboard.board.sync.source_kinds import AI, FOLDER, USER_FOLDER
from pegboard.board.trust.keyring import Keyring
from pegboard.board.trust.private_files import replace
from pegboard.errors import NotTrusted, UsageError
from pegboard.gate.admission import admit
from pegboard.gate.refusal import Refused
from pegboard.gate.side_files import claimed, key_id, moment, read, written
from pegboard.gate.signatures import (
    CODES,
    Policy,
    Seal,
    State,
    Trusted,
    Verdict,
    check,
    check_kept,
    check_release,
    is_signable,
)
from pegboard.model.content import ItemFile
from pegboard.model.items import (
    DEFAULT_NAMESPACE,
    Candidate,
    Entry,
    Finding,
    Item,
    LeftOut,
    Rejection,
    SourceRecord,
    Unchanged,
)
from pegboard.ports.stages import Source


class Sealing:
    """The gate of one sync, with what its signatures are held against.

    The list of trusted keys is read once, when something that can be signed comes by.
    """

    def __init__(self, keyring: Keyring, policy: Policy, *, pulled: bool = False) -> None:
        self._keyring = keyring
        self._policy = policy
        self._pulled = pulled

    @cached_property
    def seal(self) -> Seal:
        return Seal(self._policy, self._keyring.trusted(), time.time(), self._pulled)

    def __call__(self, candidate: Candidate) -> Item | Rejection:
        verdict = admit(candidate, seal=self.seal.judge if is_signable(candidate) else None)
        return verdict._replace(origin_hash="") if _passes_with_time(verdict) else verdict

    def marked(self, record: SourceRecord, source: Source) -> Source:
        """The source, such that it reads everything again when policy or trusted keys changed."""
        signable = record.kind in (FOLDER, USER_FOLDER)
        return _Marked(source, f"{self.seal.mark}:") if signable else source


def _passes_with_time(verdict: Item | Rejection) -> bool:
    """Whether the same files may meet with another verdict later, and so must be read again."""
    if isinstance(verdict, Rejection):
        return verdict.code == CODES[State.EARLY]
    found = verdict.signature
    return found is not None and (bool(found.expires_at) or found.state == State.EARLY)


class _Marked(NamedTuple):
    """A source whose hashes hold only as long as the mark does.

    With another mark everything goes through the gate again; what it finds unchanged is not
    written again.
    """

    source: Source
    mark: str

    def scan(self, known: Mapping[str, str], under: Sequence[str] = ()) -> Iterator[Finding]:
        same = {
            origin: found.removeprefix(self.mark)
            for origin, found in known.items()
            if found.startswith(self.mark)
        }
        for finding in self.source.scan(same, under):
            if isinstance(finding, Unchanged | LeftOut) or not finding.origin_hash:
                yield finding
            else:
                yield finding._replace(origin_hash=f"{self.mark}{finding.origin_hash}")


class Found(NamedTuple):
    """An item in a folder, as the source of that folder finds it."""

    item: Item
    files: tuple[ItemFile, ...]
    signature: bytes
    side_file: Path
    folder: bool
    """Whether it is a folder of files, or one file."""


def item_at(path: Path, namespace: str, max_file_bytes: int) -> Found:
    """The item that a path is, or is a part of. Raises `UsageError` if there is none."""
    from pegboard.sources.folder.layouts import LAYOUTS, SIDE
    from pegboard.sources.folder.source import FolderSource, reach

    place = Path(os.path.normpath(path.expanduser().absolute()))
    if not place.exists():
        raise UsageError(f"there is no file {path}", "give a tool, directive, knowledge or skill")
    documents = {name: layout.document for name, layout in LAYOUTS.items()}
    root = _root(place, documents)
    inside = place.relative_to(root).as_posix().removesuffix(SIDE)
    source = FolderSource("signing", root, namespace=namespace, max_file_bytes=max_file_bytes)
    findings = source.scan({}, reach(root, [inside]))
    here = [each for each in findings if f"{inside}/".startswith(f"{each.origin}/")]
    match here:
        case [Candidate() as candidate]:
            verdict = admit(candidate)
        case [Rejection() | LeftOut() as refused]:
            raise UsageError(f"{path} is no item: {refused.reason}")
        case _:
            raise UsageError(f"{path} is no item", "give its file, or the folder that it is")
    if isinstance(verdict, Rejection):
        raise UsageError(f"{path} would be refused: {verdict.reason}", "put that right first")
    document = root / candidate.origin
    if folder := document.is_dir():
        document /= documents[inside.partition("/")[0]]
    side_file = document.with_name(f"{document.name}{SIDE}")
    return Found(verdict, candidate.files, candidate.signature, side_file, folder)


def _root(place: Path, documents: Mapping[str, str]) -> Path:
    """The folder whose `tools`, `skills` and so on a path lies in.

    That is `.ai`; where none of that name is above the path, those of an item are not meant: a
    skill may have `scripts` of its own.
    """
    names = set(filter(None, documents.values()))
    possible = [each for each in place.parents if place.relative_to(each).parts[0] in documents]
    roots = [each for each in possible if each.name == AI] or [
        folder
        for folder in possible
        if not any((each / name).is_file() for each in (folder, *folder.parents) for name in names)
    ]
    if not roots:
        raise UsageError(
            f"{place} lies in none of {', '.join(documents)}",
            "what is signed has its place there, as .ai/tools/<category>/<tool>.py",
        )
    return roots[0]


class Signed(NamedTuple):
    item: Item
    side_file: Path
    key: str
    verdict: Verdict


def sign(keyring: Keyring, found: Found, key: str | None, seconds: float | None) -> Signed:
    """Write the side file; one that is there is replaced. Nothing is written that will not do.

    It is good for so many seconds; None for as long as the key.
    """
    name, now = keyring.chosen(key), time.time()
    private = keyring.private(name)
    public = private.public_key().public_bytes_raw()
    expires_at = moment(now + seconds) if seconds else ""
    claim = claimed(found.item, found.files, key_id(public), moment(now), expires_at)
    side = written(claim, found.files, signer_name=name, public_key=public, sign=private.sign)
    verdict = check(side, found.item, found.files, keyring.trusted(), now)
    if verdict.state not in (State.TRUSTED, State.UNKNOWN):
        raise NotTrusted(f"{found.side_file} was not written: {verdict.reason}")
    try:
        replace(found.side_file, side, 0o666)
    except OSError as error:
        raise UsageError(f"{found.side_file} cannot be written: {error.strerror}") from error
    return Signed(found.item, found.side_file, name, verdict)


def verify(found: Found, trusted: Trusted) -> Verdict:
    return check(found.signature, found.item, found.files, trusted, time.time(), pulled=True)


def verify_entry(entry: Entry, trusted: Trusted) -> Verdict:
    """What is on the board, against the signature with which it came."""
    item, version = entry.item, entry.item.version
    if version is not None and version.release:
        side_file = version.side_file.encode()
        return check_release(side_file, version.release, item, trusted, time.time())
    if item.signature is None:
        return Verdict(State.UNSIGNED, "it came without a signature")
    files = version.files if version else ()
    if version is not None and version.side_file:
        return check(version.side_file.encode(), item, files, trusted, time.time(), pulled=True)
    return check_kept(item.signature, item, files, trusted, time.time())


def signed_namespace(found: Found) -> str:
    """The one that the signature beside an item is for."""
    try:
        return read(found.signature).claim.namespace
    except Refused:
        return DEFAULT_NAMESPACE
