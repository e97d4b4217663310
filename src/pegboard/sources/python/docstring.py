"""What a docstring says about each parameter and about the result.

Google, NumPy and reST styles are read, each line once, so that the time is linear in the text.
"""

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

_PARAMETERS = frozenset(
    {
        "args",
        "arguments",
        "parameters",
        "params",
        "other parameters",
        "keyword args",
        "keyword arguments",
    }
)
_RESULTS = frozenset({"returns", "return", "yields", "yield"})
_LONGEST_HEADING = max(map(len, _PARAMETERS | _RESULTS)) + 1
_REST_PARAMETERS = frozenset({"param", "parameter", "arg", "argument", "key", "keyword"})
_REST_RESULTS = frozenset({"return", "returns"})

_NAME = r"[*\\`]*[^\W\d]\w*`*"
_NAMES = re.compile(rf"{_NAME}(?:\s*,\s*{_NAME})*")
_UNDERLINE = re.compile(r"\s*-{3,}\s*")


class Docstring(NamedTuple):
    parameters: Mapping[str, str] = MappingProxyType({})
    returns: str = ""


def clean(text: str) -> str:
    """`inspect.cleandoc`, without its quadratic time on a text that begins with blank lines."""
    body = text.lstrip()
    _, newline, indent = text[: len(text) - len(body)].rpartition("\n")
    return inspect.cleandoc(newline + indent + body if newline else text)


def parse(text: str) -> Docstring:
    lines = text.expandtabs().split("\n")
    parameters: dict[str, str] = {}
    returns = ""
    at = 0
    while at < len(lines):
        start = at
        for reader in (_numpy, _google, _rest):
            at, names, result = reader(lines, at)
            if at > start:
                for name, description in names:
                    parameters.setdefault(name, description)
                returns = returns or result
                break
        else:
            at += 1
    return Docstring(parameters, returns)


_Block = tuple[int, Iterator[tuple[str, str]], str]
"""The line after the block, the parameters it describes, and the result it describes.

A reader that finds no block of its style answers with the line it was given.
"""


def _google(lines: Sequence[str], at: int) -> _Block:
    heading, colon, rest = _split_heading(lines[at])
    if not colon or (rest and heading in _PARAMETERS):
        return at, iter(()), ""
    end = at + 1
    while end < len(lines) and not _outside(lines[end], _indent(lines[at])):
        end += 1
    body = lines[at + 1 : end]
    if heading in _PARAMETERS:
        return end, _google_entries(body), ""
    return end, iter(()), _joined([rest, *body])


def _split_heading(line: str) -> tuple[str, str, str]:
    """`Returns: the sum` apart at its colon; empty strings where no known section starts."""
    text = line.lstrip()
    heading, colon, rest = text[:_LONGEST_HEADING].partition(":")
    heading = heading.strip().casefold()
    if not colon or heading not in _PARAMETERS | _RESULTS:
        return "", "", ""
    return heading, colon, (rest + text[_LONGEST_HEADING:]).strip()


def _google_entries(body: Sequence[str]) -> Iterator[tuple[str, str]]:
    margin = next((_indent(line) for line in body if line.strip()), 0)
    names: list[str] = []
    parts: list[str] = []
    for line in body:
        entry = _google_entry(line) if _indent(line) <= margin else None
        if entry is None:
            parts.append(line)
            continue
        yield from _named(names, parts)
        names, parts = entry[0], [entry[1]]
    yield from _named(names, parts)


def _google_entry(line: str) -> tuple[list[str], str] | None:
    """`name: text`, `name (type): text` and `*names: text` as names and text."""
    text = line.strip()
    found = _NAMES.match(text)
    if found is None:
        return None
    rest = text[found.end() :].lstrip()
    if rest.startswith("("):
        rest = rest[_closing(rest) :].lstrip()
    return (_plain_names(found[0]), rest[1:]) if rest.startswith(":") else None


def _closing(text: str) -> int:
    """Where the bracket that opens the text has been closed."""
    depth = 0
    for at, character in enumerate(text):
        if character == "(":
            depth += 1
        elif character == ")":
            depth -= 1
            if depth == 0:
                return at + 1
    return len(text)


def _numpy(lines: Sequence[str], at: int) -> _Block:
    heading = lines[at].strip().casefold() if len(lines[at]) < 200 else ""
    if heading not in _PARAMETERS | _RESULTS or not _underlined(lines, at):
        return at, iter(()), ""
    margin = _indent(lines[at])
    end = at + 2
    while end < len(lines) and not _underlined(lines, end):
        end += 1
    body = lines[at + 2 : end]
    if heading in _PARAMETERS:
        return end, _numpy_entries(body, margin), ""
    return end, iter(()), _joined([line for line in body if _indent(line) > margin] or body)


def _underlined(lines: Sequence[str], at: int) -> bool:
    return (
        at + 1 < len(lines)
        and bool(lines[at].strip())
        and _UNDERLINE.fullmatch(lines[at + 1]) is not None
    )


def _numpy_entries(body: Sequence[str], margin: int) -> Iterator[tuple[str, str]]:
    names: list[str] = []
    parts: list[str] = []
    for line in body:
        if not line.strip() or _indent(line) > margin:
            parts.append(line)
            continue
        yield from _named(names, parts)
        found = _NAMES.match(line.strip())
        names, parts = _plain_names(found[0]) if found else [], []
    yield from _named(names, parts)


def _rest(lines: Sequence[str], at: int) -> _Block:
    line = lines[at].lstrip()
    mark, colon, text = line[1:].partition(":") if line.startswith(":") else ("", "", "")
    words = mark.split()
    if not colon or not words or words[0] not in _REST_PARAMETERS | _REST_RESULTS:
        return at, iter(()), ""
    end = at + 1
    while end < len(lines) and lines[end].strip() and not lines[end].lstrip().startswith(":"):
        end += 1
    description = _joined([text, *lines[at + 1 : end]])
    if words[0] in _REST_RESULTS:
        return end, iter(()), description
    names = _plain_names(words[-1]) if len(words) > 1 else []
    return end, _named(names, [description]), ""


def _named(names: Sequence[str], parts: Sequence[str]) -> Iterator[tuple[str, str]]:
    description = _joined(parts)
    return ((name, description) for name in names)


def _plain_names(text: str) -> list[str]:
    """`*args, **kwargs` as `args` and `kwargs`."""
    return [name.strip().strip("*\\`") for name in text.split(",")]


def _joined(parts: Sequence[str]) -> str:
    return " ".join(" ".join(parts).split())


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _outside(line: str, margin: int) -> bool:
    return bool(line.strip()) and _indent(line) <= margin
