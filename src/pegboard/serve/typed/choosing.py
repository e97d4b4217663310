"""Which tools a module is for: those that are named, those that a search finds, or all."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pegboard.app.pegboard import Pegboard
from pegboard.errors import ItemNotFound
from pegboard.model.items import Entry, Filters, Item, Kind
from pegboard.text import clipped

MOST_MISSING = 10
LONGEST_NAME = 80


class Wish(NamedTuple):
    names: tuple[str, ...] = ()
    """Each is a name, or several with commas between them."""
    query: str = ""
    filters: Filters = Filters()
    limit: int = 200


class Chosen(NamedTuple):
    items: Sequence[Item]
    note: str = ""
    """What whoever reads the module should know about the choice."""


def chosen(board: Pegboard, wish: Wish) -> Chosen:
    """In the order in which they are to be named.

    That is the order in which they are asked for by name. Otherwise it is the order in which they
    came onto the board, so that a new tool takes no name away from one that was there before.
    """
    if wish.names:
        return Chosen([entry.item for entry in named(board, wish.names)])
    filters = wish.filters._replace(kinds=(Kind.TOOL,), active=True)
    if wish.query:
        entries = _found(board, wish, filters)
        note = "" if entries else "No tool fits what was asked for."
        return Chosen(_by_age(entries), note)
    entries = board.filtered(filters, limit=wish.limit + 1)
    note = ""
    if len(entries) > wish.limit:
        shown = "tool" if wish.limit == 1 else "tools"
        note = f"There are more: these are the first {wish.limit:,} {shown} in the order of ids."
    return Chosen(_by_age(entries[: wish.limit]), note)


def named(board: Pegboard, names: Sequence[str]) -> list[Entry]:
    """Tools by their names, each once. Raises `ItemNotFound` with all that are none."""
    found: dict[int, Entry] = {}
    missing = []
    for name in _apart(board, names):
        entry = _tool(board, name)
        if entry is None:
            missing.append(name)
        else:
            found[entry.key] = entry
    if missing:
        shown = [repr(clipped(each, LONGEST_NAME)) for each in missing[:MOST_MISSING]]
        more = f" and {len(missing) - len(shown)} more" if len(missing) > len(shown) else ""
        said = f"there is no tool {' or '.join(shown)}{more}"
        raise ItemNotFound(said, "look for it: pegboard search, or GET /search")
    return list(found.values())


def _apart(board: Pegboard, names: Sequence[str]) -> Iterator[str]:
    """A name may have a comma in it, and is one name if there is such a tool."""
    for name in names:
        if "," in name and _tool(board, name) is None:
            yield from filter(None, map(str.strip, name.split(",")))
        else:
            yield name


def _tool(board: Pegboard, name: str) -> Entry | None:
    try:
        entry = board.findable(name)
    except ItemNotFound:
        return None
    return entry if entry.item.kind is Kind.TOOL else None


def _found(board: Pegboard, wish: Wish, filters: Filters) -> list[Entry]:
    return board.behind(board.search(wish.query, limit=wish.limit, filters=filters).hits)


def _by_age(entries: Sequence[Entry]) -> list[Item]:
    return [entry.item for entry in sorted(entries, key=lambda entry: entry.key)]
