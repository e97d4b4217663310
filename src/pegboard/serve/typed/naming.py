"""Names for code, made from whatever tools, categories and definitions are called.

A name depends on what it is made from, and on the names that were given before it. So whoever
comes later never takes a name away.
"""

import hashlib
import itertools
import keyword
import re
import unicodedata
from collections.abc import Iterable

from pegboard.serve.typed.prose import is_seen

_ASCII_WORD = re.compile(r"[A-Za-z0-9]+")
_NEW_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})")
_CAPITALS = re.compile(r"[A-Z]+(?=[A-Z][a-z]|[0-9_]|$)|[A-Z]")
_SELECTORS = "\ufe0e\ufe0f"
"""They say how an emoji is shown, and nothing by themselves."""
LONGEST = 80


def several(text: str) -> frozenset[str]:
    return frozenset(text.split())


OF_OBJECTS = several(
    "constructor hasOwnProperty isPrototypeOf propertyIsEnumerable prototype then toJSON"
    " toLocaleString toString valueOf"
)
"""What every object of JavaScript has, and what makes it something else to those who await it."""
KEYWORDS = frozenset(keyword.kwlist)


def words(text: str) -> list[str]:
    """The parts of a text that identifiers can be made of, in both languages."""
    if text.isascii():
        return _ASCII_WORD.findall(text[: LONGEST * 4])
    folded = unicodedata.normalize("NFKC", text)
    spaced = "".join(c if _is_part(c) and c != "_" else " " for c in folded[: LONGEST * 4])
    return spaced.split()


def camel(text: str, otherwise: str = "tool") -> str:
    """`create_issue` and `Create issue` as `createIssue`."""
    first, *rest = words(text) or [otherwise]
    begin = _CAPITALS.match(first)
    if begin:
        first = begin[0].lower() + first[begin.end() :]
    return _legal(first + "".join(map(_capital, rest)))


def pascal(text: str, otherwise: str = "") -> str:
    return _legal("".join(map(_capital, words(text))) or otherwise) if text else otherwise


def snake(text: str) -> str:
    """`createIssue` and `Create issue` as `create_issue`."""
    found = [_NEW_WORD.sub("_", word).lower() for word in words(text)] or ["tool"]
    return _legal("_".join(found))


def fits_python(name: str) -> bool:
    """Whether it can stand in a class or a call as it is; some names mean something else there."""
    plain = name.isascii() and name.isidentifier() and not name.startswith("__")
    return plain and name not in KEYWORDS


def _capital(word: str) -> str:
    upper = word[0].upper()
    return (upper if len(upper) == 1 else word[0]) + word[1:]


def _legal(name: str) -> str:
    """Changing case can make several characters of one, and other ones than may stand here."""
    if not name.isascii():
        name = "".join(c for c in unicodedata.normalize("NFKC", name) if _is_part(c))
    name = name[:LONGEST]
    return name if name.isidentifier() else f"_{name}"


def _is_part(character: str) -> bool:
    """Of identifiers. Some that could be parts cannot be seen."""
    return f"a{character}".isidentifier() and is_seen(character) and character not in _SELECTORS


class Names:
    """The names of one scope. No two of them differ by case alone."""

    def __init__(self, reserved: Iterable[str] = ()) -> None:
        self._taken = {_key(each) for each in reserved}

    def take(self, seed: str, *wanted: str) -> str:
        """The first of these that is free; if none is, the first with a mark made of the seed."""
        digest = hashlib.sha256(seed.encode("utf-8", "replace")).hexdigest()
        marks = itertools.chain((digest[:4], digest[:8]), itertools.count(2))
        marked = (f"{wanted[0]}_{mark}" for mark in marks)
        name = next(n for n in itertools.chain(wanted, marked) if _key(n) not in self._taken)
        self._taken.add(_key(name))
        return name


def _key(name: str) -> str:
    return unicodedata.normalize("NFKC", name.casefold())
