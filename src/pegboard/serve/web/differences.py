"""What is different between two texts: line by line, and within a line word by word."""

import difflib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from pegboard.serve.web.marking import Piece, Pieces
from pegboard.text import clipped

MOST_LINES = 2_000
LONGEST_LINE = 2_000
AROUND = 3
"""Lines shown before and after what is different."""

_WORDS = re.compile(r"\w+|\s+|.", re.DOTALL)


class Effort:
    """What comparing may cost: texts of a stranger could keep it busy for hours.

    It grows with the product of the lengths. When it is used up, texts stand beside one another.
    """

    def __init__(self, left: int = 3_000_000) -> None:
        self.left = left

    def spent(self, one: Sequence[str], other: Sequence[str]) -> bool:
        """Whether these two may be compared."""
        cost = len(one) * len(other)
        if cost > self.left:
            return False
        self.left -= cost
        return True


class Line(NamedTuple):
    sign: str
    """`+` for what is new, `-` for what is gone, empty for what both have."""
    pieces: Pieces


class Difference(NamedTuple):
    title: str
    lines: tuple[Line, ...]
    cut: bool = False


GAP = Line("…", (Piece("…"),))


def differences(
    before: Mapping[str, object], now: Mapping[str, object], effort: Effort | None = None
) -> tuple[Difference, ...]:
    """Of what has the same name; what is the same in both is left out."""
    shared = effort or Effort()
    found = [difference(name, _text(before.get(name)), _text(now[name]), shared) for name in now]
    return tuple(each for each in found if each.lines)


def difference(title: str, before: str, now: str, effort: Effort | None = None) -> Difference:
    old, new = before.splitlines(), now.splitlines()
    cut = max(len(old), len(new)) > MOST_LINES
    old, new = ([clipped(line, LONGEST_LINE) for line in each[:MOST_LINES]] for each in (old, new))
    return Difference(title, tuple(_lines(old, new, effort or Effort())), cut)


def _lines(old: Sequence[str], new: Sequence[str], effort: Effort) -> Iterator[Line]:
    if old == new:
        return
    if not effort.spent(old, new):
        yield from (Line("-", (Piece(line),)) for line in old)
        yield from (Line("+", (Piece(line),)) for line in new)
        return
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for number, group in enumerate(matcher.get_grouped_opcodes(AROUND)):
        if number:
            yield GAP
        for tag, start, end, new_start, new_end in group:
            if tag == "equal":
                yield from (Line("", (Piece(line),)) for line in old[start:end])
            else:
                yield from _changed(old[start:end], new[new_start:new_end], effort)


def _changed(old: Sequence[str], new: Sequence[str], effort: Effort) -> Iterator[Line]:
    """Lines that stand in one another's place are compared word by word."""
    gone, come = list[Line](), list[Line]()
    for before, now in zip_longest(old, new):
        if before is not None and now is not None:
            left, right = _within(before, now, effort)
            gone.append(Line("-", left))
            come.append(Line("+", right))
        elif before is not None:
            gone.append(Line("-", (Piece(before),)))
        else:
            come.append(Line("+", (Piece(now or ""),)))
    yield from (*gone, *come)


def _within(before: str, now: str, effort: Effort) -> tuple[Pieces, Pieces]:
    old, new = _WORDS.findall(before), _WORDS.findall(now)
    if not effort.spent(old, new):
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
