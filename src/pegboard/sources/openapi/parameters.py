"""The parameters of an operation: which there are, and how each travels."""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from pegboard.formats.shapes import mapping, text
from pegboard.sources.documents.references import Library, Node
from pegboard.sources.openapi.cleaning import cleaned, json_value, prose
from pegboard.sources.openapi.graph import Made, Schema
from pegboard.sources.openapi.keywords import (
    MAX_DESCRIPTION,
    MAX_EXAMPLE,
    MAX_EXAMPLES,
    VALUE_DEPTH,
    is_small,
)
from pegboard.sources.openapi.schemas import Schemas
from pegboard.sources.unfit import Unfit

PLACES = ("path", "query", "header", "cookie")
_STYLES = {"path": "simple", "query": "form", "header": "simple", "cookie": "form"}
_NOT_OURS = frozenset({"accept", "content-type", "authorization"})
"""Headers that the document says elsewhere: OpenAPI has them ignored among parameters."""
_TEMPLATE = re.compile(r"\{([^{}]+)\}")
_OLD = frozenset({"type", "format", "items", "enum", "default", "minimum", "maximum", "pattern"})
"""What 2.0 had in the parameter itself, and some still write there."""


class Parameter(NamedTuple):
    wire_name: str
    place: str
    schema: Made
    required: bool
    serialized: Schema
    """How a value is written: `style` and `explode`, or `media_type`."""


def merged(library: Library, levels: Iterable[tuple[object, str]]) -> list[Node]:
    """The parameters of a path and of its operation, of which the latter count more."""
    found: dict[tuple[str, str], Node] = {}
    for listed, base in levels:
        if listed is None:
            continue
        if not isinstance(listed, list):
            raise Unfit("bad_type", "parameters is no list")
        for number, each in enumerate(listed, 1):
            node = library.followed(each, base, f"parameter {number}")
            name, place = (cleaned(text(node.value.get(key))) for key in ("name", "in"))
            if place and (name or place == "body"):
                found[name.lower() if place == "header" else name, place] = node
            elif node.value.get("required") is True:
                raise Unfit("bad_parameter", f"parameter {number} has no name or no 'in'")
    return list(found.values())


def read(nodes: Iterable[Node], path: str, schemas: Schemas) -> list[Parameter]:
    """In the order path, query, header, cookie, so that names are given out in that order."""
    found = [_parameter(node, schemas) for node in nodes if not _is_ignored(node.value)]
    asked = list(dict.fromkeys(_TEMPLATE.findall(path)))
    kept = [each for each in found if each.place != "path" or each.wire_name in asked]
    said = {each.wire_name for each in kept if each.place == "path"}
    kept += [_implied(name) for name in asked if name not in said]
    return sorted(kept, key=lambda each: PLACES.index(each.place))


def _is_ignored(value: Mapping[str, object]) -> bool:
    name, place = str(value["name"]), value["in"]
    return place not in PLACES or (place == "header" and name.lower() in _NOT_OURS)


def _implied(name: str) -> Parameter:
    """A part of the path that the document forgot to describe."""
    return Parameter(name, "path", {"type": "string"}, True, {"style": "simple", "explode": False})


def _parameter(node: Node, schemas: Schemas) -> Parameter:
    value, place = node.value, str(node.value["in"])
    media_type, schema = "", value.get("schema", {key: value[key] for key in value if key in _OLD})
    if content := mapping(value.get("content")):
        media_type, described = next(iter(content.items()))
        schema = mapping(described).get("schema")
    made = schemas.convert({} if schema is None else schema, node.place)
    return Parameter(
        cleaned(str(value["name"])),
        place,
        told_of(made, value),
        place == "path" or value.get("required") is True,
        {"media_type": cleaned(str(media_type))} if media_type else _style(value, place),
    )


def _style(value: Mapping[str, object], place: str) -> Schema:
    style = value.get("style")
    style = cleaned(style) if isinstance(style, str) and style else _STYLES[place]
    explode = value.get("explode")
    made: Schema = {"style": style}
    made["explode"] = explode if isinstance(explode, bool) else style == "form"
    if value.get("allowReserved") is True:
        made["allow_reserved"] = True
    return made


def told_of(schema: Made, value: Mapping[str, object]) -> Made:
    """The schema with what the parameter itself says about the value."""
    if not isinstance(schema, dict):
        schema = {} if schema else {"not": {}}
    made = dict(schema)
    if told := prose(text(value.get("description")), MAX_DESCRIPTION):
        made["description"] = told
    if value.get("deprecated") is True:
        made["deprecated"] = True
    if "examples" not in made and (examples := _examples(value)):
        made["examples"] = examples
    return made


def _examples(value: Mapping[str, object]) -> list[object]:
    """One, or several under names that say nothing to a schema."""
    named = mapping(value.get("examples")).values()
    said = [mapping(each).get("value") for each in named] or [value.get("example")]
    small = [each for each in said if each is not None and is_small(each, MAX_EXAMPLE)]
    return [json_value(each, VALUE_DEPTH) for each in small[:MAX_EXAMPLES]]
