"""Texts of a document without what no reader sees: hidden characters, HTML, stray line ends."""

import html
import math
import re

from pegboard.formats.hidden_characters import HIDDEN

MAX_TEXT = 50_000

# The gate refuses these. Where they come from is hardly ever more than a word processor, and an
# operation is worth more than its zero-width spaces.
_SEPARATOR = re.compile("[\u2028\u2029]")
_INLINE = (
    "a|abbr|b|bdo|big|cite|del|dfn|em|font|i|img|ins|kbd|label|mark|q|s|samp|small|span|strike"
    "|strong|sub|sup|tt|u|var|wbr"
)
_BLOCK = (
    "article|aside|blockquote|br|caption|center|dd|details|div|dl|dt|figure|footer|h[1-6]|header"
    "|hr|li|main|nav|ol|p|pre|section|summary|table|tbody|td|tfoot|th|thead|tr|ul"
)
_MARKUP = re.compile(
    rf"(?P<quoted>`[^`\n]{{1,500}}`)|<!--[^<>]{{0,2000}}-->"
    rf"|</?(?:(?P<code>code)|(?P<item>li)|(?:{_INLINE})|(?P<block>{_BLOCK}))(?:\s[^<>]{{0,1000}})?/?>",
    re.IGNORECASE,
)
_SPACE_AT_END = re.compile(r"[ \t]+$", re.MULTILINE)
_GAP = re.compile(r"\n{3,}")


class NoJson(Exception):
    """A value that is no JSON, or too deep."""


def cleaned(text: str) -> str:
    """The text without hidden characters."""
    if text.isascii() and text.isprintable():
        return text
    return HIDDEN.sub("", _SEPARATOR.sub("\n", text))


def one_line(text: str, most: int = 200) -> str:
    line = " ".join(cleaned(text).split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def prose(text: str, most: int = MAX_TEXT) -> str:
    """A description as a person would read it: CommonMark stays, HTML goes."""
    text = text[: 4 * most]
    if "<" in text:
        text = _MARKUP.sub(_unmarked, text)
    if "&" in text:
        text = html.unescape(text).replace("\xa0", " ")
    text = _SPACE_AT_END.sub("", cleaned(text).replace("\r\n", "\n"))
    text = _GAP.sub("\n\n", text).strip()
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def _unmarked(found: re.Match[str]) -> str:
    if found["quoted"]:
        return found["quoted"]
    if found["code"]:
        return "`"
    if found["item"]:
        return "\n- " if not found.group().startswith("</") else ""
    return "\n" if found["block"] else ""


def json_value(value: object, depth: int) -> object:
    """A copy that is JSON, with cleaned texts and at most so many levels. Raises `NoJson`."""
    if isinstance(value, str):
        return cleaned(value)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if depth <= 0:
        raise NoJson
    if isinstance(value, list):
        return [json_value(each, depth - 1) for each in value]
    if isinstance(value, dict):
        return {cleaned(str(k)): json_value(each, depth - 1) for k, each in value.items()}
    raise NoJson
