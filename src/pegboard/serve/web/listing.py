"""Items in a list, page by page."""

from typing import NamedTuple

from pegboard.model.items import PUBLISHED, Drift, Entry, Filters, Kind, qualified
from pegboard.serve.http.paging import mark_of, place_of
from pegboard.serve.web.paths import category_path, item_path
from pegboard.serve.web.visits import Visit
from pegboard.text import clipped, first_sentence

LISTED = 50
LONGEST_SAID = 240


class State(NamedTuple):
    """Whether an item is offered, in a word."""

    label: str
    tone: str
    """good, warn or bad."""


class Line(NamedTuple):
    path: str
    id: str
    name: str
    kind: str
    category: str
    category_path: str
    said: str
    state: State | None
    """Only if there is something to know."""


class Listed(NamedTuple):
    lines: tuple[Line, ...]
    next: str
    """The mark that the next page begins after; empty on the last one."""


def state_of(entry: Entry) -> State:
    if entry.off_at is not None:
        return State("switched off", "bad")
    if entry.drift is Drift.MISSING:
        back = entry.item.source == PUBLISHED
        return State("taken back" if back else "gone from its source", "bad")
    if entry.drift is Drift.CHANGED:
        return State("changed" if entry.active else "held back", "warn")
    return State("active", "good") if entry.active else State("inactive", "bad")


def page_of(visit: Visit, filters: Filters) -> Listed:
    """What the filters leave, from where the address says."""
    after = place_of(visit.query.get("after", ""))
    found = visit.board.filtered(filters, after=after, limit=LISTED + 1)
    shown = found[:LISTED]
    return Listed(tuple(map(line, shown)), mark_of(shown[-1]) if len(found) > LISTED else "")


def line(entry: Entry) -> Line:
    item, state = entry.item, state_of(entry)
    return Line(
        item_path(item.namespace, item.id),
        qualified(item.namespace, item.id),
        item.name,
        item.kind.value if item.kind is not Kind.TOOL else str(item.tool_type or "tool"),
        item.category,
        category_path(item.category),
        clipped(first_sentence(item.description), LONGEST_SAID),
        state if state.label != "active" else None,
    )
