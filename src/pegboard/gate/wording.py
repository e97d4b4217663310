"""Errors of a JSON Schema validator in the words of somebody who has to mend a file."""

from typing import Any

from pegboard.gate.refusal import did_you_mean, shown

_KINDS = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a mapping",
    "null": "empty",
}
_ORDER = ("additionalProperties", "type", "enum", "required")


def weight(error: Any) -> tuple[int, int]:  # noqa: ANN401 - jsonschema has no types
    """Less for what explains more: a key that is misspelled explains one that is missing."""
    keyword = str(error.validator)
    return _ORDER.index(keyword) if keyword in _ORDER else 1, len(error.absolute_path)


def complaint(error: Any) -> str:  # noqa: ANN401 - jsonschema has no types
    where, value, limit = _written(error.absolute_path), error.instance, error.validator_value
    match error.validator:
        case "additionalProperties":
            return _unknown_key(where, error)
        case "required":
            missing = next(name for name in limit if name not in value)
            return f"{where or 'it'} has no {missing}; add {_joined(where, missing)}"
        case "type":
            kinds = [limit] if isinstance(limit, str) else limit
            expected = " or ".join(_KINDS[kind] for kind in kinds)
            quotes = ", so put it in quotes" if isinstance(value, int | float) else ""
            told = f"{expected}{quotes if 'string' in kinds else ''}"
            return f"{where or 'the manifest'} is {shown(value)}; it must be {told}"
        case "enum":
            near = did_you_mean(value, limit) if isinstance(value, str) else ""
            return f"{where} is {shown(value)}; it must be one of {', '.join(limit)}{near}"
        case "maxLength" | "maxItems":
            return f"{where} has {len(value):,} {_parts(value)}; at most {limit:,} are allowed"
        case "minLength" | "minItems":
            return f"{where} is empty; fill it in or leave it out"
        case "minimum" | "exclusiveMinimum" | "maximum":
            return f"{where} is {shown(value)}; it must be {_BOUNDS[error.validator]} {limit}"
        case _:
            told = error.schema.get("description", "look at: pegboard schema")
            return f"{where} is {shown(value)}; that is not how it is written. {told}"


_BOUNDS = {"minimum": "at least", "exclusiveMinimum": "more than", "maximum": "at most"}


def _unknown_key(where: str, error: Any) -> str:  # noqa: ANN401 - jsonschema has no types
    known = error.schema.get("properties", {})
    strange = next(key for key in error.instance if key not in known)
    near = did_you_mean(strange, known) or f"; it takes {', '.join(known)}"
    return f"{_joined(where, shown(strange).strip(chr(39)))} is not known{near}"


def _parts(value: object) -> str:
    return "characters" if isinstance(value, str) else "entries"


def _joined(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key


def _written(path: Any) -> str:  # noqa: ANN401 - jsonschema has no types
    text = ""
    for step in path:
        text = f"{text}[{step}]" if isinstance(step, int) else _joined(text, shown(step)[1:-1])
    return text
