"""The body of a request: one argument, or as many as its object has properties.

An agent fills in `title` more easily than `body.title`, and search reads the names of arguments; so
an object is spread wherever that can be undone.
"""

from collections.abc import Mapping
from typing import NamedTuple

from pegboard.sources.openapi.cleaning import Unfit, cleaned, json_value
from pegboard.sources.openapi.faults import Refused
from pegboard.sources.openapi.graph import Made, Schema
from pegboard.sources.openapi.parameters import told_of
from pegboard.sources.openapi.references import Node
from pegboard.sources.openapi.schemas import Schemas
from pegboard.sources.openapi.shapes import mapping, text, texts

BODY = "body"
JSON = "application/json"
_ANY = 3
"""The rank of `*/*`, which leaves the choice to whoever asks."""
_SPREADABLE = frozenset(
    {
        *("type", "properties", "required", "additionalProperties", "title", "description"),
        *("examples", "deprecated", "format", "x-discriminator", "allOf"),
    }
)
"""What an object may say about itself if its properties are to be arguments of their own."""
_OBJECT: tuple[object, ...] = ("object", ["object", "null"], None)
_MAX_LEVELS = 5
"""`allOf` inside `allOf`."""
_ENCODING_DEPTH = 4


class Parts(NamedTuple):
    """An object taken apart."""

    properties: Mapping[str, object]
    required: tuple[str, ...]
    further: Made
    """What properties beyond these may be; false if there are none."""


class Body(NamedTuple):
    schema: Made
    parts: Parts | None
    """None if it has to stay in one piece."""
    required: bool
    media_types: tuple[str, ...]
    """The first is the one that the schema is about."""
    encoding: Schema


def read(node: Node, schemas: Schemas) -> Body | None:
    content = node.value.get("content")
    if not isinstance(content, dict):
        raise Refused("bad_body", "the request body has no content")
    if not content:
        return None
    media_types = sorted(map(str, content), key=rank)
    described = mapping(content[media_types[0]])
    made = schemas.convert(described.get("schema", {}), node.place)
    schema = schemas.opened(made)
    told = [text(mapping(each).get("description")) for each in (made, schema, dict(node.value))]
    return Body(
        told_of(schema, {**described, "description": next(filter(None, told), "")}),
        _parts(schema, schemas, 0),
        node.value.get("required") is True,
        tuple(JSON if rank(each) == _ANY else cleaned(each) for each in media_types),
        _encoding(described.get("encoding")),
    )


def _parts(schema: Made, schemas: Schemas, level: int) -> Parts | None:
    """Of an object that says nothing beyond its properties, or of several that all have to hold."""
    if not isinstance(schema, dict) or not schema.keys() <= _SPREADABLE or level > _MAX_LEVELS:
        return None
    if schema.get("type") not in _OBJECT or not schema.keys() & {"properties", "allOf"}:
        return None
    branches = schema.get("allOf")
    whole = [Parts(mapping(schema.get("properties")), tuple(texts(schema.get("required"))), False)]
    for branch in branches if isinstance(branches, list) else []:
        part = _parts(schemas.opened(branch), schemas, level + 1)
        if part is None:
            return None
        whole.append(part)
    properties: dict[str, object] = {}
    for each in whole:
        for name, said in each.properties.items():
            known = properties.get(name)
            properties[name] = said if known in (None, said) else {"allOf": [known, said]}
    required = tuple(dict.fromkeys(name for each in whole for name in each.required))
    further = schema.get("additionalProperties", False)
    if not isinstance(further, bool | dict):
        further = False
    if not properties and further is not False:
        return None
    return Parts(properties, required, further)


def rank(media_type: str) -> int:
    """Which of several is the easiest to write: JSON, then forms, then text, then bytes."""
    kind = media_type.partition(";")[0].strip().lower()
    if kind == JSON:
        return 0
    if kind == "application/json-patch+json":
        return 2  # a list of changes, where the others take the changed object itself
    if kind.endswith("+json") or kind == "text/json":
        return 1
    if kind in ("*/*", "application/*"):
        return _ANY
    if kind == "application/x-www-form-urlencoded":
        return 4
    if kind.startswith("multipart/"):
        return 5
    return 6 if kind.startswith("text/") else 7


def is_json(media_type: str) -> bool:
    return rank(media_type) <= _ANY


def _encoding(value: object) -> Schema:
    """How the parts of a form are written, as the document says it."""
    kept: Schema = {}
    for name, each in mapping(value).items():
        said = {k: v for k, v in mapping(each).items() if k in ("contentType", "style", "explode")}
        try:
            kept[cleaned(str(name))] = json_value(said, _ENCODING_DEPTH)
        except Unfit:
            continue
    return kept
