"""What people decide about items: how they are described, and whether they are offered at all."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from pegboard.board.describe.by_name import describe
from pegboard.errors import ItemNotFound, UsageError
from pegboard.gate.admission import admit
from pegboard.gate.characters import first_forbidden
from pegboard.model.curation import KEEP, Edit, Happening, LooseLink, Tie, etag
from pegboard.model.items import (
    CREATED,
    PUBLISHED,
    Candidate,
    Drift,
    Entry,
    Fingerprint,
    ItemId,
    Rejection,
    qualified,
)
from pegboard.model.runs import RunCounts
from pegboard.ports.store import Store

__all__ = ["KEEP", "Curating", "Edit", "etag"]

LONGEST_WORD = 2_000
"""Characters of a reason, or of a name that a decision is signed with."""


class About(NamedTuple):
    """All there is to say about an item."""

    entry: Entry
    ties: Sequence[Tie]
    ran: RunCounts


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

    def edit(self, name: str | Entry, edit: Edit, by: str, expected: str | None = None) -> Entry:
        """Decide several things at once, all or none, of an item as it was seen.

        `expected` is the `etag` of what was seen. Raises `ChangedMeanwhile` if it is another by
        now; without it, the decision holds whatever the item has become.
        """
        entry = self.chosen(name) if isinstance(name, str) else name
        wanted, signed = _admitted(edit), word("by", by)
        in_vain = edit.active is True and entry.off_at is None and not entry.active
        if in_vain and expected in (None, etag(entry)):
            raise UsageError(f"{entry.item.id} was not switched off", _why_hidden(entry))
        done = self._store.curation.edit(entry, wanted, signed, self._target(), expected)
        return _still(entry.item.id, done)

    def remove(self, name: str | Entry, by: str, expected: str | None = None) -> None:
        """Remove an item for good that was made on this board, if it is still what was expected."""
        entry = self.removable(name)
        if not self._store.curation.remove(entry, word("by", by), expected):
            _still(entry.item.id, None)
        self._store.curation.resolve_links()

    def removable(self, name: str | Entry) -> Entry:
        """The item, unless a source would bring it back."""
        entry = self.chosen(name) if isinstance(name, str) else name
        item = entry.item
        if item.source == PUBLISHED:
            name = qualified(item.namespace, item.id)
            raise UsageError(
                f"{item.id} was published, and is not removed: others rely on it",
                f"take its versions back: pegboard yank {name} VERSION; or: pegboard deprecate",
            )
        if item.source != CREATED:
            raise UsageError(
                f"{item.id} comes from source {item.source!r}, which would bring it back",
                f"switch it off with: pegboard deactivate {qualified(item.namespace, item.id)}; "
                f"or remove its source with all that it brought: pegboard remove {item.source}",
            )
        return entry

    def describe(self, name: str, text: str, by: str) -> Entry:
        """Give an item a description of one's own, which holds until it is reset."""
        return self.edit(name, Edit(description=text), by)

    def reset(self, name: str, by: str) -> Entry:
        """Go back to what the source says now."""
        return self.edit(name, Edit(description=None), by)

    def tag(self, name: str, tags: Sequence[str] | None, by: str) -> Entry:
        """Give an item tags of one's own, which hold until they are reset with None."""
        return self.edit(name, Edit(tags=None if tags is None else tuple(tags)), by)

    def deactivate(self, name: str, by: str, reason: str = "") -> Entry:
        """Keep an item from being found until it is activated, whatever its source says."""
        return self.edit(name, Edit(active=False, reason=reason), by)

    def activate(self, name: str, by: str) -> Entry:
        entry = self.chosen(name)
        if entry.off_at is None:
            raise UsageError(f"{entry.item.id} was not switched off", _why_hidden(entry))
        return self.edit(entry, Edit(active=True), by)

    def about(self, name: str | Entry) -> About:
        entry = self.chosen(name, files=True) if isinstance(name, str) else name
        ran = self._store.runs.counts(entry.item.id, entry.item.namespace)
        return About(entry, self.ties(entry), ran)

    def ties(self, entry: Entry) -> list[Tie]:
        return self._store.curation.ties(entry.key)

    def loose_links(self) -> list[LooseLink]:
        """Links that lead nowhere."""
        return self._store.curation.loose_links()

    def history(self, name: str | Entry) -> Sequence[Happening]:
        """What became of an item, newest first; by its id also of one that is gone."""
        if not isinstance(name, str):
            return self._store.curation.history(name.item.id, name.item.namespace)
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


def _admitted(edit: Edit) -> Edit:
    """The edit, if the gate lets through what it says."""
    said: dict[str, object] = {}
    if isinstance(edit.description, str):
        if not edit.description.strip():
            raise UsageError("the description is empty", "give a text, or reset it to the source's")
        said["description"] = edit.description
    if edit.tags is not None and edit.tags is not KEEP:
        edit = edit._replace(tags=_each_once(edit.tags))
        said["tags"] = edit.tags
    if said:
        fields = {"id": "edited", "name": "edited"} | said
        verdict = admit(Candidate(source="", origin="", origin_hash="", fields=fields))
        if isinstance(verdict, Rejection):
            raise UsageError(verdict.reason)
    if edit.reason and edit.active is not False:
        raise UsageError("there is a reason, but nothing is switched off", "leave it out")
    return edit._replace(reason=word("reason", edit.reason))


def _each_once(tags: Sequence[str]) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(tag.strip() for tag in tags))
    if "" in found:
        raise UsageError("a tag is empty", "leave it out; without any tag an item has none")
    return found


def word(what: str, text: str) -> str:
    """The text, if it is short enough, and nothing in it is hidden from a reader."""
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
