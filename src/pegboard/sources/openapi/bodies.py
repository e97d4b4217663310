"""The body of a request: one argument, or as many as its object has properties.

An agent fills in `title` more easily than `body.title`, and search reads the names of arguments; so
an object is spread wherever that can be undone.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from pegboard.formats.shapes import listed, mapping, text, texts
from pegboard.sources.documents.references import Node
from pegboard.sources.openapi.cleaning import NoJson, cleaned, json_value
from pegboard.sources.openapi.graph import Made, Schema
from pegboard.sources.openapi.parameters import told_of
from pegboard.sources.openapi.schemas import Schemas
from pegboard.sources.unfit import Unfit

BODY = "body"
JSON = "application/json"
_ANY = 3
"""The rank of `*/*`, which leaves the choice to whoever asks."""
_TEXT = 6
_SPREADABLE = frozenset(
    {
        *("type", "properties", "required", "additionalProperties", "title", "description"),
        *("examples", "deprecated", "format", "x-discriminator", "allOf"),
    }
)
"""What an object may say about itself if its properties are to be arguments of their own."""
MAX_PARTS = 100
"""Objects that `allOf` joins."""
_ENCODING_DEPTH = 4
_ENCODED = ("contentType", "style", "explode", "allowReserved")


class Parts(NamedTuple):
    """An object taken apart."""

    properties: Mapping[str, object]
    required: tuple[str, ...]
    further: Made
    """What properties beyond these may be; false if there are none."""

    @property
    def weight(self) -> int:
        return len(self.properties) * len(self.required)


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
        raise Unfit("bad_body", "the request body has no content")
    if not content:
        return None
    media_types = sorted(map(str, content), key=rank)
    described = mapping(content[media_types[0]])
    made = schemas.convert(described.get("schema", {}), node.place) or _unsaid(media_types[0])
    schema = schemas.opened(made)
    told = [text(mapping(each).get("description")) for each in (made, schema, dict(node.value))]
    return Body(
        told_of(schema, {**described, "description": next(filter(None, told), "")}),
        _parts(schema, schemas, iter(range(MAX_PARTS))),
        node.value.get("required") is True,
        tuple(JSON if rank(each) == _ANY else cleaned(each) for each in media_types),
        _encoding(described.get("encoding")),
    )


def _parts(schema: Made, schemas: Schemas, room: Iterator[int]) -> Parts | None:
    """Of an object that says nothing beyond its properties, or of several that all have to hold."""
    if next(room, None) is None or not isinstance(schema, dict) or not _is_plain(schema):
        return None
    whole = [_own_parts(schema)]
    for branch in listed(schema.get("allOf")):
        part = _parts(schemas.opened(dict(mapping(branch))), schemas, room)
        if part is None:
            return None
        whole.append(part)
    properties: dict[str, object] = {}
    for each in whole:
        for name, said in each.properties.items():
            known = properties.get(name)
            properties[name] = said if known in (None, said) else {"allOf": [known, said]}
    required = tuple(dict.fromkeys(name for each in whole for name in each.required))
    further = whole[0].further or any(each.further for each in whole)
    if not properties and further is not False:
        return None
    unsaid: dict[str, object] = {name: {} for name in required if name not in properties}
    return Parts(properties | unsaid, required, further)


def _is_plain(schema: Schema) -> bool:
    kinds = schema.get("type", "object")
    names = kinds if isinstance(kinds, list) else [kinds]
    said = schema.keys()
    return (
        "object" in names
        and set(names) <= {"object", "null"}
        and said <= _SPREADABLE
        and bool(said & {"properties", "allOf"})
    )


def _own_parts(schema: Schema) -> Parts:
    # Of one that others are told from by a property, those others have more properties.
    further = schema.get("additionalProperties", "x-discriminator" in schema)
    return Parts(
        mapping(schema.get("properties")),
        tuple(texts(schema.get("required"))),
        further if isinstance(further, bool | dict) else False,
    )


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
    return _TEXT if kind.startswith("text/") else _TEXT + 1


def _unsaid(media_type: str) -> Made:
    """What a body is of which only the media type is told."""
    if rank(media_type) < _TEXT:
        return {}
    return (
        {"type": "string"} if rank(media_type) == _TEXT else {"type": "string", "format": "binary"}
    )


def is_json(media_type: str) -> bool:
    return rank(media_type) <= _ANY


def _encoding(value: object) -> Schema:
    """How the parts of a form are written, as the document says it."""
    kept: Schema = {}
    for name, each in mapping(value).items():
        said = {k: v for k, v in mapping(each).items() if k in _ENCODED}
        try:
            kept[cleaned(str(name))] = json_value(said, _ENCODING_DEPTH)
        except NoJson:
            continue
    return kept
