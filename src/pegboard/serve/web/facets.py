"""What a search can be narrowed to, and how much each choice leaves."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pegboard.model.calls import CensusLine
from pegboard.model.items import Kind, ToolType
from pegboard.serve.web.paths import category_path, search_path

FIRST = 10
"""Choices of a facet that are seen at once."""
MOST_CHOICES = 200


class Asked(NamedTuple):
    """What a search page was asked for."""

    query: str = ""
    kinds: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    state: str = ""
    mode: str = ""
    limit: int = 20
    everything: bool = False

    @property
    def narrowing(self) -> list[tuple[str, str]]:
        """The filters, as the address has them."""
        many = {
            "kind": self.kinds,
            "type": self.types,
            "source": self.sources,
            "category": self.categories,
            "tag": self.tags,
        }
        pairs = [(name, value) for name, values in many.items() for value in values]
        return pairs + ([("state", self.state)] if self.state else [])

    @property
    def pairs(self) -> list[tuple[str, str]]:
        more = {
            "mode": self.mode,
            "limit": str(self.limit) if self.limit != Asked().limit else "",
            "threshold": "0" if self.everything else "",
        }
        return [("query", self.query), *self.narrowing, *more.items()]

    @property
    def chips(self) -> list[tuple[str, str, str]]:
        """Each filter by name and value, with where the search without it is."""
        return [
            (name, value, search_path(*(pair for pair in self.pairs if pair != (name, value))))
            for name, value in self.narrowing
        ]

    @property
    def tag_text(self) -> str:
        return ", ".join(self.tags)


class Choice(NamedTuple):
    value: str
    label: str
    amount: str
    chosen: bool


class Facet(NamedTuple):
    name: str
    title: str
    first: tuple[Choice, ...]
    rest: tuple[Choice, ...] = ()
    left_out: int = 0


def facets(census: Sequence[CensusLine], asked: Asked, *, decides: bool) -> tuple[Facet, ...]:
    """Sources are counted within the categories that are chosen, and the other way round.

    `decides` is for those who may look at what is not active, too.
    """
    sources = _counted(
        (line.source, line.items)
        for line in census
        if not asked.categories or line.category in asked.categories
    )
    categories = _counted(
        (line.category, line.items)
        for line in census
        if not asked.sources or line.source in asked.sources
    )
    found = (
        _plain("kind", "Kind", list(Kind), asked.kinds),
        _plain("type", "Type of tool", list(ToolType), asked.types),
        _ranked("source", "Source", sources, asked.sources),
        _ranked("category", "Category", categories, asked.categories),
    )
    state = _plain("state", "State", ["inactive", "all"], (asked.state,))
    return (*found, state) if decides else found


def _counted(pairs: Iterable[tuple[str, int]]) -> Counter[str]:
    found: Counter[str] = Counter()
    for name, count in pairs:
        found[name] += count
    return found


def _plain(name: str, title: str, values: Sequence[str], chosen: Sequence[str]) -> Facet:
    return Facet(name, title, tuple(Choice(str(v), str(v), "", v in chosen) for v in values))


def _ranked(name: str, title: str, counts: Counter[str], chosen: Sequence[str]) -> Facet:
    """The chosen ones first, then the largest; what nothing is left of only if it is chosen."""
    names = {*counts, *chosen}
    order = sorted(names, key=lambda each: (each not in chosen, -counts[each], each))
    choices = [
        Choice(each, each or "(none)", f"{counts[each]:,}", each in chosen)
        for each in order[:MOST_CHOICES]
    ]
    return Facet(
        name, title, tuple(choices[:FIRST]), tuple(choices[FIRST:]), len(order) - len(choices)
    )


class Tallied(NamedTuple):
    name: str
    path: str
    amount: str


class Tally(NamedTuple):
    """What is on the board, in few words."""

    items: int
    categories: tuple[Tallied, ...]
    sources: tuple[Tallied, ...]


def tally(census: Sequence[CensusLine]) -> Tally:
    categories = _counted((line.category, line.items) for line in census)
    sources = _counted((line.source, line.items) for line in census)
    return Tally(
        sum(line.items for line in census),
        tuple(
            Tallied(name or "(none)", category_path(name), f"{count:,}")
            for name, count in _largest(categories)
        ),
        tuple(
            Tallied(name, search_path(("source", name)), f"{count:,}")
            for name, count in _largest(sources)
        ),
    )


def _largest(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda each: (-each[1], each[0]))[:MOST_CHOICES]
