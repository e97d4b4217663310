"""What `plain` made of values, read back into the same values by their type hints.

A gateway may be older or newer than whoever asks it. Fields that are not known here are passed
over; one that is missing takes its default, and without one it is said which.
"""

import dataclasses
import reprlib
import types
import typing
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import cache
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")


class Undecodable(ValueError):
    """Something is not what its place asks for. The message begins with the place."""


class _Field(NamedTuple):
    name: str
    hint: Any
    needed: bool


def decoded(kind: type[T], value: object) -> T:
    """Raises `Undecodable` where the value is of another kind."""
    return typing.cast(T, _decoded(kind, value, ""))


def _decoded(hint: Any, value: object, where: str) -> object:  # noqa: ANN401 (any type hint)
    while isinstance(hint, typing.NewType):
        hint = hint.__supertype__
    origin = typing.get_origin(hint)
    if hint in (object, Any):
        return value
    if origin in (typing.Union, types.UnionType):
        return _one_of(typing.get_args(hint), value, where)
    if hint is Counter or origin is Counter:
        return Counter(_mapping((str, int), value, where))
    if _is(origin, Mapping):
        return _mapping(typing.get_args(hint), value, where)
    if _is(origin, Sequence):
        return _sequence(origin, typing.get_args(hint)[0], value, where)
    if isinstance(hint, type) and (hasattr(hint, "_fields") or dataclasses.is_dataclass(hint)):
        return _record(hint, value, where)
    return _single(hint, value, where)


def _is(origin: object, kind: type) -> bool:
    return isinstance(origin, type) and issubclass(origin, kind)


def _one_of(hints: tuple[Any, ...], value: object, where: str) -> object:
    if value is None and types.NoneType in hints:
        return None
    others = [hint for hint in hints if hint is not types.NoneType]
    for hint in others[:-1]:
        try:
            return _decoded(hint, value, where)
        except Undecodable:
            continue
    return _decoded(others[-1], value, where)


def _mapping(hints: tuple[Any, ...], value: object, where: str) -> dict[Any, object]:
    if not isinstance(value, dict):
        raise _wrong(where, value, "an object")
    key, each = hints
    return {
        _decoded(key, name, where): _decoded(each, part, _inside(where, name))
        for name, part in value.items()
    }


def _sequence(
    origin: Any,  # noqa: ANN401 (any kind of sequence)
    hint: Any,  # noqa: ANN401
    value: object,
    where: str,
) -> Sequence[object]:
    if not isinstance(value, list):
        raise _wrong(where, value, "a list")
    found = [_decoded(hint, part, _inside(where, at)) for at, part in enumerate(value)]
    return tuple(found) if origin is tuple else found


def _record(kind: Callable[..., object], value: object, where: str) -> object:
    if not isinstance(value, dict):
        raise _wrong(where, value, "an object")
    given: dict[str, object] = {}
    for name, hint, needed in _fields(kind):
        if name in value:
            given[name] = _decoded(hint, value[name], _inside(where, name))
        elif needed:
            raise Undecodable(f"{_inside(where, name)} is missing")
    return kind(**given)


@cache
def _fields(kind: Any) -> tuple[_Field, ...]:  # noqa: ANN401 (a named tuple or a dataclass)
    hints = typing.get_type_hints(kind)
    if dataclasses.is_dataclass(kind):
        needed = {
            each.name
            for each in dataclasses.fields(kind)
            if each.default is dataclasses.MISSING and each.default_factory is dataclasses.MISSING
        }
        return tuple(
            _Field(each.name, hints[each.name], each.name in needed)
            for each in dataclasses.fields(kind)
        )
    return tuple(
        _Field(name, hints[name], name not in kind._field_defaults) for name in kind._fields
    )


_NAMES = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}


def _single(hint: Any, value: object, where: str) -> object:  # noqa: ANN401 (any type hint)
    if isinstance(hint, type) and issubclass(hint, Enum):
        try:
            return hint(value)
        except ValueError:
            known = ", ".join(str(each.value) for each in hint)
            raise _wrong(where, value, f"one of {known}") from None
    if hint is bytes and isinstance(value, str):
        return value.encode("utf-8", "replace")
    if hint is float and type(value) is int:
        return float(value)
    if type(value) is not hint:
        raise _wrong(where, value, _NAMES.get(hint, str(hint)))
    return value


def _inside(where: str, name: object) -> str:
    return f"{where}.{name}" if where else str(name)


def _wrong(where: str, value: object, wanted: str) -> Undecodable:
    return Undecodable(f"{where or 'the answer'} is {reprlib.repr(value)}, and not {wanted}")
