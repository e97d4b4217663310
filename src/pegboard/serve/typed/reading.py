"""A JSON Schema as a shape. Definitions are read once, by whichever tool leads to them first."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial, reduce

from pegboard.serve.typed.circles import circles
from pegboard.serve.typed.meeting import Meeting
from pegboard.serve.typed.prose import about
from pegboard.serve.typed.references import References, Schema, Target
from pegboard.serve.typed.shapes import (
    ANY,
    NEVER,
    NULL,
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
)

DEEPEST = 60
"""So far schemas inside of one another are read, references that must be followed among them."""
MOST_EXACT = 2**53
"""Whole numbers from here on are not the same to JavaScript as they are written."""
_OF_OBJECTS = frozenset(
    ("properties", "required", "additionalProperties", "patternProperties", "unevaluatedProperties")
)
_OF_LISTS = frozenset(("items", "prefixItems"))
_PLAIN = {kind.value: kind for kind in Plain if kind not in (ANY, NEVER)}
_NOTHING: Schema = {}


@dataclass(slots=True)
class Definition:
    """What a name stands for. It has no shape while it is being read."""

    name: str
    shape: Shape | None = None
    doc: str = ""


@dataclass(slots=True)
class Definitions:
    """Those of all tools of a module, in the order in which they were met."""

    by_key: dict[str, Definition] = field(default_factory=dict)

    def untie(self, keys: list[str]) -> None:
        """Let no definition be merely one of several of which it is one itself.

        `A = B or text` with `B = A or null` is a circle for a compiler; both are text or null.
        """
        for group in circles(keys, self._bare):
            if len(group) == 1 and group[0] not in self._bare(group[0]):
                continue
            inside = [Named(key) for key in group]
            parts = [part for key in group for part in alternatives(self.by_key[key].shape or ANY)]
            shape = either(part for part in parts if part not in inside)
            for key in group:
                self.by_key[key].shape = shape

    def end(self, key: str) -> str:
        """What it is another word for, if only that."""
        passed = []
        while isinstance(shape := self.by_key[key].shape, Named):
            passed.append(key)
            key = shape.key
        for each in passed:  # for those that ask next
            self.by_key[each].shape = Named(key)
        return key

    def _bare(self, key: str) -> list[str]:
        shape = self.by_key[key].shape or ANY
        return [each.key for each in alternatives(shape) if isinstance(each, Named)]


class Reader:
    """Reads one schema of one tool, and whatever it refers to."""

    def __init__(self, document: Schema, kept: Definitions) -> None:
        self.met: list[str] = []
        """Keys of the definitions that it referred to first."""
        self._references = References(document)
        self._kept = kept
        self._meeting = Meeting(self._resolved)
        self._ahead: dict[str, Target] = {}
        self._depth = 0

    def read(self) -> Shape:
        found = self.shape(self._references.document, self._references.document)
        while self._ahead:
            self._define(*self._ahead.popitem())
        self._kept.untie(self.met)
        return found

    def shape(self, schema: object, root: Schema) -> Shape:
        if not isinstance(schema, Mapping) or self._depth > DEEPEST:
            return NEVER if schema is False else ANY
        self._depth += 1
        found = self._shape(schema, root)
        self._depth -= 1
        return found

    def _shape(self, schema: Schema, root: Schema) -> Shape:
        own = schema.get("$id")
        if isinstance(own, str) and own and not own.startswith("#"):
            root = schema
        parts = [self._referred(schema, root), self._own(schema, root), _values(schema)]
        parts += [self.shape(each, root) for each in _listed(schema.get("allOf"))]
        for keyword in ("anyOf", "oneOf"):
            if branches := _listed(schema.get(keyword)):
                parts.append(either([self.shape(each, root) for each in branches]))
        found = reduce(self._meeting.both, parts)
        return either((found, NULL)) if schema.get("nullable") is True else found

    def _referred(self, schema: Schema, root: Schema) -> Shape:
        reference = schema.get("$ref", schema.get("$dynamicRef"))
        target = self._references.target(reference, root)
        if target is None:
            return ANY
        if isinstance(target.schema, bool):
            return self.shape(target.schema, root)
        key = self._references.key(target)
        if key not in self._kept.by_key:
            self._kept.by_key[key] = Definition(target.name, doc=about(target.schema))
            self.met.append(key)
            self._ahead[key] = target
        return Named(key)

    def _define(self, key: str, target: Target) -> None:
        definition = self._kept.by_key[key]
        if definition.shape is None:
            definition.shape = self.shape(target.schema, target.root)

    def _resolved(self, named: Named) -> Shape:
        """What a definition is made of; any at all if it is being read just now."""
        definition = self._kept.by_key[named.key]
        if named.key in self._ahead and self._depth < DEEPEST:
            self._define(named.key, self._ahead.pop(named.key))
        return definition.shape or ANY

    def _own(self, schema: Schema, root: Schema) -> Shape:
        """By its types and what stands beside them; what each type means is read apart."""
        said = schema.get("type")
        kinds = said if isinstance(said, list) else [said] if isinstance(said, str) else []
        if not kinds:
            kinds = ["object"] if _OF_OBJECTS & schema.keys() else []
            kinds += ["array"] if _OF_LISTS & schema.keys() else []
        ways = {"object": self._record, "array": self._list}
        shapes = [
            ways[kind](schema, root) if kind in ways else _PLAIN.get(kind, ANY) for kind in kinds
        ]
        return either(shapes) if shapes else ANY

    def _record(self, schema: Schema, root: Schema) -> Shape:
        properties = _mapping(schema.get("properties"))
        said = _listed(schema.get("required"))
        needed = dict.fromkeys(each for each in said if isinstance(each, str))
        others = self._others(schema, root)
        fields = [
            Field(name, self.shape(part, root), name in needed, about(part))
            for name, part in properties.items()
        ]
        unsaid = ANY if others is None or others is NEVER else others
        fields += [Field(name, unsaid, True) for name in needed if name not in properties]
        return Record(tuple(fields), others)

    def _others(self, schema: Schema, root: Schema) -> Shape | None:
        more = schema.get("additionalProperties", schema.get("unevaluatedProperties"))
        patterns = _mapping(schema.get("patternProperties")).values()
        found = [self.shape(each, root) for each in patterns]
        if more is not None:
            found.append(self.shape(more, root))
        return either(found) if found else None

    def _list(self, schema: Schema, root: Schema) -> Shape:
        items, first = schema.get("items"), _listed(schema.get("prefixItems"))
        rest = items
        if isinstance(items, list):  # as it was written before 2020
            first, rest = items, schema.get("additionalItems")
        read = partial(self.shape, root=root)
        if not first:
            return Listed(read(rest) if rest is not None else ANY)
        least, most = schema.get("minItems"), schema.get("maxItems")
        ended = isinstance(most, int) and most <= len(first)
        return Row(
            tuple(map(read, first)),
            min(least, len(first)) if isinstance(least, int) else 0,
            NEVER if ended else ANY if rest is None else read(rest),
        )


def _values(schema: Schema) -> Shape:
    if "const" in schema:
        return _exactly(schema["const"])
    said = schema.get("enum")
    return either(map(_exactly, said)) if isinstance(said, list) and said else ANY


def _exactly(value: object) -> Shape:
    match value:
        case None:
            return NULL
        case float() if value.is_integer():
            return _exactly(int(value))
        case int() if abs(value) >= MOST_EXACT:
            return Plain.INTEGER
        case float() if not math.isfinite(value):
            return Plain.NUMBER
        case str() | bool() | int() | float():
            return Exactly(json.dumps(value))
        case list():
            return Listed(ANY)
    return Record((), ANY)


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _mapping(value: object) -> Schema:
    return value if isinstance(value, Mapping) else _NOTHING
