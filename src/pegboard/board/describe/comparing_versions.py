"""What is different between two versions of an item, file by file."""

import difflib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pegboard.model.content import ItemFile, Version
from pegboard.text import clipped

MOST_LINES = 2_000
"""Of one file; what comes after is not compared."""
LONGEST_LINE = 2_000
AROUND = 3
"""Lines shown before and after what is different."""
MOST_TEXT = 1_000_000
"""Characters of all differences together."""
EFFORT = 10_000_000
"""What comparing may cost; it grows with the product of the numbers of lines."""


class Pair(NamedTuple):
    """A file that is not the same in both versions."""

    path: str
    state: str
    """`added`, `removed`, `changed`, or `mode` if only whether it can be run has changed."""
    before: str | None
    """Its text; None if there is none, or if it is no text."""
    after: str | None
    binary: bool


class FileDifference(NamedTuple):
    path: str
    state: str
    """`added`, `removed`, `changed`, or `mode` if only whether it can be run has changed."""
    binary: bool = False
    """Whether it is no text, and so only named."""
    lines: tuple[str, ...] = ()
    """As `diff -u` writes them, without what ends them."""
    cut: bool = False
    """Whether there is more than is shown."""


def pairs(old: Version, new: Version) -> list[Pair]:
    """By path; what is the same in both is left out."""
    before = {each.path: each for each in old.files}
    after = {each.path: each for each in new.files}
    found = (_pair(path, before.get(path), after.get(path)) for path in sorted({*before, *after}))
    return [each for each in found if each is not None]


def differing(old: Version, new: Version) -> list[FileDifference]:
    room, effort = MOST_TEXT, EFFORT
    found = []
    for each in pairs(old, new):
        one, other = (_lines(text) for text in (each.before, each.after))
        cost = len(one) * len(other)
        told = _difference(each, one, other, room, alike=cost <= effort)
        effort -= cost if cost <= effort else 0
        room -= sum(map(len, told.lines))
        found.append(told)
    return found


def _pair(path: str, old: ItemFile | None, new: ItemFile | None) -> Pair | None:
    if old is not None and new is not None:
        same = old.sha256 == new.sha256
        if same and old.executable == new.executable:
            return None
        state = "mode" if same else "changed"
    else:
        state = "removed" if new is None else "added"
    texts = [None if each is None else each.text for each in (old, new)]
    binary = any(
        each is not None and text is None for each, text in zip((old, new), texts, strict=True)
    )
    return Pair(path, state, texts[0], texts[1], binary)


def _lines(text: str | None) -> list[str]:
    """One more than is compared, if there are more."""
    found = (text or "").split("\n", MOST_LINES + 1)[: MOST_LINES + 1]
    if found and not found[-1]:
        found.pop()
    return [clipped(line.removesuffix("\r"), LONGEST_LINE) for line in found]


def _difference(
    pair: Pair, old: Sequence[str], new: Sequence[str], room: int, *, alike: bool
) -> FileDifference:
    told = FileDifference(pair.path, pair.state, pair.binary)
    if pair.binary or pair.state == "mode":
        return told
    cut = max(len(old), len(new)) > MOST_LINES
    one, other = old[:MOST_LINES], new[:MOST_LINES]
    lines = list[str]()
    for line in _unified(one, other) if alike else _beside(one, other):
        room -= len(line)
        if room < 0:
            cut = True
            break
        lines.append(line)
    return told._replace(lines=tuple(lines), cut=cut)


def _unified(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """Without the names, which are told beside it."""
    found = difflib.unified_diff(old, new, n=AROUND, lineterm="")
    for number, line in enumerate(found):
        if number > 1:
            yield line


def _beside(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """All of both, where comparing them would take too long."""
    yield f"@@ -1,{len(old)} +1,{len(new)} @@"
    yield from (f"-{line}" for line in old)
    yield from (f"+{line}" for line in new)
