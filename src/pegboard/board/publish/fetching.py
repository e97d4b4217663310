"""What is pulled from a registry: resolved with all that it needs, fetched, and believed."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from pegboard.board.publish.lock_file import Locked, sums
from pegboard.board.publish.releasing import Parcel, Shelf, released
from pegboard.errors import ItemNotFound, NotTrusted, UsageError
from pegboard.formats.semver import ANY, is_early, parse, parse_range, precedence
from pegboard.gate.refusal import Refused
from pegboard.gate.releases import Record, split_reference, unpack
from pegboard.gate.signatures import Seal
from pegboard.model.content import ItemFile
from pegboard.model.items import DEFAULT_NAMESPACE

MOST_ROUNDS = 200
"""Times that a version is chosen before it is given up that all fit together."""


class Registry(Protocol):
    def shelf(self, name: str) -> Shelf: ...

    def parcel(self, name: str, number: str, *, count: bool = True) -> Parcel: ...


class Want(NamedTuple):
    """What somebody asks for."""

    name: str
    range: str = ""
    early: bool = False
    by: str = ""
    """The item that needs it; empty for a person."""

    @property
    def exact(self) -> bool:
        return parse(self.range) is not None


class Got(NamedTuple):
    """A release that was fetched and believed."""

    record: Record
    files: Mapping[str, ItemFile]
    side_file: bytes
    locked: Locked
    notes: tuple[str, ...]


class Fetching:
    """One pull: what is wanted, what fits it, and all that those need."""

    def __init__(
        self,
        registry: Registry,
        seal: Seal,
        lock: Mapping[str, Locked],
        *,
        count: bool = True,
    ) -> None:
        self._registry = registry
        self._seal = seal
        self._lock = lock
        self._counts = count
        """Whether what is new here counts as a download."""
        self._shelves: dict[str, Shelf] = {}
        self._wants: dict[str, list[Want]] = {}
        self._parcels: dict[tuple[str, str], Got] = {}

    def all(self, wants: Sequence[Want]) -> list[Got]:
        """What is needed comes before what needs it.

        Versions are chosen by all who want them, and what they need changes who wants what; so it
        is done again until nothing changes.
        """
        chosen: dict[str, Got] = {}
        for _ in range(MOST_ROUNDS):
            needs = [
                Want(name, range_, by=reference)
                for reference, got in chosen.items()
                for name, range_ in got.locked.requires.items()
            ]
            self._wants = {}
            for want in (*wants, *needs):
                self._wants.setdefault(self._shelf(want.name).reference, []).append(want)
            self._add_locked_needs()
            found = {
                reference: self._fetched(self._shelf(reference), self._number(reference))
                for reference in self._wants
            }
            if found == chosen:
                return [self._asked_for(each) for each in _in_order(chosen)]
            chosen = found
        raise UsageError("what these items need never fits together", "ask for exact versions")

    def _add_locked_needs(self) -> None:
        """What was pulled before, and stays as it is, needs what it needed."""
        for reference, locked in self._lock.items():
            for name, range_ in locked.requires.items():
                if reference not in self._wants and name in self._wants:
                    self._wants[name].append(Want(name, range_, by=reference))

    def _asked_for(self, got: Got) -> Got:
        """With what a person asked for, now or before."""
        reference = got.record.reference
        kept = self._lock.get(reference)
        direct = [want.range or ANY for want in self._wants[reference] if not want.by]
        range_ = direct[-1] if direct else kept.range if kept else ""
        return got._replace(locked=got.locked._replace(range=range_))

    def as_locked(self) -> list[Got]:
        """Exactly what the lock file says, whatever else there is by now."""
        found = []
        for reference, locked in self._lock.items():
            self._wants[reference] = [Want(reference, locked.version)]
            found.append(self._fetched(self._shelf(reference), locked.version, like=locked))
        return found

    def _shelf(self, name: str) -> Shelf:
        if name not in self._shelves:
            found = self._offered(name)
            _refuse_another(name, found)
            if not found.published:
                raise UsageError(
                    f"{found.reference} hangs on the registry and was not published there",
                    "there is nothing to pull; it can be run where it is",
                )
            self._shelves[name] = self._shelves[found.reference] = found
        return self._shelves[name]

    def _offered(self, name: str) -> Shelf:
        try:
            return self._registry.shelf(name)
        except ItemNotFound as error:
            raise ItemNotFound(
                f"there is no item {name!r} in the registry, or none that you may see",
                'look for it: pegboard search "..." --tier registry',
            ) from error

    def _number(self, reference: str) -> str:
        """The version that fits all who want this item."""
        shelf, wants = self._shelf(reference), self._wants[reference]
        for want in wants:
            if want.exact and want.range in {each.number for each in shelf.versions}:
                self._refuse_unfit(shelf, want.range)
                return want.range
        early = any(want.early for want in wants)
        able = [each.number for each in shelf.versions if each.yanked_at is None]
        for text in dict.fromkeys(want.range or ANY for want in wants):
            wanted = parse_range(text)
            able = [each for each in able if wanted and wanted.allows(each, early=early)]
        kept = self._lock.get(reference)
        if kept and kept.version in able and all(want.by for want in wants):
            return kept.version
        if not able:
            raise self._nothing(shelf, early)
        number = max(able, key=precedence)
        self._refuse_older(shelf, number, kept)
        return number

    def _refuse_unfit(self, shelf: Shelf, number: str) -> None:
        for want in self._wants[shelf.reference]:
            wanted = parse_range(want.range or ANY)
            if wanted is None or not wanted.allows(number, early=True):
                whose = want.by or "you"
                raise UsageError(f"{whose} asked for {shelf.reference}@{want.range}, not {number}")

    def _nothing(self, shelf: Shelf, early: bool) -> ItemNotFound:
        there = [each.number for each in shelf.versions if each.yanked_at is None]
        asked = ", ".join(
            f"{want.by or 'you'}: {want.range or ANY}" for want in self._wants[shelf.reference]
        )
        if not there:
            return ItemNotFound(f"all versions of {shelf.reference} were taken back")
        if not early and all(is_early(each) for each in there):
            return ItemNotFound(
                f"of {shelf.reference} there are only pre-releases: {', '.join(there[:5])}",
                "ask for one with --pre, or by its number",
            )
        return ItemNotFound(
            f"no version of {shelf.reference} fits ({asked})", f"there are: {', '.join(there[:20])}"
        )

    def _refuse_older(self, shelf: Shelf, number: str, kept: Locked | None) -> None:
        """Whoever answers with an old state is not to be believed without a word."""
        if kept is None or precedence(kept.version) <= precedence(number):
            return
        lines = {each.number: each for each in shelf.versions}
        gone = kept.version not in lines
        if not gone and lines[kept.version].yanked_at is not None:
            return
        if any(want.range for want in self._wants[shelf.reference] if not want.by) and not gone:
            return
        raise NotTrusted(
            f"the registry offers {shelf.reference} {number}, and {kept.version} was pulled before"
            + (", which it no longer knows" if gone else ""),
            f"if that is right, ask for it by its number: {shelf.reference}@{number}",
        )

    def _fetched(self, shelf: Shelf, number: str, like: Locked | None = None) -> Got:
        known = (shelf.reference, number)
        if known not in self._parcels:
            self._parcels[known] = self._opened(shelf, number, like)
        return self._parcels[known]

    def _opened(self, shelf: Shelf, number: str, like: Locked | None) -> Got:
        before = self._lock.get(shelf.reference)
        new = before is None or before.version != number
        parcel = self._registry.parcel(shelf.reference, number, count=self._counts and new)
        what = f"{shelf.reference}@{number}"
        try:
            record, files = unpack(parcel.bundle)
            item = released(record, files, parcel.side_file, self._seal)
        except Refused as refused:
            raise NotTrusted(f"{what} was not pulled: {refused.reason}") from refused
        if (record.reference, record.version) != (shelf.reference, number):
            raise NotTrusted(
                f"{what} was asked for, and the registry handed out"
                f" {record.reference}@{record.version}"
            )
        kept = like or self._lock.get(shelf.reference)
        if kept and kept.version == number and kept.bundle != parcel.sha256:
            raise NotTrusted(
                f"{what} is not what it was when it was pulled first: the hash in the lock file is"
                f" {kept.bundle[:12]}…, and now it is {parcel.sha256[:12]}…",
                "a version never changes; ask whoever runs the registry",
            )
        needs = {self._needed(need.id, record.namespace): need.range for need in record.requires}
        listed = {file.path: file for file in files}
        locked = Locked(
            version=number,
            range=like.range if like else "",
            bundle=parcel.sha256,
            signer=item.signature.signer if item.signature else "",
            path=record.path,
            folder=record.folder,
            files=sums(listed),
            requires=needs,
        )
        notes = [f"{what} was taken back: {parcel.yanked}"] if parcel.yanked else []
        if shelf.deprecated:
            instead = f"; use {shelf.replacement} instead" if shelf.replacement else ""
            notes.append(f"{shelf.reference} is deprecated{instead}")
        if item.signature and item.signature.doubtful:
            notes.append(f"{what}: its signature is not trusted ({item.signature.state})")
        return Got(record, listed, parcel.side_file, locked, tuple(notes))

    def _needed(self, item_id: str, namespace: str) -> str:
        """As whoever needs it would find it: in the same namespace, else in `public`."""
        for each in dict.fromkeys((namespace, DEFAULT_NAMESPACE)):
            try:
                return self._shelf(f"{each}/{item_id}").reference
            except ItemNotFound as error:
                missing = error
        raise ItemNotFound(f"{item_id} is needed, and not there: {missing.message}", missing.hint)


def _refuse_another(name: str, found: Shelf) -> None:
    """Whoever is asked for one item does not choose another."""
    namespace, item_id = split_reference(name)
    if ":" in name and (found.id != item_id or namespace not in ("", found.namespace)):
        raise NotTrusted(f"{name} was asked for, and the registry answers with {found.reference}")


def _in_order(chosen: Mapping[str, Got]) -> list[Got]:
    """What is needed before what needs it; a circle is cut somewhere."""
    done: dict[str, Got] = {}
    begun: set[str] = set()
    ahead = [(reference, False) for reference in reversed(list(chosen))]
    while ahead:
        reference, complete = ahead.pop()
        if complete:
            done[reference] = chosen[reference]
        elif reference not in begun:
            begun.add(reference)
            ahead.append((reference, True))
            ahead += [(each, False) for each in chosen[reference].locked.requires]
    return list(done.values())
