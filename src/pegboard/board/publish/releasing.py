"""Releases on a board: published through the gate, listed, handed out, taken back.

`remote.releasing` has the same methods for a board behind a gateway.
"""

import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

from pegboard.board.curate.editing import word
from pegboard.board.describe.bounds import Place
from pegboard.board.describe.by_name import describe
from pegboard.errors import ChangedMeanwhile, ItemNotFound, NotTrusted, UsageError
from pegboard.formats.semver import parse_range
from pegboard.gate.admission import admit
from pegboard.gate.refusal import Refused
from pegboard.gate.releases import (
    Need,
    Record,
    pack,
    read_record,
    split_reference,
    unpack,
)
from pegboard.gate.signatures import CODES, Seal, State, Trusted, check_release
from pegboard.gate.versions import UNNUMBERED
from pegboard.model.content import ItemFile, Version, VersionLine
from pegboard.model.items import (
    DEFAULT_NAMESPACE,
    PUBLISHED,
    Entry,
    Fingerprint,
    Item,
    ItemId,
    Rejection,
    Visibility,
)
from pegboard.model.releases import TEAM, Action, AuditLine, Decision
from pegboard.ports.store import Store
from pegboard.sources.folder.bundle import make_file
from pegboard.sources.folder.layouts import candidate_of, read_at
from pegboard.sources.unfit import Unfit
from pegboard.store.versioning import hung

TRIES = 5


class Parcel(NamedTuple):
    """A release as it travels."""

    bundle: bytes
    side_file: bytes
    yanked: str = ""
    """Why it was taken back, if it was."""

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.bundle).hexdigest()


class Publication(NamedTuple):
    """What became of a release."""

    state: str
    """`published`, `unchanged` if the same was there, `checked` by a dry run; or `refused`."""
    namespace: str
    id: ItemId
    version: str
    latest: str = ""
    bundle: str = ""
    """The hash of its bundle."""
    code: str = ""
    reason: str = ""
    """Why it was refused."""


class Shelf(NamedTuple):
    """An item, and all versions of it that there are."""

    namespace: str
    id: ItemId
    kind: str
    description: str
    latest: str
    """The version that hangs on the board; empty if all were taken back."""
    author: str
    visibility: str
    deprecated: bool
    replacement: str
    published: bool
    versions: tuple[VersionLine, ...]

    @property
    def reference(self) -> str:
        return f"{self.namespace}/{self.id}"


def released(record: Record, files: Sequence[ItemFile], side_file: bytes, seal: Seal) -> Item:
    """The item that a release is. Raises `Refused` unless gate and signature let it pass."""
    typed = tuple(make_file(f.path, f.content, executable=f.executable) for f in files)
    read = read_at(record.path, record.folder, typed)
    if read is None:
        raise Refused(
            "bad_bundle",
            f"its files are not what a folder at {record.path} would be read as: something is"
            " missing, hidden, a cache, or a signature of its own",
        )
    try:
        candidate = candidate_of(read, PUBLISHED, record.namespace)
    except Unfit as unfit:
        raise Refused(unfit.code, unfit.reason) from unfit
    verdict = admit(candidate._replace(origin=record.id))
    if isinstance(verdict, Rejection):
        raise Refused(verdict.code, verdict.reason)
    if (verdict.id, verdict.kind) != (record.id, record.kind) or verdict.version is None:
        raise Refused("bad_record", f"its files are {verdict.id}, and its record is {record.id}")
    own = verdict.version.version
    if own != record.version and not own.startswith(UNNUMBERED):
        raise Refused(
            "bad_version",
            f"its manifest says version {own}, and it is to be published as {record.version};"
            " make them the same",
        )
    version = verdict.version._replace(
        version=record.version,
        changelog=record.changelog,
        release=record.text,
        side_file=side_file.decode("utf-8", "replace"),
    )
    item = verdict._replace(version=version)
    found = check_release(side_file, record.text, item, seal.trusted, seal.now)
    if found.state is State.UNSIGNED or not seal.passes(found.state):
        raise Refused(CODES[found.state], found.reason)
    return item._replace(signature=found.signature)


