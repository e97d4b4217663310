"""The shape of an answer, as JSON Schema: read off the type of the value that is told."""

import dataclasses
import types
import typing
from collections import Counter
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple, NewType

Schema = dict[str, Any]

PLACE = "#/components/schemas/"
_SIMPLE: dict[object, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    bytes: {"type": "string"},
    type(None): {"type": "null"},
    object: {},
    Any: {},
}


class Record(NamedTuple):
    """An object that is told otherwise than the type it is made from."""

    name: str
    fields: Mapping[str, object]
    """Their types by their names."""
    optional: frozenset[str] = frozenset()


class Several(NamedTuple):
    """A list of such."""

    each: object


def fields_of(kind: type, *, but: Sequence[str] = ()) -> dict[str, object]:
    """The fields of a type, with their types, but for some."""
    hints = typing.get_type_hints(kind, include_extras=True)
    return {name: hints[name] for name in _names(kind) if name not in but}


class Shapes:
    """Schemas of types, each under its own name in the parts of the document."""

    def __init__(self, instead: Mapping[type, Record]) -> None:
        self.parts: dict[str, Schema] = {}
        self._instead = instead
        """How some types are told, wherever they come up."""
        self._known: dict[str, object] = {}

    def of(self, kind: object) -> Schema:
        """As `plain` would write a value of this type."""
        if isinstance(kind, Record):
            return {"$ref": PLACE + self._named(kind, kind)}
        if isinstance(kind, Several):
            return {"type": "array", "items": self.of(kind.each)}
        if kind in _SIMPLE:
            return dict(_SIMPLE[kind])
        if isinstance(kind, NewType):
            return self.of(kind.__supertype__)
        if isinstance(kind, type) and issubclass(kind, Enum):
            return {"type": "string", "enum": [each.value for each in kind]}
        if isinstance(kind, type) and (kind in self._instead or _names(kind)):
            told = self._instead.get(kind) or Record(kind.__name__, fields_of(kind))
            return {"$ref": PLACE + self._named(kind, told)}
        return self._composed(kind)

    def _composed(self, kind: object) -> Schema:
        origin, given = typing.get_origin(kind) or kind, typing.get_args(kind)
        if origin in (typing.Union, types.UnionType):
            return {"anyOf": [self.of(each) for each in given]}
        if origin is typing.Annotated:
            return self.of(given[0])
        if origin is Counter:
            return {"type": "object", "additionalProperties": {"type": "integer"}}
        if isinstance(origin, type) and issubclass(origin, Mapping):
            values = self.of(given[1]) if given else {}
            return {"type": "object", "additionalProperties": values or True}
        if isinstance(origin, type) and issubclass(origin, Sequence):
            return {"type": "array", "items": self.of(given[0]) if given else {}}
        raise TypeError(f"{kind!r} has no shape in JSON")

    def _named(self, kind: object, told: Record) -> str:
        """The name that its schema has in the document, where it is written once."""
        known = self._known.setdefault(told.name, kind)
        if known is not kind:
            raise TypeError(f"two types are called {told.name}, and one document describes both")
        if told.name not in self.parts:
            self.parts[told.name] = {}  # it may refer to itself
            self.parts[told.name] = {
                "type": "object",
                "properties": {name: self.of(each) for name, each in told.fields.items()},
                "required": [name for name in told.fields if name not in told.optional],
            }
        return told.name


def _names(kind: type) -> tuple[str, ...]:
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return tuple(kind._fields)
    if dataclasses.is_dataclass(kind):
        return tuple(field.name for field in dataclasses.fields(kind))
    return ()
