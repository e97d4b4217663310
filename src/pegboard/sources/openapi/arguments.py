"""One JSON object for all that a request takes, and how each argument goes back to its place.

An argument is named as it is on the wire. If several have the same name, the first of path, query,
header, cookie and body keeps it, and the others are called `name__query` and so on.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pegboard.sources.openapi.bodies import BODY, Body
from pegboard.sources.openapi.graph import Schema
from pegboard.sources.openapi.parameters import Parameter

MAX_DEPENDENT = 5_000
"""Pairs of a property and another that it needs, if a body that may be left out is spread."""


class Arguments(NamedTuple):
    schema: Schema
    parameters: list[Schema]
    body: Schema | None


def arranged(parameters: Sequence[Parameter], body: Body | None) -> Arguments:
    properties: dict[str, object] = {}
    required: list[str] = []
    sent = []
    for each in parameters:
        name = _free(each.wire_name, each.place, properties)
        properties[name] = each.schema
        if each.required:
            required.append(name)
        sent.append(
            {
                "name": name,
                "in": each.place,
                "wire_name": each.wire_name,
                "required": each.required,
                **each.serialized,
            }
        )
    schema: Schema = {"type": "object", "properties": properties}
    told = _body(body, properties, required, schema) if body else None
    if required:
        schema["required"] = required
    schema.setdefault("additionalProperties", False)
    return Arguments(schema, sent, told)


def _body(body: Body, properties: dict[str, object], required: list[str], schema: Schema) -> Schema:
    told: Schema = {"media_types": list(body.media_types), "required": body.required}
    if body.encoding:
        told["encoding"] = body.encoding
    if body.parts is None or (not body.required and body.parts.weight > MAX_DEPENDENT):
        name = _free(BODY, BODY, properties)
        properties[name] = body.schema
        if body.required:
            required.append(name)
        return told | {"property": name}
    names: dict[str, str] = {}
    for wire_name, part in body.parts.properties.items():
        names[wire_name] = _free(wire_name, BODY, properties)
        properties[names[wire_name]] = part
    needed = [names[wire_name] for wire_name in body.parts.required]
    if body.required:
        required += needed
    elif needed:
        schema["dependentRequired"] = _whole(list(names.values()), needed)
    told["spread"] = [{"name": name, "wire_name": wire} for wire, name in names.items()]
    if body.parts.further is not False:
        schema["additionalProperties"] = body.parts.further
        told["further"] = True
    return told


def _whole(names: Sequence[str], needed: Sequence[str]) -> Schema:
    """Nothing of an optional body has to be sent, but what is sent has to be whole."""
    wanted = {name: [each for each in needed if each != name] for name in names}
    return {name: others for name, others in wanted.items() if others}


def _free(name: str, place: str, taken: Mapping[str, object]) -> str:
    if name not in taken:
        return name
    name = f"{name}__{place}"
    while name in taken:
        name += "_"
    return name
