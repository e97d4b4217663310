"""What is different between two texts: line by line, and within a line word by word."""

import difflib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from pegboard.search.budget import clipped
from pegboard.serve.web.marking import Piece, Pieces

MOST_LINES = 2_000
"""Of each text; comparing takes up to the square of it."""
LONGEST_LINE = 2_000
MOST_WORDS = 300
"""Of a line, to be compared word by word."""
AROUND = 3
"""Lines shown before and after what is different."""

_WORDS = re.compile(r"\w+|\s+|.", re.DOTALL)


class Line(NamedTuple):
    sign: str
    """`+` for what is new, `-` for what is gone, empty for what both have."""
    pieces: Pieces


class Difference(NamedTuple):
    title: str
    lines: tuple[Line, ...]
    cut: bool = False


GAP = Line("…", (Piece("…"),))


def differences(before: Mapping[str, object], now: Mapping[str, object]) -> tuple[Difference, ...]:
    """Of what has the same name; what is the same in both is left out."""
    found = [difference(name, _text(before.get(name)), _text(now[name])) for name in now]
    return tuple(each for each in found if each.lines)


def difference(title: str, before: str, now: str) -> Difference:
    old, new = before.splitlines(), now.splitlines()
    cut = max(len(old), len(new)) > MOST_LINES
    old, new = ([clipped(line, LONGEST_LINE) for line in each[:MOST_LINES]] for each in (old, new))
    return Difference(title, tuple(_lines(old, new)), cut)


def _lines(old: Sequence[str], new: Sequence[str]) -> Iterator[Line]:
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for number, group in enumerate(matcher.get_grouped_opcodes(AROUND)):
        if number:
            yield GAP
        for tag, start, end, new_start, new_end in group:
            if tag == "equal":
                yield from (Line("", (Piece(line),)) for line in old[start:end])
            else:
                yield from _changed(old[start:end], new[new_start:new_end])


def _changed(old: Sequence[str], new: Sequence[str]) -> Iterator[Line]:
    """Lines that stand in one another's place are compared word by word."""
    gone, come = list[Line](), list[Line]()
    for before, now in zip_longest(old, new):
        if before is not None and now is not None:
            left, right = _within(before, now)
            gone.append(Line("-", left))
            come.append(Line("+", right))
        elif before is not None:
            gone.append(Line("-", (Piece(before),)))
        else:
            come.append(Line("+", (Piece(now or ""),)))
    yield from (*gone, *come)


def _within(before: str, now: str) -> tuple[Pieces, Pieces]:
    old, new = _WORDS.findall(before), _WORDS.findall(now)
    if max(len(old), len(new)) > MOST_WORDS:
        return (Piece(before),), (Piece(now),)
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    left, right = list[Piece](), list[Piece]()
    for tag, start, end, new_start, new_end in matcher.get_opcodes():
        left.append(Piece("".join(old[start:end]), tag != "equal"))
        right.append(Piece("".join(new[new_start:new_end]), tag != "equal"))
    return tuple(p for p in left if p.text), tuple(p for p in right if p.text)


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if not value:
        return ""
    return json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True, default=dict)
