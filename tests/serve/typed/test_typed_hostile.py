"""Schemas that are small to write and could be endless to tell."""

import pytest
from typed_parts import GATEWAY, checked, compiled, tool

from pegboard.gate.schemas import check_schema
from pegboard.serve.typed.python import python_module
from pegboard.serve.typed.typescript import typescript_module

LARGEST = 5_000_000
"""Characters of a module for one tool: less than ten times what the gate lets in."""


def ref(name):
    return {"$ref": f"#/$defs/{name}"}


def doubling(count):
    """Each is twice the next, in one place and in two."""
    found = {
        f"d{n}": {
            "allOf": [
                {"type": "object", "properties": {"a": ref(f"d{n + 1}"), "b": ref(f"d{n + 1}")}},
                {"properties": {"a": {"required": ["x"]}, "b": {"required": ["y"]}}},
            ]
        }
        for n in range(count)
    }
    return {**found, f"d{count}": {"type": "object", "properties": {"end": {"type": "string"}}}}


def hostile(count):
    """Definitions that `d0` leads into, by what is the matter with them."""
    last = {"type": "string"}
    large = {f"q{n}": {} for n in range(count)}
    places = {f"p{n}": {"allOf": [ref("large"), {"required": [f"q{n}"]}]} for n in range(count)}
    return {
        "a chain of references": {f"d{n}": ref(f"d{n + 1}") for n in range(count)}
        | {f"d{count}": last},
        "a chain of what is added": {
            f"d{n}": {"allOf": [ref(f"d{n + 1}"), {"properties": {f"p{n}": {}}}]}
            for n in range(count)
        }
        | {f"d{count}": {}},
        "a chain of choices": {
            f"d{n}": {"anyOf": [ref(f"d{n + 1}"), {"type": "null"}]} for n in range(count)
        }
        | {f"d{count}": last},
        "doubling": doubling(60 if count > 100 else 4),
        "two that refer to themselves, at once": {
            "d0": {"allOf": [ref("one"), ref("two")]},
            "one": {"type": "object", "properties": {n: ref("one") for n in "abcd"}},
            "two": {"type": "object", "properties": {n: ref("two") for n in "abcd"}},
        },
        "choices times choices": {
            "d0": {
                "allOf": [
                    {"anyOf": [{"properties": {f"p{n}{m}": {}}} for m in range(9)]}
                    for n in range(30)
                ]
            }
        },
        "values times values": {
            "d0": {"allOf": [{"enum": [*range(count)]}, {"enum": [*range(9, 2 * count)]}]}
        },
        "a large one in many places": {
            "d0": {"properties": places},
            "large": {"type": "object", "properties": large},
        },
        "a deep one in many places": {
            "d0": {"properties": places},
            "large": {"type": "object", "properties": {"x": {"properties": large}}},
        },
        "circles of circles": {
            f"d{n}": {"anyOf": [ref(f"d{m}") for m in range(60)]} for n in range(60)
        },
        "all of itself": {"d0": {"allOf": [ref("d0"), {"anyOf": [ref("d0"), ref("d0")]}]}},
        "deep": {"d0": deep(18)},
    }


def deep(levels):
    inside = deep(levels - 1) if levels else {}
    return {
        "properties": {"x": inside},
        "anyOf": [{"type": "object"}, {"items": {"const": levels}}],
    }


def item(name, definitions):
    schema = {"properties": {"it": ref("d0")}, "$defs": definitions}
    check_schema("input_schema", schema, arguments=True)  # the gate lets it in
    return tool(schema, name=name)


@pytest.mark.parametrize("name", hostile(1))
def test_a_module_is_never_endless(name, share):
    hung = item(name, hostile(int(200 + 1_800 * share))[name])
    for make in (typescript_module, python_module):
        assert len(make([hung], GATEWAY)) < LARGEST


@pytest.mark.program
def test_and_it_compiles(tmp_path):
    items = [item(name, definitions) for name, definitions in hostile(100).items()]
    assert compiled(tmp_path, {"tools.ts": typescript_module(items, GATEWAY)}) == []
    assert checked(tmp_path, {"made.py": python_module(items, GATEWAY)}) == []
