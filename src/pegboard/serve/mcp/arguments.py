"""The arguments of a call to our own tools, held against the tool's schema."""

from collections.abc import Mapping
from typing import Any

from jsonschema import Draft202012Validator

from pegboard.errors import UsageError
from pegboard.model.content import Json
from pegboard.serve.mcp.replies import compact_json
from pegboard.text import clipped

LONGEST_SHOWN = 60


def checked(tool: str, schema: Mapping[str, Any], arguments: Json) -> dict[str, Any]:
    """The arguments, less those that are null; raises `UsageError` about all that are wrong."""
    properties: Mapping[str, Mapping[str, Any]] = schema["properties"]
    given = {name: value for name, value in arguments.items() if value is not None}
    wrong = [
        f"{name} is missing; it must be {allowed(properties[name])}"
        for name in schema.get("required", ())
        if name not in given
    ]
    wrong += [f"there is no parameter {_shown(name)}" for name in given if name not in properties]
    wrong += [
        f"{name} is {_shown(value)}; it must be {allowed(properties[name])}"
        for name, value in given.items()
        if name in properties and not Draft202012Validator(properties[name]).is_valid(value)
    ]
    if wrong:
        takes = ", ".join(properties) or "no parameters"
        raise UsageError("; ".join(wrong[:10]), f"{tool} takes: {takes}")
    return given


def allowed(schema: Mapping[str, Any]) -> str:
    """A parameter's schema in words."""
    if "anyOf" in schema:
        return " or ".join(allowed(each) for each in schema["anyOf"])
    if "enum" in schema:
        return f"one of {', '.join(schema['enum'])}"
    match schema["type"]:
        case "array":
            return f"a list{_length(schema, 'Items')}, each {allowed(schema['items'])}"
        case "integer":
            return f"a whole number{_range(schema)}"
        case "number":
            return f"a number{_range(schema)}"
        case "boolean":
            return "true or false"
        case "object":
            return "an object"
    length = _length(schema, "Length")
    return f"text{length} characters" if length else "text"


def _length(schema: Mapping[str, Any], of: str) -> str:
    least, most = schema.get(f"min{of}", 0), schema.get(f"max{of}")
    if most is None:
        return f" of at least {least:,}" if least else ""
    return f" of {least:,} to {most:,}" if least else f" of at most {most:,}"


def _range(schema: Mapping[str, Any]) -> str:
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is None:
        return ""
    return f" from {least} to {most}" if most is not None else f" of at least {least}"


def _shown(value: object) -> str:
    return clipped(compact_json(value), LONGEST_SHOWN)
