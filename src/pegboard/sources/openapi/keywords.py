"""The keywords of a schema, one by one: what JSON Schema 2020-12 can take of them, or nothing.

Whatever a keyword holds that it may not hold is left out, so that what is made is always valid.
"""

import json
import math
import re
from collections.abc import Callable
from types import MappingProxyType

from pegboard.formats.shapes import listed, texts
from pegboard.sources.openapi.cleaning import NoJson, cleaned, json_value, one_line, prose

MAX_DESCRIPTION = 10_000
MAX_EXAMPLE = 200
MAX_EXAMPLES = 5
MAX_DEFAULT = 2_000
MAX_PATTERN = 1_000
VALUE_DEPTH = 4
"""Levels of a default, an example or a choice."""

TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
_OTHER_TYPES = {
    "bool": "boolean",
    "date": "string",
    "datetime": "string",
    "dict": "object",
    "double": "number",
    "enum": "string",
    "file": "string",
    "float": "number",
    "int": "integer",
    "int32": "integer",
    "int64": "integer",
    "list": "array",
    "long": "integer",
    "map": "object",
    "str": "string",
    "text": "string",
    "timestamp": "string",
    "uuid": "string",
}

Take = Callable[[object], object]


def _number(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return value if math.isfinite(value) else None
    except OverflowError:  # more digits than a float has room for
        return None


def _positive(value: object) -> object:
    number = _number(value)
    return number if isinstance(number, int | float) and number > 0 else None


def _count(value: object) -> object:
    number = _number(value)
    if isinstance(number, float) and number.is_integer():
        number = int(number)
    return number if isinstance(number, int) and number >= 0 else None


def _flag(value: object) -> object:
    return value if isinstance(value, bool) else None


def _word(value: object) -> object:
    return (one_line(value) or None) if isinstance(value, str) else None


def _prose(value: object) -> object:
    return (prose(value, MAX_DESCRIPTION) or None) if isinstance(value, str) else None


def _pattern(value: object) -> object:
    return value if isinstance(value, str) and is_pattern(value) else None


def is_pattern(text: str) -> bool:
    """Whether Python can read it too: patterns are JavaScript's, and checked by Python."""
    if len(text) > MAX_PATTERN or cleaned(text) != text:
        return False
    try:
        re.compile(text)
    except (re.error, RecursionError, OverflowError):
        return False
    return True


def _choices(value: object) -> object:
    if not isinstance(value, list) or not value:
        return None
    try:
        return json_value(value, VALUE_DEPTH)
    except NoJson:
        return None


def _examples(value: object) -> object:
    kept = [each for each in listed(value) if is_small(each, MAX_EXAMPLE)]
    return [json_value(each, VALUE_DEPTH) for each in kept[:MAX_EXAMPLES]] or None


def is_small(value: object, most: int) -> bool:
    """Whether it is JSON and no longer than that, without looking at more than is needed."""
    if isinstance(value, str):
        return len(value) <= most
    try:
        json_value(value, VALUE_DEPTH)
        return len(json.dumps(value)) <= most
    except (NoJson, ValueError):
        return False


PLAIN: MappingProxyType[str, Take] = MappingProxyType(
    {
        "title": _word,
        "description": _prose,
        "format": _word,
        "enum": _choices,
        "multipleOf": _positive,
        "maximum": _number,
        "minimum": _number,
        "exclusiveMaximum": _number,
        "exclusiveMinimum": _number,
        "maxLength": _count,
        "minLength": _count,
        "pattern": _pattern,
        "maxItems": _count,
        "minItems": _count,
        "uniqueItems": _flag,
        "maxContains": _count,
        "minContains": _count,
        "maxProperties": _count,
        "minProperties": _count,
        "contentEncoding": _word,
        "contentMediaType": _word,
        "deprecated": _flag,
        "examples": _examples,
    }
)


def types_of(value: object) -> str | list[str] | None:
    """The `type` in JSON Schema's words; nothing if anything goes."""
    if isinstance(value, str):
        word = value if value in TYPES else _OTHER_TYPES.get(value.lower())
        return word or (value.lower() if value.lower() in TYPES else None)
    if not isinstance(value, list):
        return None
    found = [types_of(each) for each in texts(value)]
    words = list(dict.fromkeys(each for each in found if isinstance(each, str)))
    return None if None in found or not words else words


def plain_keywords(schema: dict[str, object]) -> dict[str, object]:
    """All that holds no schemas, in the order of the document."""
    made: dict[str, object] = {}
    if (kind := types_of(schema.get("type"))) is not None:
        made["type"] = kind
    if schema.get("type") == "file":
        made["format"] = "binary"
    for key, value in schema.items():
        if key in PLAIN and (taken := PLAIN[key](value)) is not None:
            made[key] = taken
    for key in ("const", "default"):
        if key in schema and is_small(schema[key], MAX_DEFAULT):
            made[key] = json_value(schema[key], VALUE_DEPTH)
    if "example" in schema and "examples" not in made and is_small(schema["example"], MAX_EXAMPLE):
        made["examples"] = [json_value(schema["example"], VALUE_DEPTH)]
    for bound in ("Minimum", "Maximum"):
        inclusive, exclusive = bound.lower(), f"exclusive{bound}"
        if schema.get(exclusive) is True and inclusive in made:  # as 3.0 has it
            made[exclusive] = made.pop(inclusive)
    return made
