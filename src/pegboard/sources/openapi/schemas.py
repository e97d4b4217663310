"""OpenAPI's schemas become JSON Schema 2020-12, with everything they refer to under `$defs`.

Each schema that a `$ref` names is converted once, whichever operations use it, and stays one
definition; so a schema that contains itself is as long as it is written.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import NamedTuple

from pegboard.sources.documents.faults import BadReference
from pegboard.sources.documents.references import Library
from pegboard.sources.openapi.cleaning import cleaned
from pegboard.sources.openapi.graph import (
    DEFS,
    NAMED,
    ONE,
    SEVERAL,
    Made,
    Schema,
    in_place,
    uses_of,
    without,
)
from pegboard.sources.openapi.keywords import is_pattern, plain_keywords

MAX_DEPTH = 30
"""Levels of JSON inside one definition; the gate allows 40 for a whole schema."""
MAX_CHAIN = 1_000
"""Definitions that one value has to fit, all at once."""
TOO_DEEP = "More follows, nested deeper than is kept here."

_ANNOTATIONS = ("title", "description", "default", "deprecated", "examples")


class Definition(NamedTuple):
    schema: Made
    uses: tuple[str, ...]
    """Names of the definitions that it refers to."""
    size: int
    """Characters as JSON."""


class Schemas:
    """For one direction: what cannot be sent is left out of requests, and likewise of answers."""

    def __init__(self, library: Library, *, requests: bool) -> None:
        self._library = library
        self._left_out = "readOnly" if requests else "writeOnly"
        self._names: dict[tuple[str, str], str] = {}
        self._targets: dict[str, tuple[str, str, object]] = {}
        self._converted: dict[str, Made] = {}
        self._besides: dict[str, tuple[str, ...]] = {}
        self._definitions: dict[str, Definition] = {}

    def convert(self, schema: object, base: str) -> Made:
        """Raises `BadReference`."""
        return self._schema(schema, base, 0, frozenset())

    def definition(self, name: str) -> Definition:
        found = self._definitions.get(name)
        if found is None:
            looping = {each for each in self._beside(name) if self._reaches(each, name)}
            schema = without(self._raw(name), looping) if looping else self._raw(name)
            size = len(json.dumps(schema, ensure_ascii=False))
            found = Definition(schema, uses_of(schema), size)
            self._definitions[name] = found
        return found

    def opened(self, schema: Made) -> Made:
        """What stands behind a schema that is nothing but a reference."""
        seen: set[str | None] = set()
        while isinstance(schema, dict) and (name := _only_reference(schema)) not in (None, *seen):
            seen.add(name)
            schema = self.definition(str(name)).schema
        return schema

    def _raw(self, name: str) -> Made:
        if name not in self._converted:
            place, _, value = self._targets[name]
            self._converted[name] = self._schema(value, place, 0, frozenset())
        return self._converted[name]

    def _beside(self, name: str) -> tuple[str, ...]:
        """The definitions that a value must fit too which is to fit this one."""
        if name not in self._besides:
            self._besides[name] = tuple(dict.fromkeys(in_place(self._raw(name))))
        return self._besides[name]

    def _reaches(self, start: str, end: str) -> bool:
        """Whether one leads to the other, or so far that nobody would check it."""
        ahead, seen = [start], {start}
        while ahead and end not in seen and len(seen) <= MAX_CHAIN:
            new = [each for each in self._beside(ahead.pop()) if each not in seen]
            ahead += new
            seen.update(new)
        return end in seen or len(seen) > MAX_CHAIN

    def _name(self, reference: object, base: str) -> str:
        target = self._library.target(reference, base)
        key = (target.place, target.pointer)
        if key not in self._names:
            last = target.pointer.rpartition("/")[2] or _file_name(target.place).partition(".")[0]
            name = re.sub(r"[^A-Za-z0-9_.-]+", "_", last.replace("~1", "_"))[:100].strip("_")
            if not name or name in self._targets:
                digest = hashlib.sha256(f"{_file_name(key[0])}#{key[1]}".encode())
                name = f"{name or 'schema'}_{digest.hexdigest()[:8]}"
            self._names[key] = name
            self._targets[name] = target
        return self._names[key]

    def _schema(self, value: object, base: str, depth: int, hidden: frozenset[str]) -> Made:
        """`hidden` are properties that an enclosing `allOf` leaves out."""
        if isinstance(value, bool):
            return value
        if not isinstance(value, dict):
            return {}
        nullable = value.get("nullable") is True or value.get("x-nullable") is True
        if nullable and value.keys() & {"$ref", "allOf"}:
            depth += 2  # it becomes one of two
        if depth > MAX_DEPTH:
            return {"description": TOO_DEEP}
        made = plain_keywords(value)
        if "$ref" in value:
            made["$ref"] = DEFS + self._name(value["$ref"], base)
        value = _modern(value)
        if "allOf" in value:
            hidden |= self._hidden_in(value, base)
        self._properties(value, base, depth, hidden, made)
        self._parts(value, base, depth, hidden, made)
        return _nullable(made) if nullable else made

    def _parts(
        self, value: Schema, base: str, depth: int, hidden: frozenset[str], made: Schema
    ) -> None:
        for key in ONE:
            if isinstance(value.get(key), dict | bool):
                made[key] = self._schema(value[key], base, depth + 1, frozenset())
        for key in SEVERAL:
            within = hidden if key == "allOf" else frozenset()
            parts = value.get(key)
            if isinstance(parts, list) and parts:
                made[key] = [self._schema(each, base, depth + 2, within) for each in parts]
        discriminator = value.get("discriminator")
        if isinstance(discriminator, dict):
            discriminator = discriminator.get("propertyName")
        if isinstance(discriminator, str):
            made["x-discriminator"] = cleaned(discriminator)

    def _properties(
        self, value: Schema, base: str, depth: int, hidden: frozenset[str], made: Schema
    ) -> None:
        for key in NAMED:
            parts = value.get(key)
            if not isinstance(parts, dict):
                continue
            found = {}
            for name, each in parts.items():
                name = cleaned(str(name))
                if key == "properties" and self._is_left_out(each, base):
                    hidden |= {name}
                elif key != "patternProperties" or is_pattern(name):
                    found[name] = self._schema(each, base, depth + 2, frozenset())
            made[key] = found
        required = value.get("required")
        if isinstance(required, list):
            names = [cleaned(each) for each in required if isinstance(each, str)]
            if kept := [name for name in dict.fromkeys(names) if name not in hidden]:
                made["required"] = kept
        if wanted := _dependent(value.get("dependentRequired")):
            made["dependentRequired"] = wanted

    def _is_left_out(self, value: object, base: str) -> bool:
        """By what it says of itself, or what the schema says that it refers to."""
        for _ in range(5):
            if not isinstance(value, dict) or value.get(self._left_out) is True:
                return isinstance(value, dict)
            if "$ref" not in value:
                return False
            try:
                base, _, value = self._library.target(value["$ref"], base)
            except BadReference:
                return False  # it is told of where it is converted
        return False

    def _hidden_in(self, value: Schema, base: str) -> frozenset[str]:
        """Properties left out in any branch of an `allOf`: no branch may require them."""
        hidden: set[str] = set()
        ahead: list[tuple[object, str]] = [(value, base)]
        seen: set[int] = set()
        while ahead and len(seen) <= MAX_CHAIN:
            each, place = ahead.pop()
            if not isinstance(each, dict) or id(each) in seen:
                continue
            seen.add(id(each))
            properties, branches = each.get("properties"), each.get("allOf")
            for name, part in properties.items() if isinstance(properties, dict) else ():
                if self._is_left_out(part, place):
                    hidden.add(cleaned(str(name)))
            ahead += [(branch, place) for branch in branches] if isinstance(branches, list) else []
            if "$ref" in each:
                target = self._library.target(each["$ref"], place)
                ahead.append((target.value, target.place))
        return frozenset(hidden)


def _file_name(place: str) -> str:
    return place.rstrip("/").rpartition("/")[2]


def _modern(value: Schema) -> Schema:
    """`items` as a list, as JSON Schema once had it, is `prefixItems` now."""
    if not isinstance(value.get("items"), list):
        return value
    return {**value, "prefixItems": value["items"], "items": value.get("additionalItems")}


def _dependent(value: object) -> Schema:
    if not isinstance(value, dict):
        return {}
    return {
        cleaned(str(name)): list(dict.fromkeys(cleaned(each) for each in names))
        for name, names in value.items()
        if isinstance(names, list) and all(isinstance(each, str) for each in names)
    }


def _nullable(made: Schema) -> Schema:
    """3.0 says `nullable` where JSON Schema says that null is one of the types."""
    null: Schema = {"type": "null"}
    if "$ref" in made or "allOf" in made:
        outer = {key: made.pop(key) for key in _ANNOTATIONS if key in made}
        return {**outer, "anyOf": [made, null]}
    for key in ("anyOf", "oneOf"):
        either = made.get(key)
        if isinstance(either, list) and null not in either:
            made[key] = [*either, null]
    kind, choices = made.get("type"), made.get("enum")
    if isinstance(kind, str) and kind != "null":
        made["type"] = [kind, "null"]
    elif isinstance(kind, list) and "null" not in kind:
        made["type"] = [*kind, "null"]
    if isinstance(choices, list) and None not in choices:
        made["enum"] = [*choices, None]
    return made


def _only_reference(schema: Mapping[str, object]) -> str | None:
    reference = schema.get("$ref")
    alone = set(schema) <= {"$ref", "description", "title"}
    return reference.removeprefix(DEFS) if alone and isinstance(reference, str) else None
