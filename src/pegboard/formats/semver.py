"""Version numbers and ranges of them, as https://semver.org and npm write them.

`1.2.3`, `1.2.3-rc.1`; `^1.2`, `~1.2.3`, `>=1.2 <2`, `1.x`, `1 - 2`, `*`, and several with `||`.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple

ANY = "*"
LONGEST = 100

_NUMERIC = r"(?:0|[1-9][0-9]{0,17})"
_EARLY = r"(?:0|[1-9][0-9]{0,17}|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_VERSION = re.compile(
    rf"({_NUMERIC})\.({_NUMERIC})\.({_NUMERIC})(?:-({_EARLY}(?:\.{_EARLY})*))?"
    r"(?:\+([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?"
)
_PART = rf"(?:{_NUMERIC}|[xX*])"
_PARTIAL = re.compile(
    rf"[v=\s]*({_PART})(?:\.({_PART})(?:\.({_PART})(?:-({_EARLY}(?:\.{_EARLY})*))?"
    r"(?:\+[0-9A-Za-z.-]+)?)?)?"
)
_COMPARATOR = re.compile(r"(\^|~>?|>=|<=|>|<|=|)\s*([^\s<>=^~|]+)")
_HYPHEN = re.compile(r"\s*(\S+)\s+-\s+(\S+)\s*")


_BEGINNINGS = frozenset("^~<>=v*xX0123456789")
"""Of a range that stands behind a name."""


class Number(NamedTuple):
    major: int
    minor: int
    patch: int
    early: tuple[str, ...] = ()
    """What makes it a pre-release: `("rc", "1")`."""

    @property
    def order(self) -> tuple[object, ...]:
        """By which numbers are compared."""
        parts = [(0, int(each), "") if each.isdigit() else (1, 0, each) for each in self.early]
        return self.major, self.minor, self.patch, not parts, parts

    @property
    def core(self) -> tuple[int, int, int]:
        return self[:3]

    def __str__(self) -> str:
        early = f"-{'.'.join(self.early)}" if self.early else ""
        return f"{self.major}.{self.minor}.{self.patch}{early}"


def parse(text: str) -> Number | None:
    """None for what is no version; what stands behind a + does not count."""
    found = _VERSION.fullmatch(text) if len(text) <= LONGEST else None
    if found is None:
        return None
    major, minor, patch, early, _ = found.groups()
    return Number(int(major), int(minor), int(patch), tuple(early.split(".")) if early else ())


def precedence(text: str) -> tuple[object, ...]:
    """By which versions are ordered; empty for what is none, which so comes before all others."""
    number = parse(text)
    return number.order if number else ()


def is_early(text: str) -> bool:
    """Whether it is a pre-release."""
    number = parse(text)
    return number is not None and bool(number.early)


def latest(numbers: Iterable[str], *, early: bool = False) -> str | None:
    """The highest, pre-releases left out unless they are asked for."""
    able = [each for each in numbers if precedence(each) and (early or not is_early(each))]
    return max(able, key=lambda each: (precedence(each), each), default=None)


class _Bound(NamedTuple):
    sign: str
    """`>=`, `>`, `<`, `<=` or `=`."""
    number: Number

    def allows(self, number: Number) -> bool:
        mine, other = number.order, self.number.order
        match self.sign:
            case ">=":
                return mine >= other
            case ">":
                return mine > other
            case "<":
                return mine < other
            case "<=":
                return mine <= other
        return mine == other


class Range(NamedTuple):
    text: str
    ways: tuple[tuple[_Bound, ...], ...]
    """Any of them will do, and of one of them all bounds must hold."""

    def allows(self, text: str, *, early: bool = False) -> bool:
        """A pre-release only where the range names one of the same release, or all are wanted."""
        number = parse(text)
        return number is not None and any(_fits(number, way, early) for way in self.ways)

    def best(self, numbers: Iterable[str], *, early: bool = False) -> str | None:
        return latest((each for each in numbers if self.allows(each, early=early)), early=True)


def _fits(number: Number, way: tuple[_Bound, ...], early: bool) -> bool:
    if not all(bound.allows(number) for bound in way):
        return False
    named = (bound.number for bound in way if bound.number.early)
    return early or not number.early or any(each.core == number.core for each in named)


@lru_cache(maxsize=1_000)
def parse_range(text: str) -> Range | None:
    """None for what is no range."""
    if len(text) > LONGEST:
        return None
    ways = [_way(each) for each in text.split("||")]
    if any(way is None for way in ways):
        return None
    return Range(text, tuple(way for way in ways if way is not None))


def split(text: str) -> tuple[str, str]:
    """`name@^1.2` as its two parts; what has no range behind an @ is a name as a whole."""
    name, at, range_ = text.rpartition("@")
    if not at or not name or range_[:1] not in _BEGINNINGS or parse_range(range_) is None:
        return text, ""
    return name, range_


def _way(text: str) -> tuple[_Bound, ...] | None:
    if between := _HYPHEN.fullmatch(text):
        low, high = _partial(between[1]), _partial(between[2])
        if low is None or high is None:
            return None
        return (*_least(low), *_most(high))
    bounds: list[_Bound] = []
    rest = text.strip()
    while rest:
        found = _COMPARATOR.match(rest)
        partial = _partial(found[2]) if found else None
        if found is None or partial is None:
            return None
        bounds += _bounds(found[1], partial)
        rest = rest[found.end() :].lstrip()
    return tuple(bounds)


class _Partial(NamedTuple):
    parts: tuple[int, ...]
    """As many as are given; none for `*`."""
    early: tuple[str, ...]

    @property
    def number(self) -> Number:
        major, minor, patch = (*self.parts, 0, 0, 0)[:3]
        return Number(major, minor, patch, self.early)

    def after(self, place: int) -> Number:
        """The first number beyond all that agree up to this place; a pre-release of it is too."""
        parts = [*self.number.core[:place], self.number.core[place] + 1, 0, 0][:3]
        return Number(parts[0], parts[1], parts[2], ("0",))


def _partial(text: str) -> _Partial | None:
    found = _PARTIAL.fullmatch(text)
    if found is None:
        return None
    said = [each for each in found.groups()[:3] if each is not None]
    given = [*takewhile(str.isdigit, said)]
    if any(each.isdigit() for each in said[len(given) :]) or (found[4] and len(given) < 3):
        return None  # as 1.x.3
    return _Partial(tuple(map(int, given)), tuple(found[4].split(".")) if found[4] else ())


def _least(low: _Partial) -> list[_Bound]:
    return [_Bound(">=", low.number)] if low.parts else []


def _most(high: _Partial) -> list[_Bound]:
    if not high.parts:
        return []
    if len(high.parts) == 3:
        return [_Bound("<=", high.number)]
    return [_Bound("<", high.after(len(high.parts) - 1))]


def _bounds(sign: str, given: _Partial) -> list[_Bound]:
    places = len(given.parts)
    if not places:
        nothing = _Bound("<", Number(0, 0, 0, ("0",)))
        return [nothing] if sign in ("<", ">") else []
    match sign:
        case "^":
            core = given.number.core
            first = next((place for place in range(places) if core[place]), places - 1)
            return [_Bound(">=", given.number), _Bound("<", given.after(first))]
        case "~" | "~>":
            return [_Bound(">=", given.number), _Bound("<", given.after(min(places, 2) - 1))]
        case ">":
            if places == 3:
                return [_Bound(">", given.number)]
            return [_Bound(">=", given.after(places - 1)._replace(early=()))]
        case ">=":
            return [_Bound(">=", given.number)]
        case "<":
            early = given.early if places == 3 else ("0",)
            return [_Bound("<", given.number._replace(early=early))]
        case "<=":
            return _most(given)
    if places == 3:
        return [_Bound("=", given.number)]
    return [_Bound(">=", given.number), _Bound("<", given.after(places - 1))]
