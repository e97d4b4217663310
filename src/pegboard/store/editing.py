"""What an edit does to one item, decided without a database, so that every store decides alike."""

from typing import NamedTuple

from pegboard.errors import ChangedMeanwhile
from pegboard.model.curation import KEEP, Edit, Event, etag
from pegboard.model.items import Entry
from pegboard.store.planning import Noted

LONGEST_DETAIL = 200
"""Characters of the tags that history shows."""


class Decided(NamedTuple):
    """None for whatever stays as it is."""

    own_description: bool | None
    """Whether a person describes it from now on, and not its source."""
    own_tags: bool | None
    on: bool | None
    """Whether it is switched on or off."""
    noted: tuple[Noted, ...]

    @property
    def other_words(self) -> bool:
        return (self.own_description, self.own_tags) != (None, None)


def compare(entry: Entry, expected: str | None) -> None:
    """The entry is the item as it is stored, while nobody else can change it."""
    if expected is not None and etag(entry) != expected:
        raise ChangedMeanwhile(
            f"{entry.item.id} has changed since you looked at it; nothing was written",
            "look at it again, and decide then",
        )


def decide(entry: Entry, edit: Edit) -> Decided:
    """What of the edit is to be done to an item that is stored like this."""
    own_description = _own(edit.description, entry.manual_override)
    own_tags = _own(edit.tags, entry.tags_override)
    on = _switched(entry, edit)
    events = [
        *_noted(on, Noted(Event.ACTIVATED), Noted(Event.DEACTIVATED, edit.reason)),
        *_noted(own_description, Noted(Event.DESCRIBED), Noted(Event.RESET)),
        *_noted(own_tags, Noted(Event.TAGGED, _listed(edit)), Noted(Event.RESET, "tags")),
    ]
    return Decided(own_description, own_tags, on, tuple(events))


def _noted(done: bool | None, one: Noted, other: Noted) -> list[Noted]:
    return [] if done is None else [one if done else other]


def _own(said: object, has: bool) -> bool | None:
    if said is KEEP or (said is None and not has):
        return None
    return said is not None


def _switched(entry: Entry, edit: Edit) -> bool | None:
    if edit.active is False:
        return False
    return None if edit.active is KEEP or entry.off_at is None else True


def _listed(edit: Edit) -> str:
    tags = ", ".join(edit.tags) if isinstance(edit.tags, tuple) else ""
    return tags if len(tags) <= LONGEST_DETAIL else f"{tags[:LONGEST_DETAIL]}…"
