"""OpenAPI documents made to break the source: good ones with other values, slips of the pen, noise.

    python tests/sources/openapi/openapi_fuzzing.py 100000 [SEED]

Whatever goes in, findings or an error with a hint come out, and the gate makes items or rejections
of the candidates. Printed is how many of each, what took longest, and the memory at most.
"""

import json
import random
import resource
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import yaml

from pegboard.errors import SourceError
from pegboard.gate.admission import admit
from pegboard.model.items import Candidate, Item, LeftOut
from pegboard.sources.openapi.source import OpenApiSource

_THING = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string", "nullable": True, "maxLength": 20},
        "next": {"$ref": "#/components/schemas/Thing"},
        "size": {"type": "number", "minimum": 0, "exclusiveMinimum": True},
        "kind": {"oneOf": [{"type": "string"}, {"$ref": "#/components/schemas/Kind"}]},
    },
}
_BODY = {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}
_LIMIT = {"name": "limit", "in": "query", "schema": {"type": "integer"}, "style": "form"}
GOOD = (
    {
        "openapi": "3.0.3",
        "info": {"title": "Things", "version": "1"},
        "servers": [{"url": "https://{at}.example", "variables": {"at": {"default": "eu"}}}],
        "security": [{"key": []}],
        "paths": {
            "/things/{id}": {
                "parameters": [
                    {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
                ],
                "get": {
                    "operationId": "getThing",
                    "tags": ["things"],
                    "summary": "Get a thing.",
                    "parameters": [{"$ref": "#/components/parameters/Limit"}],
                    "responses": {"200": {"description": "It.", "content": _BODY}},
                },
                "post": {"requestBody": {"required": True, "content": _BODY}, "deprecated": True},
            }
        },
        "components": {
            "schemas": {"Thing": _THING, "Kind": {"allOf": [{"type": "object"}, {"enum": [1]}]}},
            "parameters": {"Limit": _LIMIT},
            "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}},
        },
    },
    {
        "swagger": "2.0",
        "info": {"title": "Old things", "version": "1"},
        "host": "old.example",
        "basePath": "/v1",
        "schemes": ["https"],
        "consumes": ["application/json"],
        "paths": {
            "/things": {
                "put": {
                    "operationId": "put things",
                    "parameters": [
                        {"name": "it", "in": "body", "schema": {"$ref": "#/definitions/Thing"}},
                        {
                            "name": "tags",
                            "in": "query",
                            "type": "array",
                            "items": {"type": "string"},
                        },
                    ],
                    "responses": {"default": {"schema": {"$ref": "#/definitions/Thing"}}},
                }
            }
        },
        "definitions": {"Thing": {"type": "object", "properties": {"a": {"type": "file"}}}},
        "securityDefinitions": {"basic": {"type": "basic"}},
    },
)
KEYS = (
    *("$ref", "type", "properties", "items", "allOf", "anyOf", "oneOf", "not", "enum", "required"),
    *("parameters", "in", "name", "schema", "content", "requestBody", "responses", "security"),
    *("servers", "url", "variables", "style", "explode", "get", "post", "paths", "components"),
    *(
        "operationId",
        "tags",
        "summary",
        "deprecated",
        "nullable",
        "pattern",
        "additionalProperties",
    ),
    *("readOnly", "discriminator", "x-tool-metadata", "$defs", "/a/{b}", "", "200"),
)
VALUES = (
    *(
        None,
        True,
        0,
        -1,
        1.5,
        10**300,
        10**400,
        "",
        " ",
        "a",
        "\u202e",
        "\0",
        "\ufeff",
        "x" * 5000,
        "object",
    ),
    *("#/components/schemas/Thing", "#/components/schemas/Lost", "#", "#/paths", "other.json#/a"),
    *("../../etc/passwd", "/etc/passwd", "file:///etc/passwd", "http://10.0.0.1/x", "((((", "path"),
    *([], {}, ["a"], [[]], {"a": {}}, [None], ["x"] * 300, {"$ref": "#"}, {"type": ["string", 3]}),
    *({"$ref": "#/components/schemas/Thing"}, {"properties": {"b": {"$ref": "#/paths"}}}),
)
TOKENS = (
    "{",
    "}",
    "[",
    "]",
    ": ",
    "- ",
    "&a ",
    "*a",
    "\t",
    "\r",
    "\0",
    "'",
    '"',
    "!!x ",
    "\x80",
    "#",
)


class Tally(NamedTuple):
    found: Counter
    errors: Counter
    slowest: float
    largest: int


def run(count, folder, seed=0):
    """Raises if anything but findings, items, rejections and errors with a hint comes out."""
    chance = random.Random(seed)
    path = Path(folder) / "api.yaml"
    found, errors = Counter(), Counter()
    slowest, largest = 0.0, 0
    for _ in range(count):
        content = make_document(chance)
        path.write_bytes(content)
        began = time.thread_time()
        try:
            findings = list(OpenApiSource("things", str(path), namespace="public").scan({}))
        except SourceError as error:
            assert error.message
            assert error.hint
            errors[type(error).__name__] += 1
        else:
            found.update(map(_judged, findings))
        slowest, largest = max(slowest, time.thread_time() - began), max(largest, len(content))
    return Tally(found, errors, slowest, largest)


def _judged(finding):
    if isinstance(finding, LeftOut):
        return "left out"
    if not isinstance(finding, Candidate):
        assert finding.reason
        return f"rejected {finding.code}"
    verdict = admit(finding)
    assert isinstance(verdict, Item) or verdict.reason
    return "item" if isinstance(verdict, Item) else f"refused {verdict.code}"


def make_document(chance):
    said = json.loads(json.dumps(chance.choice(GOOD)))
    for _ in range(chance.randint(0, 5)):
        change(chance, said)
    text = json.dumps(said) if chance.random() < 0.5 else yaml.safe_dump(said)
    for _ in range(chance.choice((0, 0, 0, 1, 3))):
        at = chance.randint(0, len(text))
        token = chance.choice(TOKENS) * chance.choice((1, 1, 200))
        text = text[:at] + token + text[at + chance.choice((0, 1, 30)) :]
    if chance.random() < 0.05:
        return chance.randbytes(chance.choice((0, 1, 50, 2000)))
    return text.encode("utf-8", "surrogatepass")


def change(chance, said):
    """Goes down at random, and puts, takes or renames something there."""
    at = said
    for _ in range(12):
        below = [each for each in (at.values() if isinstance(at, dict) else at) if each]
        below = [each for each in below if isinstance(each, dict | list)]
        if not below or chance.random() < 0.2:
            break
        at = chance.choice(below)
    value = json.loads(json.dumps(chance.choice(VALUES)))
    if isinstance(at, list):
        at.insert(chance.randint(0, len(at)), value)
        return
    key = chance.choice([*at] if at and chance.random() < 0.7 else KEYS)
    kept = at.pop(key, value)
    if (action := chance.random()) < 0.5:
        at[key] = value
    elif action < 0.8:
        at[chance.choice(KEYS)] = kept


def main():
    count, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    with tempfile.TemporaryDirectory() as folder:
        tally = run(count, folder, seed)
    sys.stdout.write(
        f"{count} documents, seed {seed}: {sum(tally.errors.values())} unreadable; of the others\n"
        + "".join(f"  {n:>8} {what}\n" for what, n in tally.found.most_common())
        + f"slowest {tally.slowest * 1000:.0f} ms of processor, largest {tally.largest} bytes, "
        f"memory at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB\n"
    )


if __name__ == "__main__":
    main()
