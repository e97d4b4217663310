"""What people decide about items: how they are described, and whether they are offered at all."""

from collections.abc import Callable, Iterator, Sequence

from pegboard.board.describe import describe
from pegboard.curation import Happening, LooseLink, Tie
from pegboard.errors import ItemNotFound, UsageError
from pegboard.gate.admission import admit
from pegboard.gate.characters import first_forbidden
from pegboard.model import Candidate, Drift, Entry, Fingerprint, ItemId, Rejection
from pegboard.ports import Store

LONGEST_WORD = 2_000
"""Characters of a reason, or of a name that a decision is signed with."""


class Curating:
    def __init__(self, store: Store, target: Callable[[], Fingerprint | None]) -> None:
        self._store = store
        self._target = target
        """What new vectors must be like."""

    def chosen(self, name: str, *, files: bool = False) -> Entry:
        """The item with this name, also one that cannot be found, by its id or `namespace/id`.

        To decide about it, its files are not needed: where they lie may be out of reach.
        """
        try:
            return describe(self._store, name, files=files)
        except ItemNotFound as error:
            for namespace, item_id in _readings(name):
                if found := self._store.items.get(item_id, namespace, files=files):
                    return found
            raise ItemNotFound(
                error.message,
                'look for it: pegboard search "..." --state all; '
                "what is not active is named by its whole id",
            ) from error

    def describe(self, name: str, text: str, by: str) -> Entry:
        """Give an item a description of one's own, which holds until it is reset."""
        if not text.strip():
            raise UsageError(
                "the description is empty", "give a text, or go back to the source's with --reset"
            )
        entry, target = self.chosen(name), self._target()
        given, signed = _admitted(text), _word("by", by)
        return _still(name, self._store.curation.describe(entry, given, signed, target))

    def reset(self, name: str, by: str) -> Entry:
        """Go back to what the source says now."""
        entry, target = self.chosen(name), self._target()
        return _still(name, self._store.curation.describe(entry, None, _word("by", by), target))

    def deactivate(self, name: str, by: str, reason: str = "") -> Entry:
        """Keep an item from being found until it is activated, whatever its source says."""
        entry, why = self.chosen(name), _word("reason", reason)
        return _still(name, self._store.curation.deactivate(entry, _word("by", by), why))

    def activate(self, name: str, by: str) -> Entry:
        entry, target = self.chosen(name), self._target()
        if entry.off_at is None:
            raise UsageError(f"{entry.item.id} was not switched off", _why_hidden(entry))
        return _still(name, self._store.curation.activate(entry, _word("by", by), target))

    def ties(self, entry: Entry) -> list[Tie]:
        return self._store.curation.ties(entry.key)

    def loose_links(self) -> list[LooseLink]:
        """Links that lead nowhere."""
        return self._store.curation.loose_links()

    def history(self, name: str) -> Sequence[Happening]:
        """What became of an item, newest first; by its id also of one that is gone."""
        try:
            item = self.chosen(name).item
        except ItemNotFound:
            readings = [(name, None), *((rest, space) for space, rest in _readings(name))]
            for item_id, namespace in readings:
                if found := self._store.curation.history(item_id, namespace):
                    return found
            raise
        return self._store.curation.history(item.id, item.namespace)

    def rejections(self, source: str | None = None) -> list[Rejection]:
        """What the gate refused, of one source or of all."""
        found = self._store.ledger.rejections()
        return [each for each in found if source in (None, each.source)]


def _readings(name: str) -> Iterator[tuple[str, ItemId]]:
    """`namespace/id` as namespace and id: a namespace has at most one slash."""
    parts = name.split("/")
    for size in (1, 2):
        if len(parts) > size:
            yield "/".join(parts[:size]), ItemId("/".join(parts[size:]))


def _admitted(description: str) -> str:
    """The description, if the gate lets it through."""
    fields = {"id": "described", "name": "described", "description": description}
    verdict = admit(Candidate(source="", origin="", origin_hash="", fields=fields))
    if isinstance(verdict, Rejection):
        raise UsageError(verdict.reason)
    return description


def _word(what: str, text: str) -> str:
    if len(text) > LONGEST_WORD:
        raise UsageError(
            f"{what} has {len(text):,} characters; at most {LONGEST_WORD:,} are allowed"
        )
    if forbidden := first_forbidden(text):
        raise UsageError(f"{what} contains {forbidden}, which a reader cannot see; remove it")
    return text


def _still(name: str, entry: Entry | None) -> Entry:
    if entry is None:
        raise ItemNotFound(
            f"{name!r} was removed just now, or is not yours to change",
            "look for it: pegboard search",
        )
    return entry


def _why_hidden(entry: Entry) -> str:
    if entry.drift is Drift.MISSING:
        return "it is gone from its source, and comes back with the sync that finds it there"
    if not entry.active:
        return "it is held back until it is approved; see: pegboard changes"
    return "it is active"
