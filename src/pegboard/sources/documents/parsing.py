"""Bytes become data: JSON or YAML by what they look like, with noise repaired and counted.

YAML 1.1, which the parser follows, takes U+0085, U+2028 and U+2029 for line ends and forbids most
control characters; people paste both into descriptions, and tabs where spaces are needed. They
are repaired only if the document cannot be read as it is.
"""

import codecs
import json
import re
from collections.abc import Callable
from typing import NamedTuple

from pegboard.errors import SourceError
from pegboard.formats import strict_yaml
from pegboard.formats.strict_yaml import YamlError

MAX_REPAIRS = 1_000
"""So many of a kind are told of."""

_SEPARATOR = re.compile("[\x85\u2028\u2029]")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")
_BLANK = re.compile(r"(?m)^ *\t[ \t]*$")
_INDENT = re.compile(r"(?m)^ *\t[ \t]*")
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class Repair(NamedTuple):
    line: int
    what: str


class Parsed(NamedTuple):
    data: object
    repairs: tuple[Repair, ...] = ()


def parsed(content: bytes, place: str) -> Parsed:
    """Raises `SourceError` with the line, the column and the cause."""
    text = _decoded(content, place)
    start = text.lstrip()[:1]
    if start == "<":
        raise SourceError(
            f"{place} is neither JSON nor YAML: it begins with '<', as a web page does",
            "give the address of the JSON or YAML itself; the page usually links to it",
        )
    if start in ("{", "["):
        return _from_json(text, place)
    return _from_yaml(text, place)


def _decoded(content: bytes, place: str) -> str:
    encoding = next((name for bom, name in _BOMS if content.startswith(bom)), "utf-8")
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        before = content[: error.start]
        line, column = before.count(b"\n") + 1, len(before) - before.rfind(b"\n")
        raise SourceError(
            f"{place}, line {line}, column {column}: {error.reason} in {encoding}",
            "save the document as UTF-8",
        ) from error


def _from_json(text: str, place: str) -> Parsed:
    """What is no JSON may still be YAML, which begins with a brace too."""
    try:
        return Parsed(json.loads(text, parse_constant=str))
    except (ValueError, RecursionError) as error:
        try:
            return Parsed(strict_yaml.load(text))
        except YamlError as other:
            where = (other.line, other.column, other.problem)
            if isinstance(error, json.JSONDecodeError):
                where = (error.lineno, error.colno, error.msg)
        raise SourceError(
            f"{place}, line {where[0]}, column {where[1]}: {where[2]}", "mend the JSON there"
        ) from error


def _from_yaml(text: str, place: str) -> Parsed:
    """As it is if it can be read so, else with as few kinds of repair as make it readable."""
    repairs: list[Repair] = []
    try:
        return Parsed(strict_yaml.load(text))
    except YamlError as error:
        told = error
    for pattern, replacement, what in _REPAIRS:
        found = _found(text, pattern, what)
        if not found:
            continue
        text, repairs = pattern.sub(replacement, text), repairs + found
        try:
            return Parsed(strict_yaml.load(text), tuple(repairs))
        except YamlError as error:
            told = error
    raise SourceError(
        f"{place}, line {told.line}, column {told.column}: {told.problem}", "mend the YAML there"
    )


def _found(text: str, pattern: re.Pattern[str], what: str) -> list[Repair]:
    repairs, line, seen = [], 1, 0
    for found in pattern.finditer(text):
        line += text.count("\n", seen, found.start())
        seen = found.start()
        repairs.append(Repair(line, what))
        if len(repairs) == MAX_REPAIRS:
            break
    return repairs


def _spaces(found: re.Match[str]) -> str:
    """Two for each tab: that is where the second key of a list's entry belongs."""
    return found.group().replace("\t", "  ")


_REPAIRS: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str], str], ...] = (
    (_SEPARATOR, " ", "line separator inside a text, replaced by a space"),
    (_CONTROL, "", "control character, removed"),
    (_BLANK, "", "tab on a blank line, removed"),
    (_INDENT, _spaces, "tab as indentation, replaced by spaces"),
)
"""None takes away a line, so that an error still names the right one."""
