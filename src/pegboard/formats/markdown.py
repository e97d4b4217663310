"""Markdown cut into passages, each as long as a model takes in at once.

By headings first, then by paragraphs, then by sentences, list entries or lines of code; what is
longer still is cut between words, or anywhere. Nothing here looks at a character more than a few
times, whatever the text.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import NamedTuple

LONGEST = 900
"""Bytes of UTF-8 in a passage: about the 256 word pieces that the packaged model reads. Scripts
whose letters take more bytes take more word pieces too."""
MOST_READ = 200_000
"""Characters of a body that are looked at."""
LONGEST_HEADING = 120
BETWEEN = " > "

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(?=\S)")
_CLOSING = re.compile(r"[ \t]#+$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ENTRY = re.compile(r"[ \t]*(?:[-*+|>]|\d{1,9}[.)])(?:[ \t]|$|(?<=\|))")
_LINK = re.compile(r"!?\[([^\[\]]{0,300})\]\([^()\s]{0,500}(?:[ \t]\"[^\"\n]{0,200}\")?\)")
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？｡])")


class Cut(NamedTuple):
    heading: str
    """The headings that it stands under, from the outermost; none before the first."""
    text: str
    """On one line."""


class _Section(NamedTuple):
    path: tuple[str, ...]
    blocks: list[list[str]]
    """Lines of paragraphs, lists and code, none of them blank."""


def cut(body: str, most: int) -> list[Cut]:
    """The first passages of a body, in order. Short neighbours share one if there are too many."""
    found = [
        Cut(BETWEEN.join(section.path), text)
        for section in _sections(body)
        for text in _packed(section.blocks)
    ]
    return (found if len(found) <= most else _joined(found))[:most]


def headings(body: str) -> list[str]:
    return list(dict.fromkeys(each.path[-1] for each in _sections(body) if each.path))


def sentences(text: str) -> list[str]:
    return [each for each in _SENTENCE_END.split(text) if each]


def _sections(body: str) -> Iterator[_Section]:
    """Also those without a text of their own."""
    above: list[tuple[int, str]] = []
    section = _Section((), [[]])
    fence = ""
    for line in body[:MOST_READ].splitlines():
        mark = _FENCE.match(line)
        found = None if fence or mark else _HEADING.match(line)
        if found:
            yield section
            level = len(found[1])
            title = _plain(_CLOSING.sub("", line[found.end() :].rstrip()))
            title = title[:LONGEST_HEADING].strip()
            above = [*(each for each in above if each[0] < level), (level, title)]
            section = _Section(tuple(title for _, title in above), [[]])
        elif line.strip() or fence:
            section.blocks[-1].append(line)
        elif section.blocks[-1]:
            section.blocks.append([])
        if mark and (not fence or _closes(line, fence)):
            fence = "" if fence else mark[1]
    yield section


def _closes(line: str, fence: str) -> bool:
    found = line.strip()
    return len(found) >= len(fence) and not found.strip(fence[0])


def _packed(blocks: Iterable[list[str]]) -> Iterator[str]:
    """As many blocks to a passage as it can take; one that is too long fills several."""
    return _filled(piece for block in blocks for piece in _pieces(_parts(block)))


def _filled(pieces: Iterable[str]) -> Iterator[str]:
    held: list[str] = []
    room = LONGEST
    for piece in pieces:
        if held and _size(piece) + 1 > room:
            yield " ".join(held)
            held, room = [], LONGEST
        held.append(piece)
        room -= _size(piece) + 1
    if held:
        yield " ".join(held)


def _parts(block: list[str]) -> list[str]:
    """What a block is rather not cut within: sentences, entries of a list, lines of code."""
    lines = [" ".join(_plain(line).split()) for line in block]
    said = [line for line in lines if any(c.isalnum() for c in line)]
    if any(_ENTRY.match(line) or _FENCE.match(line) for line in block):
        return said
    return sentences(" ".join(said))


def _pieces(parts: list[str]) -> Iterator[str]:
    """A block as a whole if it can stay so, else its parts, none of them longer than a passage."""
    whole = " ".join(parts)
    if not whole or _size(whole) <= LONGEST:
        yield from filter(None, [whole])
        return
    for part in parts:
        if _size(part) <= LONGEST:
            yield part
        else:
            yield from _filled(piece for word in part.split() for piece in _slices(word))


def _slices(word: str) -> Iterator[str]:
    """A word without end, as in scripts without spaces; a mark stays with its letter."""
    step = LONGEST if word.isascii() else LONGEST // 4
    start = 0
    while start < len(word):
        end = start + step
        while end < len(word) and end > start + step // 2 and _is_mark(word[end]):
            end -= 1
        yield word[start:end]
        start = end


def _is_mark(character: str) -> bool:
    return unicodedata.category(character)[0] == "M"


def _joined(cuts: list[Cut]) -> list[Cut]:
    found = cuts[:1]
    for each in cuts[1:]:
        last = found[-1]
        more = each.text if each.heading == last.heading else f"{each.heading}: {each.text}"
        if _size(last.text) + _size(more) < LONGEST:
            found[-1] = Cut(last.heading, f"{last.text} {more}")
        else:
            found.append(each)
    return found


def _plain(text: str) -> str:
    """Links as what they are called: an address says little and is long."""
    return _LINK.sub(r"\1", text) if "](" in text else text


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
