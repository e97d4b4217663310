"""Which definitions a converted schema refers to, and how to make it forget some of them."""

from collections.abc import Iterator, Sequence

DEFS = "#/$defs/"

ONE = (
    *("not", "if", "then", "else", "items", "contains", "propertyNames"),
    *("additionalProperties", "unevaluatedItems", "unevaluatedProperties"),
)
SEVERAL = ("allOf", "anyOf", "oneOf", "prefixItems")
NAMED = ("properties", "patternProperties", "dependentSchemas")
_IN_PLACE = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas")
"""Keywords whose schemas are about the same value, not about a part of it."""

Schema = dict[str, object]
Made = Schema | bool


def uses_of(schema: object) -> tuple[str, ...]:
    """The definitions that a converted schema refers to, in the order of their first mention."""
    return tuple(dict.fromkeys(_references(schema)))


def _references(schema: object) -> Iterator[str]:
    if not isinstance(schema, dict):
        return
    reference = schema.get("$ref")
    if isinstance(reference, str):
        yield reference.removeprefix(DEFS)
    for part in _children(schema, (*NAMED, *ONE, *SEVERAL)):
        yield from _references(part)


def in_place(schema: object) -> Iterator[str]:
    """The definitions that it refers to for the same value, not for a part of it."""
    if not isinstance(schema, dict):
        return
    reference = schema.get("$ref")
    if isinstance(reference, str):
        yield reference.removeprefix(DEFS)
    for part in _children(schema, _IN_PLACE):
        yield from in_place(part)


def _children(schema: Schema, keys: Sequence[str]) -> Iterator[object]:
    for key in keys:
        part = schema.get(key)
        if isinstance(part, list):
            yield from part
        elif isinstance(part, dict) and key in NAMED:
            yield from part.values()
        elif isinstance(part, dict):
            yield part


def without(schema: object, names: set[str]) -> Made:
    """Without references that lead back to the schema itself, which nothing could ever satisfy."""
    if not isinstance(schema, dict):
        return bool(schema)
    made = dict(schema)
    reference = made.get("$ref")
    if isinstance(reference, str) and reference.removeprefix(DEFS) in names:
        del made["$ref"]
    for key in _IN_PLACE:
        part = made.get(key)
        if isinstance(part, list):
            made[key] = [without(each, names) for each in part]
        elif isinstance(part, dict) and key in NAMED:
            made[key] = {name: without(each, names) for name, each in part.items()}
        elif isinstance(part, dict):
            made[key] = without(part, names)
    return made
