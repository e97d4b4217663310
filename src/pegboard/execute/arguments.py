"""The arguments of a call, checked against the tool's schema before the tool is bothered.

The schema comes from a stranger. So nothing is fetched for it, its regular expressions are not
tried (one can be made to run for years, and the server tries them itself), and the checking stops
when it takes too long. Where it cannot be checked, the arguments are passed on unchecked.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from itertools import count, islice
from typing import Any, NamedTuple

from jsonschema import Draft202012Validator, FormatChecker, SchemaError
from jsonschema.exceptions import (
    UndefinedTypeCheck,
    UnknownType,
    ValidationError,
    best_match,
)
from jsonschema.validators import extend, validator_for
from referencing import Registry
from referencing.exceptions import Unresolvable

from pegboard.model.content import Json

MAX_VIOLATIONS = 5
MAX_SCHEMA = 1_000
"""Characters of the violated part of a schema that are shown."""
MAX_MESSAGE = 300
MAX_DEPTH = 100
MAX_VALUES = 100_000
MAX_STEPS = 50_000
MAX_UNIQUE = 1_000
"""Comparing each item of a list with all others takes the square of its length."""

LARGEST_EXACT = 2**53
"""Beyond it not every whole number can be written as a float, and none says which was meant."""

_LOOKED_AT = 50

Keyword = Callable[[Any, Any, Any, Any], Iterator[ValidationError] | None]


class Violation(NamedTuple):
    path: str
    """Where in the arguments, as a JSON pointer; empty for all of them."""
    message: str
    schema: Json
    """The part of the schema that is violated."""
    keyword: str


class _TooLong(Exception):
    """The checking takes more steps than any honest schema."""


_steps: ContextVar[Iterator[int]] = ContextVar("steps")


def complaints(arguments: Json, schema: Json) -> str:
    """What is wrong, for an agent to put right; empty if nothing is."""
    return explain(check(arguments, schema))


def check(arguments: Json, schema: Json) -> list[Violation]:
    """The few violations that say most."""
    if (size := _beyond_measure(arguments)) is not None:
        return [Violation("", f"the arguments {size}", {}, "")]
    token = _steps.set(count())
    try:
        kind = validator_for(schema, default=Draft202012Validator)
        kind.check_schema(schema, format_checker=_NO_FORMATS)
        checker = _patient(kind)(schema, registry=Registry())
        errors = list(islice(checker.iter_errors(dict(arguments)), _LOOKED_AT))
        deepest = [best_match(iter([error])) or error for error in errors]
    except _UNCHECKABLE:
        return []
    finally:
        _steps.reset(token)
    return [_violation(error) for error in deepest[:MAX_VIOLATIONS]]


def explain(violations: list[Violation]) -> str:
    """In words, with the parts of the schema that a repaired call has to fit."""
    if not violations:
        return ""
    lines = ["The arguments do not fit the tool's schema:"]
    for i, each in enumerate(violations):
        lines.append(f"- {each.path or 'the arguments'}: {each.message}")
        if each.schema and each.schema not in [later.schema for later in violations[i + 1 :]]:
            lines.append(f"  it must fit: {_compact(each.schema)}")
    return "\n".join(lines)


def _beyond_measure(arguments: Json) -> str | None:
    """Counted without recursion, level by level."""
    level: list[object] = [arguments]
    values = 0
    for _ in range(MAX_DEPTH):
        level = [part for value in level for part in _parts(value)]
        values += len(level)
        if values > MAX_VALUES:
            return f"have more than {MAX_VALUES:,} values"
        if not level:
            return None
    return f"are nested deeper than {MAX_DEPTH} levels"


def _parts(value: object) -> list[object]:
    if isinstance(value, Mapping):
        return list(value.values())
    return value if isinstance(value, list) else []


def _violation(error: ValidationError) -> Violation:
    steps = (str(step).replace("~", "~0").replace("/", "~1") for step in error.absolute_path)
    keyword = str(error.validator)
    return Violation(
        "".join(f"/{step}" for step in steps),
        _shortened(error.message),
        _part(error.schema, keyword, error.message),
        keyword,
    )


def _shortened(message: str) -> str:
    """The middle is the value the caller gave; what is wrong with it is at the end."""
    if len(message) <= MAX_MESSAGE:
        return message
    half = MAX_MESSAGE // 2
    return f"{message[:half]} ... {message[-half:]}"


def _part(schema: object, keyword: str, message: str) -> Json:
    """The whole part if it is short, else what bears on the violation."""
    if not isinstance(schema, dict):
        return {}
    if len(_compact(schema)) <= MAX_SCHEMA:
        return schema
    properties = schema.get("properties")
    if keyword == "required" and isinstance(properties, dict):
        named = {name: each for name, each in properties.items() if repr(name) in message}
        part: dict[str, object] = {"required": schema["required"], "properties": named}
    elif keyword == "additionalProperties" and isinstance(properties, dict):
        part = {"properties": {name: {} for name in properties}, keyword: schema[keyword]}
    else:
        part = {key: schema[key] for key in ("type", "description", keyword) if key in schema}
    if len(_compact(part)) <= MAX_SCHEMA:
        return part
    return {keyword: f"{_compact(schema.get(keyword))[: MAX_SCHEMA // 2]} ..."}


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _patient(kind: Any) -> Any:  # noqa: ANN401 - jsonschema makes its classes while it runs
    """The same kind of checker, without what a hostile schema could use."""
    if kind not in _KINDS:
        keywords: dict[str, Keyword] = dict(kind.VALIDATORS)
        keywords |= {name: _skip for name in _NOT_TRIED if name in keywords}
        if "additionalProperties" in keywords:
            keywords["additionalProperties"] = _unless_patterns(keywords["additionalProperties"])
        if "uniqueItems" in keywords:
            keywords["uniqueItems"] = _unless_long(keywords["uniqueItems"])
        _KINDS[kind] = extend(kind, {name: _counted(each) for name, each in keywords.items()})
    return _KINDS[kind]


_KINDS: dict[Any, Any] = {}
_NOT_TRIED = ("pattern", "patternProperties", "unevaluatedProperties")
_NO_FORMATS = FormatChecker(formats=())
_UNCHECKABLE = (
    SchemaError,
    Unresolvable,
    UnknownType,
    UndefinedTypeCheck,
    RecursionError,
    _TooLong,
    TypeError,
    ValueError,
    LookupError,
    AttributeError,
    ArithmeticError,
)
"""A schema that is not one fails in as many ways as there are keywords."""


def _skip(validator: object, value: object, instance: object, schema: object) -> None:
    return None


def _unless_patterns(keyword: Keyword) -> Keyword:
    def check(validator: Any, value: Any, instance: Any, schema: Any) -> Any:  # noqa: ANN401
        return (
            None if "patternProperties" in schema else keyword(validator, value, instance, schema)
        )

    return check


def _unless_long(keyword: Keyword) -> Keyword:
    def check(validator: Any, value: Any, instance: Any, schema: Any) -> Any:  # noqa: ANN401
        long = isinstance(instance, list) and len(instance) > MAX_UNIQUE
        return None if long else keyword(validator, value, instance, schema)

    return check


def _counted(keyword: Keyword) -> Keyword:
    def check(validator: Any, value: Any, instance: Any, schema: Any) -> Any:  # noqa: ANN401
        if next(_steps.get()) > MAX_STEPS:
            raise _TooLong
        return keyword(validator, value, instance, schema)

    return check


def filled(arguments: Json, schema: Json) -> dict[str, object]:
    """The arguments with the schema's defaults for what was not given, also inside of objects.

    Where integers are asked for, 3.0 becomes 3: it is one in JSON, and not in Python.
    """
    return {
        name: _whole(value, _part_for(name, schema))
        for name, value in _with_defaults(arguments, schema).items()
    }


def _with_defaults(arguments: Json, schema: Json) -> dict[str, object]:
    properties = schema.get("properties")
    found = dict(arguments)
    if not isinstance(properties, Mapping):
        return found
    for name, part in properties.items():
        if not isinstance(part, Mapping):
            continue
        if name not in found and "default" in part:
            found[name] = part["default"]
        elif isinstance(inside := found.get(name), Mapping):
            found[name] = _with_defaults(inside, part)
    return found


def _whole(value: object, schema: object) -> object:
    if not isinstance(schema, Mapping):
        return value
    if isinstance(value, float):
        exact = value.is_integer() and abs(value) <= LARGEST_EXACT
        return int(value) if exact and _takes_only_integers(schema) else value
    if isinstance(value, list):
        return [_whole(each, schema.get("items")) for each in value]
    if isinstance(value, Mapping):
        return {name: _whole(each, _part_for(name, schema)) for name, each in value.items()}
    return value


def _part_for(name: str, schema: Json) -> object:
    properties = schema.get("properties")
    known = properties if isinstance(properties, Mapping) else {}
    return known.get(name, schema.get("additionalProperties"))


def _takes_only_integers(schema: Json) -> bool:
    """Of all numbers; it may take other things beside."""
    ways = schema.get("anyOf") or schema.get("oneOf")
    parts = [each for each in ways if isinstance(each, Mapping)] if isinstance(ways, list) else []
    said = [each.get("type") for each in (schema, *parts)]
    types = [each for one in said for each in (one if isinstance(one, list) else [one])]
    return "integer" in types and "number" not in types
