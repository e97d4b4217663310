"""What a JSON Schema comes to as a type, in words that TypeScript and Python both have.

Frozen dataclasses and no named tuples: two of different kinds with the same content must differ.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias


class Plain(Enum):
    ANY = "any"
    NEVER = "never"
    NULL = "null"
    BOOLEAN = "boolean"
    INTEGER = "integer"
    NUMBER = "number"
    STRING = "string"


@dataclass(frozen=True, slots=True)
class Exactly:
    """One value. As JSON, since for Python `1 == True`."""

    json: str


@dataclass(frozen=True, slots=True)
class Listed:
    each: "Shape"


@dataclass(frozen=True, slots=True)
class Row:
    """A list whose first places have shapes of their own."""

    first: tuple["Shape", ...]
    least: int
    """So many of them must be there."""
    rest: "Shape"
    """What may follow; never, if nothing may."""


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    shape: "Shape"
    required: bool
    doc: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    fields: tuple[Field, ...] = ()
    others: "Shape | None" = None
    """What properties beside the fields are; never, if there are none; None if nothing is said."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several; made by `either`, so none of them is a choice itself."""

    shapes: tuple["Shape", ...]


@dataclass(frozen=True, slots=True)
class Named:
    """A definition, by its key: what it is made of may refer to it in turn."""

    key: str


Shape: TypeAlias = Plain | Exactly | Listed | Row | Record | Choice | Named

NULL, ANY, NEVER = Plain.NULL, Plain.ANY, Plain.NEVER


def either(shapes: Iterable[Shape]) -> Shape:
    """Any of them. What is any at all swallows the rest."""
    found = dict.fromkeys(part for each in shapes for part in alternatives(each))
    found.pop(NEVER, None)
    if ANY in found:
        return ANY
    if Plain.NUMBER in found:
        found.pop(Plain.INTEGER, None)
    if not found:
        return NEVER
    return next(iter(found)) if len(found) == 1 else Choice(tuple(found))


def alternatives(shape: Shape) -> tuple[Shape, ...]:
    return shape.shapes if isinstance(shape, Choice) else (shape,)


def within(shape: Shape) -> Iterator[Shape]:
    """The shapes that one is directly made of."""
    match shape:
        case Listed(each):
            yield each
        case Row(first, _, rest):
            yield from (*first, rest)
        case Record(fields, others):
            yield from (field.shape for field in fields)
            if others is not None:
                yield others
        case Choice(shapes):
            yield from shapes
