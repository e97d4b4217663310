"""The XML element of a directive, found in its Markdown and read without any of XML's dangers.

No document type, no entity, nothing from elsewhere; so many elements, so deep. What stands around
the element is Markdown and stays as it is.
"""

import re
from dataclasses import dataclass, field
from textwrap import dedent
from typing import Any, NamedTuple
from xml.etree.ElementTree import ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from pegboard.gate.limits import Limits
from pegboard.gate.refusal import Refused

ROOT = "directive"
DEEPEST = 16

_BEGIN = re.compile(r"^[ \t]*(?=<directive[\s/>])", re.MULTILINE)
_DECLARED = re.compile(r"<!(DOCTYPE|ENTITY)", re.IGNORECASE)
_OPEN_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*(?:\w+[ \t]*)?\r?\n\s*\Z", re.MULTILINE)
_CLOSE_FENCE = re.compile(r"\s*^[ \t]*(`{3,}|~{3,})[ \t]*\r?$", re.MULTILINE)
_NEXT_STEPS = {
    "mismatched tag": "close the elements in the order in which they were opened",
    "no element found": "close every element, <directive> too",
    "duplicate attribute": "give each attribute once",
    "undefined entity": "write & as &amp;; entities of your own are not allowed",
}


@dataclass(slots=True, eq=False)
class Element:
    tag: str
    attributes: dict[str, str]
    line: int
    """In the Markdown file."""
    content: list["Element | str"] = field(default_factory=list)

    @property
    def elements(self) -> list["Element"]:
        return [each for each in self.content if isinstance(each, Element)]

    def first(self, *tags: str) -> "Element | None":
        return next((each for each in self.elements if each.tag in tags), None)


class Found(NamedTuple):
    root: Element
    around: str
    """The Markdown before and after, without the fence of the element."""


class _Ended(Exception):
    """The root element is complete."""


def read_element(text: str, limits: Limits) -> Found:
    begin = _BEGIN.search(text)
    if begin is None:
        raise Refused(
            "no_directive",
            'the file has no element <directive name="..." version="...">; write one into it',
        )
    start = begin.end()
    if declared := _DECLARED.search(text, 0, start):
        raise _refused(text, declared.start(), "a document type or an entity is not allowed")
    root, end = _parsed(text, start, limits)
    if again := _BEGIN.search(text, end):
        raise _refused(text, again.end(), "a second directive begins here; give it its own file")
    return Found(root, _around(text[:start], text[end:]))


def _refused(text: str, at: int, problem: str) -> Refused:
    line = text.count("\n", 0, at) + 1
    column = at - text.rfind("\n", 0, at)
    return Refused("bad_xml", f"line {line}, column {column}: {problem}")


def _parsed(text: str, start: int, limits: Limits) -> tuple[Element, int]:
    """The element, and where it ends. It is read up to there: what follows is no XML."""
    above = text.count("\n", 0, start)
    builder = _Builder(above, limits.elements)
    parser = DefusedXMLParser(
        target=builder, forbid_dtd=True, forbid_entities=True, forbid_external=True
    )
    builder.expat = parser.parser
    rest = text[start:].encode()
    try:
        parser.feed(rest)
        parser.close()
    except _Ended:
        if not rest.startswith(b"</", builder.ended_at):
            raise _refused(text, start, "the element <directive> is empty") from None
        end = rest.index(b">", builder.ended_at) + 1
        return builder.root, start + len(rest[:end].decode())
    except ParseError as error:
        line, column = error.position
        if line == 1:
            column += start - text.rfind("\n", 0, start) - 1
        problem = str(error).partition(": line")[0]
        step = _NEXT_STEPS.get(problem, "write & as &amp; and < as &lt;")
        where = f"line {line + above}, column {column + 1}"
        raise Refused("bad_xml", f"{where}: {problem}; {step}") from error
    except DefusedXmlException as error:
        reason = f"line {above + builder.expat.CurrentLineNumber}: entities are not allowed"
        raise Refused("bad_xml", reason) from error
    raise _refused(text, start, "the element <directive> has no end")


class _Builder:
    """Takes what the parser finds, and counts."""

    def __init__(self, above: int, most: int) -> None:
        self.expat: Any = None
        self.root = Element(ROOT, {}, 0)
        self.ended_at = 0
        """Where its closing tag begins, in bytes."""
        self._above = above
        self._left = most
        self._most = most
        self._open: list[Element] = []

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        line = self._above + int(self.expat.CurrentLineNumber)
        if len(self._open) >= DEEPEST:
            reason = f"line {line}: elements are nested deeper than {DEEPEST} levels"
            raise Refused("too_deep", reason)
        self._left -= 1
        if self._left < 0:
            reason = f"line {line}: there are more than {self._most:,} elements"
            raise Refused("too_many", reason)
        element = Element(_local(tag), {_local(k): v for k, v in attributes.items()}, line)
        if len(element.attributes) < len(attributes):
            reason = f"line {line}: an attribute stands here twice, with and without a prefix"
            raise Refused("bad_xml", reason)
        if self._open:
            self._open[-1].content.append(element)
        else:
            self.root = element
        self._open.append(element)

    def end(self, tag: str) -> None:
        self._open.pop()
        if not self._open:
            self.ended_at = int(self.expat.CurrentByteIndex)
            raise _Ended

    def data(self, data: str) -> None:
        self._open[-1].content.append(data)

    def close(self) -> Element:
        return self.root


def _local(tag: str) -> str:
    """`{namespace}name` without the namespace."""
    return tag.rpartition("}")[2]


def _around(before: str, after: str) -> str:
    if fence := _OPEN_FENCE.search(before):
        before = before[: fence.start()]
        if closes := _CLOSE_FENCE.match(after):
            after = after[closes.end() :]
    return "\n\n".join(part for part in (before.strip(), after.strip()) if part)


def prose(element: Element) -> str:
    """Everything that it says, for readers: text as it is, elements on lines of their own."""
    parts: list[str] = []
    for each in element.content:
        if isinstance(each, str):
            parts.append(each)
        else:
            label = " ".join((each.tag, *each.attributes.values()))
            parts.append(f"\n{labelled(label, prose(each))}\n")
    lines = dedent("".join(parts)).strip().splitlines()
    return "\n".join(line.rstrip() for line in lines)


def labelled(label: str, text: str) -> str:
    return f"{label}: {text}" if text else label


def structure(element: Element, *, named: bool = False) -> str | dict[str, object]:
    """The same as data, with nothing left out; its tag only if it is to be `named`."""
    text = prose(Element("", {}, 0, [each for each in element.content if isinstance(each, str)]))
    if not named and not element.attributes and not element.elements:
        return text
    parts: dict[str, object] = {
        "attributes": element.attributes,
        "text": text,
        "elements": [structure(each, named=True) for each in element.elements],
    }
    return {"tag": element.tag} | {key: value for key, value in parts.items() if value}
