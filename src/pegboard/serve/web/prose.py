"""Markdown as blocks and pieces, for templates to make elements of: nothing in it stays markup.

Only what is common is read: headings, paragraphs, lists, quotes, code, and in a line code, stress
and links. All else, HTML included, is shown as it is written.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

MOST_READ = 200_000
"""Characters; what comes after is left out."""
MOST_BLOCKS = 2_000
LONGEST_INLINE = 10_000
"""A longer line is shown as it is written."""

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)$")
_ENTRY = re.compile(r"([ \t]*)(?:[-*+]|(\d{1,9})[.)])[ \t]+(.*)$")
_QUOTE = re.compile(r" {0,3}> ?(.*)$")
_RULE = re.compile(r" {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$")
_INLINE = re.compile(
    r"(?P<code>(?P<ticks>`{1,3})(?P<inside>[^`]+)(?P=ticks))"
    r"|\[(?P<label>[^\[\]]{1,300})\]\((?P<to>[^()\s]{1,1000})\)"
    r"|\*\*(?P<strong>[^*]{1,1000})\*\*"
    r"|(?<![\w*])\*(?P<stress>[^*\s](?:[^*]{0,1000}[^*\s])?)\*(?![\w*])"
    r"|<(?P<bare>https?://[^\s<>]{1,1000})>"
)
_FRONT = re.compile(r"\A---[ \t]*\n.*?^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_SAFE = re.compile(r"(?:https?://|mailto:)[^\s\"'<>\\]+", re.IGNORECASE)


class Span(NamedTuple):
    text: str
    kind: str = ""
    """code, strong, stress or link; empty for what is nothing of it."""
    to: str = ""


class Block(NamedTuple):
    kind: str
    """heading, text, entry, quote, code or rule."""
    spans: tuple[Span, ...] = ()
    level: int = 0
    """Of a heading; of an entry, how deep it stands."""
    mark: str = ""
    """The number of an entry that has one."""


def blocks(text: str) -> tuple[Block, ...]:
    """Of what stands in the text; what stands before it, between lines of `---`, is no part."""
    found = list[Block]()
    for block in _blocks(_FRONT.sub("", text[:MOST_READ], count=1).splitlines()):
        if len(found) == MOST_BLOCKS:
            break
        found.append(block)
    return tuple(found)


def _blocks(lines: list[str]) -> Iterator[Block]:
    held: list[str] = []
    fence, code = "", list[str]()
    for line in lines:
        if fence:
            if _closes(line, fence):
                yield Block("code", (Span("\n".join(code)),))
                fence, code = "", []
            else:
                code.append(line)
            continue
        opens = _FENCE.match(line)
        block = None if opens else _single(line)
        if opens or block or not line.strip():
            yield from _paragraph(held)
            held = []
            fence = opens[1] if opens else ""
            if block:
                yield block
        else:
            held.append(line.strip())
    yield from _paragraph(held)
    if fence:
        yield Block("code", (Span("\n".join(code)),))


def _closes(line: str, fence: str) -> bool:
    found = line.strip()
    return len(found) >= len(fence) and not found.strip(fence[0])


def _single(line: str) -> Block | None:
    """A block that one line is."""
    if heading := _HEADING.match(line):
        return Block("heading", spans(heading[2]), len(heading[1]))
    if _RULE.match(line):
        return Block("rule")
    if entry := _ENTRY.match(line):
        depth = min(len(entry[1].expandtabs(4)) // 2, 4)
        return Block("entry", spans(entry[3]), depth, entry[2] or "")
    if quote := _QUOTE.match(line):
        return Block("quote", spans(quote[1]))
    return None


def _paragraph(lines: list[str]) -> Iterator[Block]:
    if lines:
        yield Block("text", spans("\n".join(lines)))


def spans(text: str) -> tuple[Span, ...]:
    if len(text) > LONGEST_INLINE:
        return (Span(text),)
    found = list[Span]()
    at = 0
    for match in _INLINE.finditer(text):
        found += [Span(text[at : match.start()]), _span(match)]
        at = match.end()
    found.append(Span(text[at:]))
    return tuple(each for each in found if each.text)


def _span(match: re.Match[str]) -> Span:
    if match["code"]:
        return Span(match["inside"].strip(), "code")
    if match["strong"]:
        return Span(match["strong"], "strong")
    if match["stress"]:
        return Span(match["stress"], "stress")
    label, to = match["label"] or match["bare"], match["to"] or match["bare"]
    # Anything but a plain address is shown as it is written: it could run in the reader's name.
    return Span(label, "link", to) if _SAFE.fullmatch(to) else Span(match[0])
