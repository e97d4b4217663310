"""The inputs of a directive, and the JSON Schema that they make."""

import json
from collections.abc import Mapping

from pegboard.gate.directive_xml import Element, prose
from pegboard.gate.refusal import Refused, did_you_mean, shown

_TYPES: Mapping[str, str] = {
    **dict.fromkeys(("string", "str", "text", "path", "file", "url", "date", "enum"), "string"),
    **dict.fromkeys(("integer", "int"), "integer"),
    **dict.fromkeys(("number", "float"), "number"),
    **dict.fromkeys(("boolean", "bool"), "boolean"),
    **dict.fromkeys(("array", "list", "string[]", "list[str]", "array[string]"), "array"),
    **dict.fromkeys(("object", "dict", "json", "map"), "object"),
}
_FLAGS = {"true": True, "false": False, "yes": True, "no": False, "1": True, "0": False, "": False}


def read_inputs(root: Element) -> list[dict[str, object]]:
    element = root.first("inputs")
    metadata = root.first("metadata")
    if element is None and metadata is not None:
        element = metadata.first("inputs")
    found: dict[str, dict[str, object]] = {}
    for each in element.elements if element else []:
        made = _input(each)
        name = str(made["name"])
        if name in found:
            raise _refused(each, f"the input {shown(name)} stands here again; rename one of them")
        found[name] = made
    return list(found.values())


def _refused(element: Element, problem: str) -> Refused:
    return Refused("bad_input", f"line {element.line}: {problem}")


def _input(element: Element) -> dict[str, object]:
    said = element.attributes
    if element.tag != "input":
        raise _refused(element, f"<{element.tag}> is no input; write <input name=... type=...>")
    name = said.get("name", "").strip()
    if not name:
        raise _refused(element, '<input> has no name; write name="..."')
    kind = _TYPES.get(said.get("type", "string").strip().lower())
    if kind is None:
        near = did_you_mean(said["type"], _TYPES)
        known = ", ".join(dict.fromkeys(_TYPES.values()))
        told = f"the input {shown(name)} has the type {shown(said['type'])}"
        raise _refused(element, f"{told}; known are {known}{near}")
    made: dict[str, object] = {
        "name": name,
        "type": kind,
        "required": _flag(element, said.get("required", "")),
    }
    if "default" in said:
        made["default"] = _default(element, kind, said["default"])
    if choices := [word.strip() for word in said.get("enum", "").split(",") if word.strip()]:
        made["enum"] = [_default(element, kind, choice) for choice in choices]
    made["description"] = said.get("description") or prose(element.first("description") or element)
    return made


def _flag(element: Element, said: str) -> bool:
    word = said.strip().lower()
    if word not in _FLAGS:
        raise _refused(element, f"required is {shown(said)}; it must be true or false")
    return _FLAGS[word]


def _default(element: Element, kind: str, said: str) -> object:
    """The text of an attribute as what the input takes."""
    if kind == "string":
        return said
    try:
        value = json.loads(said.lower() if kind == "boolean" else said)
    except (ValueError, RecursionError):
        value = None
    fits = {
        "integer": isinstance(value, int) and not isinstance(value, bool),
        "number": isinstance(value, int | float) and not isinstance(value, bool),
        "boolean": isinstance(value, bool),
        "array": isinstance(value, list),
        "object": isinstance(value, dict),
    }
    if not fits[kind]:
        raise _refused(element, f"{shown(said)} is no {kind}; write it as JSON does")
    return value


def input_schema(inputs: list[dict[str, object]]) -> dict[str, object]:
    return {
        "type": "object",
        "properties": {
            str(each["name"]): {
                key: value
                for key, value in each.items()
                if key not in ("name", "required") and (key != "description" or value)
            }
            for each in inputs
        },
        "required": [each["name"] for each in inputs if each["required"]],
    }
