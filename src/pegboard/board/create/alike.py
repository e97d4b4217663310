"""Items of a board that are for the same as a new one."""

from typing import Protocol

from pegboard.model.answers import Answer, Hit
from pegboard.model.items import Filters, Item
from pegboard.search.look_alikes import ALIKE, likeness
from pegboard.search.query import MAX_CHARACTERS
from pegboard.text import name_key

SAME_THING = 0.99
"""The least fit at which an item that a description finds may be for the same."""
MOST_ALIKE = 3


class Search(Protocol):
    """As a board here has it, and one behind a gateway."""

    def __call__(
        self, query: str, *, limit: int, filters: Filters, threshold: float, split: bool = True
    ) -> Answer: ...


def alike(item: Item, search: Search) -> tuple[Hit, ...]:
    """Those that do the same, as far as names and descriptions tell; not the item as it was."""
    first = item.description.strip().partition("\n\n")[0]
    same_kind = Filters(kinds=(item.kind,))
    asked = (first or item.name)[:MAX_CHARACTERS]
    # A description is no question: split, each sentence would find items of its own.
    found = search(asked, limit=2 * MOST_ALIKE, filters=same_kind, threshold=0.0, split=False)
    others = [hit for hit in found.hits if (hit.id, hit.namespace) != (item.id, item.namespace)]
    return tuple(hit for hit in others if _is_like(hit, item))[:MOST_ALIKE]


def _is_like(hit: Hit, item: Item) -> bool:
    if hit.fit >= SAME_THING or name_key(hit.name) == name_key(item.name):
        return True
    with_names = likeness((hit.name, hit.description), (item.name, item.description))
    return max(with_names, likeness(("", hit.description), ("", item.description))) >= ALIKE
