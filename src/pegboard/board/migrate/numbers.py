"""What a version of a Kiwi database is called on a board, where every number is semantic.

A number that is semantic stays. One that lacks parts gets zeros for them; a v before it goes, and
so do zeros before one of its parts. What is no number becomes a mark on 0.0.0; what another version
is called already gets a mark too.
"""

import itertools
import re
from collections.abc import Iterator, Sequence

from pegboard.formats import semver

SHOWN = 40
"""Characters of the old text that its mark has at most."""
_NUMBER = re.compile(
    r"\s*[vV]?([0-9]+)(?:\.([0-9]+))?(?:\.([0-9]+))?"
    r"((?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?)\s*"
)


def numbers_of(old: Sequence[str]) -> list[str]:
    """For each text of one item's versions its number, in the same order; no two are equal."""
    found: dict[int, str] = {}
    for place, text in enumerate(old):
        if _completed(text) == text and text not in found.values():
            found[place] = text
    for place, text in enumerate(old):
        if place not in found:
            found[place] = next(each for each in _numbers(text) if each not in found.values())
    return [found[place] for place in range(len(old))]


def _numbers(old: str) -> Iterator[str]:
    """All that it can be called, the best first; there is no end to them."""
    completed = _completed(old)
    if completed:
        yield completed
    start = re.split(r"[-+]", completed or "")[0]
    if not 0 < len(start) <= SHOWN:
        start = "0.0.0"
    mark = re.sub(r"[^0-9A-Za-z]+", "-", old)[:SHOWN].strip("-") or "old"
    yield f"{start}+{mark}"
    for count in itertools.count(2):
        yield f"{start}+{mark}.{count}"


def _completed(old: str) -> str | None:
    """With all three parts and no zeros before them, if it is a number then."""
    found = _NUMBER.fullmatch(old)
    if found is None:
        return None
    *parts, rest = found.groups()
    number = ".".join((part or "0").lstrip("0") or "0" for part in parts) + rest
    return number if semver.parse(number) else None
