"""A JSON Schema as rows of a table. It comes from a stranger, so depth and length are bounded."""

import json
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from pegboard.formats.shapes import listed
from pegboard.model.content import Json
from pegboard.text import clipped

MOST_ROWS = 300
DEEPEST = 8
MOST_CHOICES = 40
LONGEST_VALUE = 120
LONGEST_RAW = 100_000
MOST_FOLLOWED = 20
"""References that lead to references."""

_BOUNDS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "pattern": "matches {}",
    "minItems": "at least {} entries",
    "maxItems": "at most {} entries",
    "minProperties": "at least {} fields",
    "maxProperties": "at most {} fields",
    "contentMediaType": "{}",
    "contentEncoding": "{}",
}


class Row(NamedTuple):
    name: str
    depth: int
    kind: str
    """Its type, in words."""
    required: bool
    about: str
    default: str
    choices: tuple[str, ...]
    bounds: tuple[str, ...]
    deprecated: bool = False


class Table(NamedTuple):
    rows: tuple[Row, ...]
    cut: bool
    """Whether there is more than is shown."""
    about: str = ""
    kind: str = "object"
    raw: str = ""


class _Walk:
    def __init__(self, root: Json) -> None:
        self.root = root
        self.rows: list[Row] = []
        self.cut = False

    def properties(self, schema: Json, depth: int, above: tuple[str, ...]) -> None:
        needed = schema.get("required")
        required = needed if isinstance(needed, list) else []
        for name, part in _objects(schema.get("properties")):
            if self.full:
                self.cut = True
                return
            self.add(name, part, depth, name in required, above)
        more = schema.get("additionalProperties")
        if isinstance(more, Mapping) and more:
            self.add("(any other)", more, depth, False, above)
        for pattern, part in _objects(schema.get("patternProperties")):
            self.add(f"(like {pattern})", part, depth, False, above)

    @property
    def full(self) -> bool:
        return len(self.rows) >= MOST_ROWS

    def add(
        self, name: str, part: object, depth: int, required: bool, above: tuple[str, ...]
    ) -> None:
        if self.full or depth > DEEPEST:
            self.cut = True
            return
        schema, name_of_it = resolved(part, self.root)
        again = bool(name_of_it) and name_of_it in above
        kind = f"{name_of_it}, as above" if again else kind_of(schema, self.root)
        self.rows.append(_row(name, schema, depth, required, kind))
        if not again:
            inside = (*above, name_of_it) if name_of_it else above
            self.within(schema, depth + 1, inside)

    def within(self, schema: Json, depth: int, above: tuple[str, ...]) -> None:
        self.properties(schema, depth, above)
        items = schema.get("items")
        if isinstance(items, Mapping) and _is_rich(items, self.root):
            self.add("(each)", items, depth, False, above)
        for index, part in enumerate(listed(schema.get("prefixItems"))[:MOST_CHOICES]):
            self.add(f"({index + 1})", part, depth, False, above)
        for words, key in (("either", "anyOf"), ("one of", "oneOf"), ("also", "allOf")):
            parts = [each for each in listed(schema.get(key))[:MOST_CHOICES] if not _is_null(each)]
            for part in parts:
                if _is_rich(part, self.root):
                    self.add(f"({words})" if len(parts) > 1 else "(it)", part, depth, False, above)


def table(schema: Json) -> Table:
    """An object by its fields; anything else as the one thing it is."""
    walk = _Walk(schema)
    top, _ = resolved(schema, schema)
    walk.within(top, 0, ())
    return Table(
        tuple(walk.rows),
        walk.cut,
        _text(top.get("description")),
        kind_of(top, schema),
        clipped(json.dumps(schema, ensure_ascii=False, indent=2, default=dict), LONGEST_RAW),
    )


def resolved(part: object, root: Json) -> tuple[Json, str]:
    """What a schema's reference leads to, inside of its own document, and what that is called."""
    name = ""
    for _ in range(MOST_FOLLOWED):
        if not isinstance(part, Mapping):
            return {}, name
        reference = part.get("$ref")
        if not isinstance(reference, str):
            return part, name
        name = reference.rpartition("/")[2] or "the whole"
        beside = {key: value for key, value in part.items() if key != "$ref"}
        found = _at(reference, root)
        part = {**found, **beside} if found is not None else beside
    return {}, name


def _at(reference: str, root: Json) -> Json | None:
    if not reference.startswith("#"):
        return None
    found: object = root
    for step in reference.lstrip("#").strip("/").split("/"):
        if step:
            key = step.replace("~1", "/").replace("~0", "~")
            found = found.get(key) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else None


def kind_of(schema: object, root: Json, depth: int = 0) -> str:
    """The type in a few words: `text`, `list of numbers`, `text or number`."""
    part, name = resolved(schema, root)
    if depth > 2:
        return name or "anything"
    if "const" in part:
        return f"always {value_text(part['const'])}"
    either = listed(part.get("anyOf")) or listed(part.get("oneOf"))
    if either:
        kinds = dict.fromkeys(kind_of(each, root, depth + 1) for each in either[:6])
        return " or ".join(kinds)
    said = part.get("type")
    names = [said] if isinstance(said, str) else [str(each) for each in listed(said)]
    if not names:
        if "properties" in part:
            names = ["object"]
        elif "enum" in part:
            return "one of"
    return " or ".join(_said(each, part, root, depth) for each in names) or "anything"


_WORDS = {"string": "text", "integer": "whole number", "boolean": "yes or no", "null": "nothing"}


def _said(name: str, part: Json, root: Json, depth: int) -> str:
    if name == "array":
        items = part.get("items")
        return f"list of {kind_of(items, root, depth + 1)}" if items else "list"
    said = _WORDS.get(name, name)
    form = part.get("format")
    return f"{said} ({form})" if isinstance(form, str) and form else said


def _row(name: str, schema: Json, depth: int, required: bool, kind: str) -> Row:
    values = listed(schema.get("enum"))
    choices = [value_text(each) for each in values[:MOST_CHOICES]]
    if len(values) > MOST_CHOICES:
        choices.append(f"and {len(values) - MOST_CHOICES} more")
    bounds = [
        said.format(value_text(schema[key]).strip('"'))
        for key, said in _BOUNDS.items()
        if key in schema
    ]
    bounds += ["each entry once"] if schema.get("uniqueItems") is True else []
    about = _text(schema.get("description")) or _text(schema.get("title"))
    return Row(
        name,
        depth,
        kind,
        required,
        about,
        value_text(schema["default"]) if schema.get("default") is not None else "",
        tuple(choices),
        tuple(bounds),
        schema.get("deprecated") is True,
    )


def value_text(value: object) -> str:
    return clipped(json.dumps(value, ensure_ascii=False, default=dict), LONGEST_VALUE)


def _is_rich(part: object, root: Json) -> bool:
    """Whether there is more to say of it than its type."""
    schema, _ = resolved(part, root)
    return any(key in schema for key in ("properties", "description", "enum", "items", *_BOUNDS))


def _is_null(part: object) -> bool:
    return isinstance(part, Mapping) and part.get("type") == "null"


def _objects(value: object) -> Iterator[tuple[str, object]]:
    if isinstance(value, Mapping):
        yield from ((str(name), part) for name, part in value.items())


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""
