"""Items that are no longer what was approved: which, and how they differ."""

import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pegboard.errors import ItemAmbiguous, ItemNotFound
from pegboard.model.calls import Change
from pegboard.model.content import Json
from pegboard.model.items import ItemId

HASH = 32
"""So many digits that a server cannot make two definitions which share them."""


class Told(NamedTuple):
    """An item that is no longer what was approved, for whoever is to approve it."""

    id: ItemId
    namespace: str
    exactly: str
    """What to approve, so that nothing else is approved."""
    held: bool
    changed_at: float | None
    approved: Json
    now: Json
    diff: tuple[str, ...]


def told(change: Change) -> Told:
    entry = change.entry
    return Told(
        id=entry.item.id,
        namespace=entry.item.namespace,
        exactly=exactly(change),
        held=not entry.active,
        changed_at=entry.drift_at,
        approved=change.approved,
        now=definition(change),
        diff=tuple(diff(change)),
    )


def chosen(changes: Sequence[Change], item: str | None) -> list[Change]:
    """Those of an item, by its id, its name or `exactly`; all without one."""
    if item is None:
        return list(changes)
    exact = [each for each in changes if item in (each.entry.item.id, exactly(each))]
    named = [each for each in changes if item in (each.entry.item.short_name, each.entry.item.name)]
    found = exact or ([] if ":" in item else named)
    if not found:
        raise ItemNotFound(
            f"{item!r} is nothing that changed since it was approved",
            "see what has, as it is now: pegboard changes",
        )
    if len(found) > 1:
        choices = ", ".join(exactly(each) for each in found[:10])
        raise ItemAmbiguous(f"{item!r} could be any of: {choices}", "give one of these")
    return found


def exactly(change: Change) -> str:
    """An item as it is now, and no other."""
    return f"{change.entry.item.id}@{change.entry.content_hash[:HASH]}"


def definition(change: Change) -> dict[str, object]:
    item = change.entry.item
    return {
        "name": item.name,
        "title": item.title,
        "aliases": item.aliases,
        "description": change.entry.imported_description,
        "input_schema": item.input_schema,
        "output_schema": item.output_schema,
        "executor": item.executor,
    }


def diff(change: Change) -> Iterator[str]:
    import difflib  # nothing else needs it, and commands load this module

    before, now = change.approved, definition(change)
    for part in now:
        lines = difflib.unified_diff(
            # Definitions that were approved by an older release have no title.
            _lines(before.get(part, "")),
            _lines(now[part]),
            f"{part} approved",
            f"{part} now",
            "",
            "",
        )
        yield from (line.rstrip() for line in lines)


def _lines(value: object) -> list[str]:
    if isinstance(value, str):
        return value.splitlines()
    return json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True).splitlines()
