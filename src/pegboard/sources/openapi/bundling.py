"""A schema together with the definitions it needs, as far as there is room for them."""

import json
from collections import deque

from pegboard.sources.openapi.cleaning import one_line
from pegboard.sources.openapi.graph import Made, Schema, uses_of
from pegboard.sources.openapi.schemas import Schemas

MAX_CHARACTERS = 900_000
"""What no schema may exceed: the gate takes 1,000,000."""
SHORTENED = "(Left out here, because the whole schema is too long.)"


def bundled(root: Schema, schemas: Schemas, most: int) -> Schema:
    """What is nearest to the root stays whole; what there is no room for keeps its type.

    Raises `BadReference`.
    """
    made: dict[str, object] = {}
    size = len(json.dumps(root, ensure_ascii=False))
    ahead = deque(uses_of(root))
    seen = set(ahead)
    while ahead:
        name = ahead.popleft()
        found = schemas.definition(name)
        if size + found.size > most:
            made[name] = outline(found.schema)
            size += len(json.dumps(made[name], ensure_ascii=False))
            continue
        made[name] = found.schema
        size += found.size
        ahead += [each for each in found.uses if each not in seen]
        seen.update(found.uses)
    if size > MAX_CHARACTERS:
        return _outlined(root)
    return {**root, "$defs": made} if made else root


def outline(schema: Made) -> Schema:
    """A schema that says of a part only what type it has."""
    if not isinstance(schema, dict):
        return {}
    description = schema.get("description")
    told = f"{one_line(description)} {SHORTENED}" if isinstance(description, str) else SHORTENED
    kind = schema.get("type") or ("object" if "properties" in schema else None)
    return {"type": kind, "description": told} if kind else {"description": told}


def _outlined(root: Schema) -> Schema:
    properties = root.get("properties")
    if not isinstance(properties, dict):
        return outline(root)
    return {**root, "properties": {name: outline(each) for name, each in properties.items()}}
