"""What people wrote about a tool, for a comment in code: all of it is text, and none of it code."""

import json
import re
from collections.abc import Mapping

from pegboard.gate.characters import visible
from pegboard.model.items import Item
from pegboard.text import clipped

LONGEST_ABOUT = 4_000
"""Characters of what is said about a tool."""
LONGEST_PART = 400
LONGEST_VALUE = 80
_ARGUMENTS = re.compile(
    r"^[ \t]*(?:args|arguments|parameters|params)[ \t]*:?[ \t]*\n.*?"
    r"(?=^[ \t]*(?:returns?|raises|yields|examples?|notes?)[ \t]*:?[ \t]*$|\Z)",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)


def about(schema: object) -> str:
    """What a schema says of itself: in words, and what it is if nothing is given."""
    if not isinstance(schema, Mapping):
        return ""
    said = schema.get("description")
    words = clipped(said.strip(), LONGEST_PART) if isinstance(said, str) else ""
    facts = [words] if words else []
    if "default" in schema:
        facts.append(f"Default: {_value(schema['default'])}.")
    if isinstance(schema.get("format"), str):
        facts.append(f"Format: {clipped(str(schema['format']), LONGEST_VALUE)}.")
    if schema.get("deprecated") is True:
        facts.append("Deprecated.")
    return ("\n" if "\n" in words else " ").join(facts)


def about_tool(item: Item, arguments: str = "") -> str:
    """Its description, with this in the place of a list of arguments of its own."""
    told, count = _ARGUMENTS.subn(lambda _: f"{arguments}\n\n", item.description, 1)
    parts = [clipped(told.strip(), LONGEST_ABOUT), "" if count else arguments]
    deprecated = f"D{item.deprecation[1:]}." if item.deprecated else ""
    return "\n\n".join(filter(None, [*parts, deprecated]))


def lines_of(text: str) -> list[str]:
    """The text without what a reader cannot see, and without blank lines at its ends."""
    lines = [visible(line.expandtabs(4)).rstrip() for line in text.strip().splitlines()]
    return [line for i, line in enumerate(lines) if line or (i and lines[i - 1])]


def is_seen(character: str) -> bool:
    return character.isprintable() and visible(character) == character


def _value(value: object) -> str:
    return clipped(json.dumps(value, ensure_ascii=False, default=str), LONGEST_VALUE)