class Releasing:
    def __init__(
        self,
        store: Store,
        seal: Callable[[], Seal],
        target: Callable[[], Fingerprint | None],
        place: Callable[[str], Place],
        who: str = "",
    ) -> None:
        self._store = store
        self._seal = seal
        self._target = target
        self._place = place
        """Where whoever asks may hang something of a namespace."""
        self._who = who
        """Who asks, where that is known; then nobody acts in another name."""

    def publish(
        self,
        parcel: Parcel,
        *,
        by: str,
        visibility: str = "",
        team: bool = False,
        dry_run: bool = False,
    ) -> Publication:
        """All of it or nothing.

        What was decided about an item stays; only of a new one is the visibility taken from here.
        """
        by = self._who or by
        record, files = _unpacked(parcel)
        where = self._place(record.namespace)
        told = Publication("refused", record.namespace, ItemId(record.id), record.version)
        try:
            item = released(record, files, parcel.side_file, self._seal())
            self._refuse_unmet(record)
        except Refused as refused:
            return told._replace(code=refused.code, reason=refused.reason)
        item = _owned(item, where, by, team=team, visibility=visibility)
        if dry_run:
            return told._replace(state="checked", bundle=parcel.sha256)
        done = self._store.releases.publish(item, self._target(), by)
        if done.refused is not None:
            return told._replace(code=done.refused.code, reason=done.refused.reason)
        self._store.curation.resolve_links()
        return told._replace(state=done.state, latest=done.latest, bundle=parcel.sha256)

    def _refuse_unmet(self, record: Record) -> None:
        """Raises `Refused` if there is no version of something that it needs."""
        for need in record.requires:
            try:
                shelf = self._needed(need, record.namespace)
            except ItemNotFound as error:
                what = f"it needs {need.id}@{need.range}: {error.message}"
                raise Refused("unmet_need", what) from error
            if best(shelf, need.range) is None:
                there = ", ".join(each.number for each in shelf.versions[:5]) or "none"
                raise Refused(
                    "unmet_need",
                    f"it needs {need.id}@{need.range}, and of {shelf.reference} there is: {there};"
                    " publish that first",
                )

    def _needed(self, need: Need, namespace: str) -> Shelf:
        """The item of the same namespace goes before that of `public`."""
        for each in (namespace, DEFAULT_NAMESPACE):
            with suppress(ItemNotFound):
                return self.shelf(f"{each}/{need.id}")
        raise ItemNotFound(f"there is no {need.id} in {namespace} or {DEFAULT_NAMESPACE}")

    def shelf(self, name: str) -> Shelf:
        """All versions of an item, the latest first; also where it is switched off."""
        entry = self._chosen(name)
        item = entry.item
        lines = self._store.items.versions(item.id, item.namespace)
        published = item.source == PUBLISHED
        kept = hung((each.number, each.yanked_at is not None) for each in lines)
        newest = lines[0].number if lines else ""
        return Shelf(
            item.namespace,
            item.id,
            item.kind.value,
            item.description,
            (kept or "") if published else newest,
            item.author,
            item.visibility.value,
            item.deprecated,
            item.replacement,
            published,
            tuple(lines),
        )

    def parcel(self, name: str, number: str, *, count: bool = True) -> Parcel:
        """A version that was published, to be taken away."""
        item = self._chosen(name).item
        found = self._store.items.version(item.id, item.namespace, number)
        if found is None or not found.release:
            raise ItemNotFound(
                f"{item.reference} has no published version {number}",
                f"see those that it has: pegboard versions {item.reference}",
            )
        lines = self._store.items.versions(item.id, item.namespace)
        back = [each for each in lines if each.number == number and each.yanked_at is not None]
        why = (each.yank_reason or "no reason was given" for each in back)
        parcel = packed(found)._replace(yanked=next(why, ""))
        if count:
            self._store.releases.count_download(item.id, item.namespace, number)
        return parcel

    def version(self, name: str, number: str) -> Version:
        """Any version that is kept, published or not; without a number the one that hangs."""
        entry = self._chosen(name)
        item = entry.item
        found = self._store.items.version(item.id, item.namespace, number) if number else None
        if not number:
            found = item.version
        if found is None:
            raise ItemNotFound(
                f"{item.id} has no version {number or 'of its own'}",
                f"see those that it has: pegboard versions {item.id}",
            )
        return found

    def yank(self, name: str, number: str, *, yanked: bool, reason: str, by: str) -> bool:
        """Take a version back, or take that back; says whether that changed anything."""
        by, reason = self._who or by, word("reason", reason)
        for _ in range(TRIES):
            entry = self._published(name)
            item = entry.item
            lines = self._store.items.versions(item.id, item.namespace)
            if number not in {each.number for each in lines}:
                there = ", ".join(each.number for each in lines[:20])
                raise ItemNotFound(f"{item.id} has no version {number}", f"it has: {there}")
            after = {each.number: each.yanked_at is not None for each in lines} | {number: yanked}
            becomes = self._item_of(entry, hung(after.items()))
            try:
                return self._store.releases.yank(
                    entry,
                    number,
                    yanked=yanked,
                    by=by,
                    reason=reason,
                    becomes=becomes,
                    target=self._target(),
                )
            except ChangedMeanwhile:
                continue
        raise ChangedMeanwhile(f"{name} changes faster than it can be read", "try it again")

    def _item_of(self, entry: Entry, number: str | None) -> Item | None:
        if number is None:
            return None
        item = entry.item
        version = self._store.items.version(item.id, item.namespace, number)
        if version is None:
            raise ChangedMeanwhile(f"{item.id} has changed meanwhile", "try it again")
        record = read_record(version.release.encode())
        seal = self._seal()
        try:
            found = released(record, version.files, version.side_file.encode(), seal)
        except Refused as refused:
            raise NotTrusted(
                f"{item.id} would become {number}, which is refused by now: {refused.reason}",
                f"take that back first: pegboard yank {item.reference} {number}",
            ) from refused
        return found._replace(author=item.author)

    def decide(self, name: str, decision: Decision, by: str) -> Shelf:
        word("owner", decision.owner or "")
        word("replacement", decision.replacement or "")
        entry = self._published(name)
        if self._store.releases.decide(entry, decision, self._who or by) is None:
            raise ItemNotFound(f"{name} is gone")
        return self.shelf(entry.item.reference)

    def audit(self, name: str | None = None, limit: int = 100) -> Sequence[AuditLine]:
        """Newest first; of what is gone as well, by its whole id."""
        if name is None:
            return self._store.releases.audit(limit=limit)
        namespace, item_id = split_reference(name)
        return self._store.releases.audit(item_id, namespace or None, limit)

    def signers(self) -> Trusted:
        """Whom this board believes, by the ids of their keys."""
        return self._seal().trusted

    def note_trust(self, by: str) -> None:
        """Write down whom this board believes, if that is not what was written last."""
        seal = self._seal()
        keys = sorted(seal.trusted.values(), key=lambda each: each.name)
        said = {
            Action.POLICY: f"signatures of releases: {seal.policy}",
            Action.TRUST: "; ".join(each.told for each in keys) or "nobody",
        }
        for action, detail in said.items():
            last = self._store.releases.audit(action=action, limit=1)
            if not last or last[0].detail != detail:
                self._store.releases.note(AuditLine(self._store.now(), by, action, detail=detail))

    def _chosen(self, name: str) -> Entry:
        """Also what is switched off, taken back, or unlisted."""
        namespace, item_id = split_reference(name)
        found = None
        if ":" in item_id:
            found = self._store.items.get(ItemId(item_id), namespace or DEFAULT_NAMESPACE)
        return found or describe(self._store, name)

    def _published(self, name: str) -> Entry:
        entry = self._chosen(name)
        if entry.item.source != PUBLISHED:
            raise UsageError(
                f"{entry.item.id} was not published here: it came from {entry.item.source!r}",
                "only versions that were published can be decided about in this way",
            )
        return entry


def best(shelf: Shelf, wanted: str, *, early: bool = False) -> str | None:
    """The highest version in a range that was not taken back."""
    found = parse_range(wanted)
    able = [each.number for each in shelf.versions if each.yanked_at is None]
    return found.best(able, early=early) if found else None


def packed(version: Version) -> Parcel:
    """A version that was published, as it came."""
    record = read_record(version.release.encode())
    return Parcel(pack(record, version.files), version.side_file.encode())


def _unpacked(parcel: Parcel) -> tuple[Record, tuple[ItemFile, ...]]:
    try:
        return unpack(parcel.bundle)
    except Refused as refused:
        raise UsageError(f"the bundle is refused: {refused.reason}", "pack it again") from refused


def _owned(item: Item, where: Place, by: str, *, team: bool, visibility: str) -> Item:
    """As new; of an item that is there, what was decided stays."""
    author = f"{TEAM}{item.namespace}" if team else where.author or by
    chosen = Visibility(visibility) if visibility else item.visibility
    if team and chosen is Visibility.PRIVATE:
        raise UsageError(
            "what belongs to a team cannot be private: nobody in particular would see it",
            "publish it as public or unlisted, or without --team",
        )
    return item._replace(author=author, official=False, visibility=chosen)
