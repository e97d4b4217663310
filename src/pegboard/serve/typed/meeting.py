"""What is two shapes at once, as `allOf` asks for: neither language has a word for all of that.

Where it cannot be told exactly, it is told too widely: the gateway checks every call anyway.
"""

import json
from collections.abc import Callable

from pegboard.serve.typed.shapes import (
    ANY,
    NEVER,
    Choice,
    Exactly,
    Field,
    Listed,
    Named,
    Plain,
    Record,
    Row,
    Shape,
    alternatives,
    either,
    within,
)

MOST_RECORDS = 16
"""That come of records which are alternatives, held against others that are."""
MOST_PAIRS = 10_000
DEEPEST = 12
"""What refers to itself is held against what refers to itself only so far."""
MOST_FIELDS = 20_000
"""That are copied for one tool: what refers to a large definition often could grow without end."""

Resolve = Callable[[Named], Shape]


class Meeting:
    def __init__(self, resolve: Resolve) -> None:
        self._resolve = resolve
        self._copied = 0
        self._depth = 0
        self._weights: dict[int, tuple[int, Shape]] = {}
        """By identity; the shapes are kept, so that no other one gets theirs."""

    def both(self, one: Shape, other: Shape) -> Shape:
        if one == other or other is ANY:
            return one
        if one is ANY:
            return other
        if NEVER in (one, other):
            return NEVER
        if self._depth > DEEPEST or self._copied > MOST_FIELDS:
            return one  # as it is: a definition stays a name
        self._depth += 1
        found = self._opened_and_met(self._opened(one), self._opened(other))
        self._depth -= 1
        # Documents do contradict themselves, and a tool that nobody could call would help nobody.
        return ANY if found is NEVER else found

    def _opened_and_met(self, one: Shape, other: Shape) -> Shape:
        if _too_many(alternatives(one), alternatives(other)):
            return one
        return either(self._met(a, b) for a in alternatives(one) for b in alternatives(other))

    def _opened(self, shape: Shape, most: int = DEEPEST) -> Shape:
        """With definitions as what they are made of."""
        if isinstance(shape, Choice):
            return either(self._opened(each, most) for each in shape.shapes)
        if not isinstance(shape, Named):
            return shape
        found = self._resolve(shape)
        return self._opened(found, most - 1) if most else ANY

    def _met(self, one: Shape, other: Shape) -> Shape:
        if one == other or other is ANY:
            return one
        if one is ANY:
            return other
        match one, other:
            case Record(), Record():
                return self._records(one, other)
            case Listed(a), Listed(b):
                return Listed(self.both(a, b))
            case (Row(), Listed()) | (Exactly(), Plain()):
                return one if _fits(one, other) else NEVER
            case (Listed(), Row()) | (Plain(), Exactly()):
                return other if _fits(other, one) else NEVER
            case Plain(), Plain() if {one, other} == {Plain.INTEGER, Plain.NUMBER}:
                return Plain.INTEGER
        return NEVER

    def _records(self, one: Record, other: Record) -> Shape:
        self._copied += self._weight(one) + self._weight(other)
        fields = {field.name: field for field in one.fields}
        for field in other.fields:
            known = fields.get(field.name)
            fields[field.name] = self._fields(known, field) if known else field
        said = {each for each in (one.others, other.others) if each is not None}
        return Record(tuple(fields.values()), said.pop() if len(said) == 1 else None)

    def _weight(self, shape: Shape) -> int:
        """How many fields are written where it is, those inside of fields too."""
        known = self._weights.get(id(shape))
        if known is None:
            own = len(shape.fields) if isinstance(shape, Record) else 0
            count = own + sum(self._weight(each) for each in within(shape))
            known = self._weights[id(shape)] = (count, shape)
        return known[0]

    def _fields(self, one: Field, other: Field) -> Field:
        shape = self.both(one.shape, other.shape)
        return Field(one.name, shape, one.required or other.required, one.doc or other.doc)


def _too_many(one: tuple[Shape, ...], other: tuple[Shape, ...]) -> bool:
    records = [sum(isinstance(each, Record) for each in side) for side in (one, other)]
    apart = min(records) > 1 and records[0] * records[1] > MOST_RECORDS
    return apart or len(one) * len(other) > MOST_PAIRS


def _fits(narrow: Shape, wide: Shape) -> bool:
    if not isinstance(narrow, Exactly):
        return True
    value = json.loads(narrow.json)
    if isinstance(value, bool):
        return wide is Plain.BOOLEAN
    if isinstance(value, str):
        return wide is Plain.STRING
    return wide is Plain.NUMBER or (wide is Plain.INTEGER and isinstance(value, int))
