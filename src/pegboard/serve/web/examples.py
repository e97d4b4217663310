"""How a tool is called from elsewhere: with arguments such as it takes."""

import json
import shlex
from collections.abc import Mapping
from typing import NamedTuple

from pegboard.model.content import Json
from pegboard.serve.web.paths import quoted
from pegboard.serve.web.schemas import resolved

DEEPEST = 4
MOST_VALUES = 200


class Example(NamedTuple):
    title: str
    text: str


def examples(name: str, schema: Json, base: str) -> tuple[Example, ...]:
    """`base` is where the gateway is reached, without a slash at the end."""
    given = sample(schema)
    compact = json.dumps(given, ensure_ascii=False)
    body = json.dumps({"arguments": given}, ensure_ascii=False)
    address = f"{base}/tools/{quoted(name)}/call"
    url = shlex.quote(address)
    curl = (
        f"curl {url} \\\n"
        '  -H "Authorization: Bearer $PEGBOARD_TOKEN" \\\n'
        "  -H 'Content-Type: application/json' \\\n"
        f"  -d {shlex.quote(body)}"
    )
    python = (
        "import json, os, urllib.request\n\n"
        "request = urllib.request.Request(\n"
        f"    {address!r},\n"
        f"    json.dumps({{'arguments': {given!r}}}).encode(),\n"
        "    {\n"
        "        'Authorization': f\"Bearer {os.environ['PEGBOARD_TOKEN']}\",\n"
        "        'Content-Type': 'application/json',\n"
        "    },\n"
        ")\n"
        "with urllib.request.urlopen(request) as answer:\n"
        "    print(json.load(answer))"
    )
    shell = (
        f"pegboard run {shlex.quote(name)} --arguments {shlex.quote(compact)} \\\n"
        f"  --gateway {shlex.quote(base)}"
    )
    return (
        Example("curl", curl),
        Example("Python", python),
        Example("Command", shell),
    )


def sample(schema: Json) -> dict[str, object]:
    """What is required, each with a value such as the schema says."""
    found = _Sampling(schema).value(schema, 0)
    return found if isinstance(found, dict) else {}


class _Sampling:
    """The schema comes from a stranger: what is made of it is bounded, in depth and altogether."""

    def __init__(self, root: Json) -> None:
        self.root = root
        self.left = MOST_VALUES

    def value(self, part: object, depth: int) -> object:
        self.left -= 1
        schema, _ = resolved(part, self.root)
        said = _said(schema)
        if said is not None:
            return said
        for key in ("anyOf", "oneOf"):
            either = schema.get(key)
            if isinstance(either, list) and either and depth < DEEPEST:
                return self.value(either[0], depth + 1)
        return self._made(schema, depth)

    def _made(self, schema: Json, depth: int) -> object:
        said = schema.get("type")
        kinds = said if isinstance(said, list) else [said]
        kind = next((each for each in kinds if each != "null"), None)
        deeper = depth < DEEPEST and self.left > 0
        if kind == "object" or "properties" in schema:
            return self._object(schema, depth) if deeper else {}
        if kind == "array":
            items = schema.get("items")
            return [self.value(items, depth + 1)] if items and deeper else []
        return _PLAIN.get(kind) if isinstance(kind, str) else None

    def _object(self, schema: Json, depth: int) -> dict[str, object]:
        properties, needed = schema.get("properties"), schema.get("required")
        if not isinstance(properties, Mapping) or not isinstance(needed, list):
            return {}
        names = [name for name in needed[:MOST_VALUES] if isinstance(name, str)]
        required = [name for name in names if name in properties]
        return {name: self.value(properties[name], depth + 1) for name in required if self.left > 0}


_PLAIN: Json = {"string": "...", "integer": 1, "number": 1.5, "boolean": True}


def _said(schema: Json) -> object:
    for key in ("examples", "enum"):
        values = schema.get(key)
        if isinstance(values, list) and values:
            return values[0]
    return schema.get("const", schema.get("example", schema.get("default")))
