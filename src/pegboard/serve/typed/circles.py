"""What leads to itself, by way of others or not."""

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

K = TypeVar("K", bound=Hashable)


def circles(starts: Iterable[K], leads: Callable[[K], Iterable[K]]) -> Iterator[list[K]]:
    """Groups of those that lead to one another, each after all groups that it leads to.

    Whatever leads to nothing that leads back is a group of its own. Tarjan's way, without
    recursion: chains may be longer than any stack.
    """
    order: dict[K, int] = {}
    low: dict[K, int] = {}
    held: dict[K, None] = {}
    for start in starts:
        path = [] if start in order else [(start, iter(leads(start)))]
        while path:
            here, ahead = path[-1]
            if here not in order:
                order[here] = low[here] = len(order)
                held[here] = None
            further = next((each for each in ahead if each not in order or each in held), None)
            if further is None:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[here])
                if low[here] == order[here]:
                    yield _taken(held, here)
            elif further in order:
                low[here] = min(low[here], order[further])
            else:
                path.append((further, iter(leads(further))))


def _taken(held: dict[K, None], first: K) -> list[K]:
    found: list[K] = []
    while not found or found[-1] != first:
        found.append(held.popitem()[0])
    return found
