"""Secrets taken out of texts."""

import base64
import json
import re
from collections.abc import Iterator, Set
from functools import lru_cache
from urllib.parse import quote, quote_plus

LEAST_SECRET = 4
"""Shorter values are not hidden: every message would lose its letters, and they protect nothing."""

LEAST_LINE = 16
"""A line of a secret that is at least so long, such as those of a key file, is one by itself."""

HIDDEN = "***"

_ESCAPE = re.compile("%[0-9A-F]{2}")
_DIGIT = "[A-Za-z0-9+/_-]"
"""Of base64, in the standard alphabet or that for addresses."""
_EITHER = {"+": "[+-]", "/": "[/_]"}
_LINE_END = re.compile(r"\r?\n")
_LINES = re.compile(rf"(?<!{_DIGIT})(?:{_DIGIT}{{{LEAST_LINE},}}+\r?\n)+{_DIGIT}++={{0,2}}")


def redacted(text: str, secrets: Set[str]) -> str:
    """The text without any of these values, as they are or as others may write them."""
    pattern = _pattern(frozenset(secrets))
    if pattern is None:
        return text
    return pattern.sub(HIDDEN, _LINES.sub(lambda found: _seen_as_one(found[0], pattern), text))


def _seen_as_one(lines: str, pattern: re.Pattern[str]) -> str:
    """Programs break base64 into lines, and a secret with it. Where none is, they stay lines."""
    hidden = pattern.sub(HIDDEN, lines)
    broken = pattern.search(_LINE_END.sub("", hidden))
    return _LINE_END.sub("", lines) if broken else hidden


@lru_cache(maxsize=8)
def _pattern(secrets: frozenset[str]) -> re.Pattern[str] | None:
    """What finds all of them, the longest first: an answer has many texts to look through."""
    lengths = {
        pattern: length
        for secret in secrets
        for part in _parts(secret)
        if len(part) >= LEAST_SECRET
        for pattern, length in _patterns(part)
    }
    longest_first = sorted(lengths, key=lambda pattern: lengths[pattern], reverse=True)
    return re.compile("|".join(longest_first)) if longest_first else None


def _parts(secret: str) -> set[str]:
    """All of it, also without the line end that a file leaves behind it, and its long lines."""
    lines = (line.strip() for line in secret.splitlines())
    return {secret, secret.strip(), *(line for line in lines if len(line) >= LEAST_LINE)}


def _patterns(secret: str) -> Iterator[tuple[str, int]]:
    """Each with the length of what it finds."""
    content = secret.encode("utf-8", "surrogatepass")
    for spelling in _spellings(secret, content):
        yield re.escape(spelling), len(spelling)
    for before in range(3):
        yield _in_base64(content, before)


def _spellings(secret: str, content: bytes) -> Iterator[str]:
    """In JSON, in Python, in an address or a form."""
    yield from (secret, repr(secret)[1:-1])
    for ascii_only in (True, False):
        written = json.dumps(secret, ensure_ascii=ascii_only)[1:-1]
        yield from (written, written.replace("/", "\\/"))
    for quoted in (quote(content, ""), quote(content), quote_plus(content)):
        yield from (quoted, _ESCAPE.sub(lambda found: found[0].lower(), quoted))


def _in_base64(content: bytes, before: int) -> tuple[str, int]:
    """Where so many bytes, and any number of threes, come before it.

    What is sought are the digits that depend on nothing around it: of four bytes at least four. One
    that depends on its end as well goes with them. One at its beginning stays: it tells of the
    first byte the upper half at most, and to seek it would take many times as long.
    """
    bits = 8 * (before + len(content))
    digits = base64.b64encode(bytes(before) + content).decode()
    core = digits[-(-8 * before // 6) : bits // 6]
    after = f"{_DIGIT}?={{0,2}}" if bits % 6 else ""
    return "".join(_EITHER.get(digit, digit) for digit in core) + after, len(core)
