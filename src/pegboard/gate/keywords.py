"""What each keyword of JSON Schema takes, by draft: the metaschemas, written out."""

import re
from collections.abc import Callable, Iterator, Mapping

from pegboard.gate.patterns import fault_of_pattern
from pegboard.gate.refusal import did_you_mean, shown

TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")
_ANCHOR = re.compile(r"[A-Za-z_][-A-Za-z0-9._]*")

Within = list[tuple[str | int | None, object]]
"""The schemas that stand in a value, with their keys; without a key, the value itself is one."""
Keyword = Callable[[object], Within | None]


class Fault(Exception):
    """What is wrong with the value of a keyword."""


def dialect(said: object) -> tuple[Mapping[str, Keyword], bool]:
    """The keywords by `$schema`, and whether `true` is a schema. 2020-12 if nothing is said."""
    name = said.rstrip("#").partition("://")[2] if isinstance(said, str) else ""
    table = _DIALECTS.get(name, _DRAFT_2020)
    return table, table is not _DRAFT_4


def _schema(value: object) -> Within:
    return [(None, value)]


def _schemas(value: object) -> Within:
    if not isinstance(value, list) or not value:
        raise Fault(f"is {shown(value)}; it must be a list of schemas, at least one")
    return list(enumerate(value))


def _named(value: object) -> Within:
    if not isinstance(value, dict):
        raise Fault(f"is {shown(value)}; it must be an object of schemas")
    return list(value.items())


def _by_pattern(value: object) -> Within:
    within = _named(value)
    for pattern, _ in within:
        _pattern(pattern)
    return within


def _one_or_many(value: object) -> Within:
    return _schemas(value) if isinstance(value, list) else _schema(value)


def _items(value: object) -> Within:
    if isinstance(value, list):
        raise Fault("is a list; write prefixItems, or say in $schema which older draft this is")
    return _schema(value)


def _schema_or_flag(value: object) -> Within | None:
    return None if isinstance(value, bool) else _schema(value)


def _dependencies(value: object) -> Within:
    """For each property a schema, or the names of others."""
    within = _named(value)
    for _, part in within:
        if isinstance(part, list):
            _names(part)
    return [(name, part) for name, part in within if not isinstance(part, list)]


def _lists_of_names(value: object) -> None:
    for _, part in _named(value):
        _names(part)


def _names(value: object) -> None:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise Fault(f"is {shown(value)}; it must be a list of names")
    if len(set(value)) < len(value):
        raise Fault("names one property twice")


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise Fault(f"is {shown(value)}; it must be text")
    return value


def _line(value: object) -> None:
    _text(value)


def _pattern(value: object) -> None:
    if fault := fault_of_pattern(_text(value)):
        raise Fault(f"is {shown(value)}, which is no regular expression: {fault}")


def _anchor(value: object) -> None:
    if not _ANCHOR.fullmatch(_text(value)):
        raise Fault(f"is {shown(value)}; it must be a name of letters, digits, '.', '-' and '_'")


def _plain_id(value: object) -> None:
    if "#" in _text(value)[:-1]:
        raise Fault(f"is {shown(value)}; it must have no # in it; name a part by $anchor")


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Fault(f"is {shown(value)}; it must be a number")
    return value


def _bound(value: object) -> None:
    _number(value)


def _factor(value: object) -> None:
    if _number(value) <= 0:
        raise Fault(f"is {shown(value)}; it must be more than 0")


def _count(value: object) -> None:
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if not whole or _number(value) < 0:
        raise Fault(f"is {shown(value)}; it must be a whole number from 0")


def _flag(value: object) -> None:
    if not isinstance(value, bool):
        raise Fault(f"is {shown(value)}; it must be true or false")


def _list(value: object) -> None:
    if not isinstance(value, list):
        raise Fault(f"is {shown(value)}; it must be a list")


def _type(value: object) -> None:
    kinds = value if isinstance(value, list) else [value]
    if not kinds:
        raise Fault("is an empty list; name a type")
    for kind in kinds:
        if not isinstance(kind, str) or kind not in TYPES:
            near = did_you_mean(kind, TYPES) if isinstance(kind, str) else ""
            raise Fault(f"is {shown(kind)}; it must be one of {', '.join(TYPES)}{near}")
    if len(set(kinds)) < len(kinds):
        raise Fault("names one type twice")


def _vocabularies(value: object) -> None:
    for _, part in _named(value):
        _flag(part)


def _each(check: Keyword, names: str) -> Iterator[tuple[str, Keyword]]:
    return ((name, check) for name in names.split())


_DRAFT_4: dict[str, Keyword] = dict(
    [
        *_each(_line, "$schema $ref id title description"),
        *_each(_pattern, "pattern"),
        *_each(_count, "minLength maxLength minItems maxItems minProperties maxProperties"),
        *_each(_bound, "minimum maximum"),
        *_each(_factor, "multipleOf"),
        *_each(_flag, "uniqueItems exclusiveMinimum exclusiveMaximum"),
        *_each(_names, "required"),
        *_each(_list, "enum"),
        *_each(_type, "type"),
        *_each(_schema, "not"),
        *_each(_schemas, "allOf anyOf oneOf"),
        *_each(_named, "properties definitions"),
        *_each(_by_pattern, "patternProperties"),
        *_each(_one_or_many, "items"),
        *_each(_schema_or_flag, "additionalItems additionalProperties"),
        *_each(_dependencies, "dependencies"),
    ]
)
_DRAFT_6 = {name: check for name, check in _DRAFT_4.items() if name != "id"} | dict(
    [
        *_each(_line, "$id format"),
        *_each(_bound, "exclusiveMinimum exclusiveMaximum"),
        *_each(_list, "examples"),
        *_each(_schema, "contains propertyNames additionalItems additionalProperties"),
    ]
)
_DRAFT_7 = _DRAFT_6 | dict(
    [
        *_each(_line, "$comment contentMediaType contentEncoding"),
        *_each(_flag, "readOnly"),
        *_each(_schema, "if then else"),
    ]
)
_DRAFT_2019 = _DRAFT_7 | dict(
    [
        *_each(_plain_id, "$id"),
        *_each(_anchor, "$anchor"),
        *_each(_line, "$recursiveRef"),
        *_each(_flag, "$recursiveAnchor deprecated writeOnly"),
        *_each(_vocabularies, "$vocabulary"),
        *_each(_count, "minContains maxContains"),
        *_each(_lists_of_names, "dependentRequired"),
        *_each(_named, "$defs dependentSchemas"),
        *_each(_schema, "unevaluatedItems unevaluatedProperties contentSchema"),
    ]
)
_DRAFT_2020 = {
    name: check for name, check in _DRAFT_2019.items() if name != "additionalItems"
} | dict(
    [
        *_each(_anchor, "$dynamicAnchor $recursiveAnchor"),
        *_each(_line, "$dynamicRef"),
        *_each(_schemas, "prefixItems"),
        *_each(_items, "items"),
    ]
)
_DIALECTS: Mapping[str, Mapping[str, Keyword]] = {
    "json-schema.org/draft-04/schema": _DRAFT_4,
    "json-schema.org/draft-06/schema": _DRAFT_6,
    "json-schema.org/draft-07/schema": _DRAFT_7,
    "json-schema.org/draft/2019-09/schema": _DRAFT_2019,
}
