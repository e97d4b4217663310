"""A JSON Schema that is too long to be shown: its outline instead."""

from collections.abc import Mapping
from typing import NamedTuple

from pegboard.model.content import Json
from pegboard.serve.mcp.replies import compact_json
from pegboard.text import clipped


class Outline(NamedTuple):
    depth: int
    width: int
    letters: int


OUTLINES = (
    Outline(8, 100, 200),
    Outline(5, 50, 100),
    Outline(4, 30, 60),
    Outline(3, 20, 40),
    Outline(2, 10, 20),
)
"""From much to little."""


def abridged(schema: Json, room: int) -> Json:
    """The schema itself if it fits into so many letters, else the fullest outline that does."""
    if len(compact_json(schema)) <= room:
        return schema
    for outline in OUTLINES:
        shorter = {
            _key(name): _outlined(value, outline)
            for name, value in list(schema.items())[: outline.width]
        }
        if len(compact_json(shorter)) <= room:
            return shorter
    return {"type": "object"}


def _outlined(value: object, outline: Outline) -> object:
    """What is too deep is left open: `true` is the schema that allows everything."""
    if isinstance(value, str):
        return clipped(value, outline.letters)
    if not isinstance(value, Mapping | list | tuple):
        return value
    if outline.depth == 0:
        return True
    inner = outline._replace(depth=outline.depth - 1)
    if isinstance(value, Mapping):
        return {
            _key(name): _outlined(each, inner)
            for name, each in list(value.items())[: outline.width]
        }
    return [_outlined(each, inner) for each in value[: outline.width]]


def _key(name: object) -> str:
    return clipped(str(name), 200)
