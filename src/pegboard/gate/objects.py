"""JSON objects from strangers: bounded in depth and size, with only visible characters in them."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping

from pegboard.gate.characters import first_forbidden
from pegboard.gate.limits import Limits
from pegboard.gate.refusal import Refused, shown
from pegboard.model.content import Json

# Whatever JSON writes as an escape and may be forbidden: controls, and lone surrogates.
_ESCAPED = re.compile(r"\\[bu]")

_LEAVES = frozenset((str, int, float, bool, type(None)))


def clean_object(name: str, found: object, limits: Limits) -> Json:
    if found is None:
        return {}
    if not isinstance(found, Mapping):
        raise Refused("bad_type", f"{name} is {shown(found)}; it must be an object")
    _bound(name, found, limits)
    try:
        text = json.dumps(found, ensure_ascii=False, allow_nan=False, default=_mapping)
    except (TypeError, ValueError) as error:
        raise Refused("not_json", f"{name} cannot be written as JSON: {error}") from error
    if len(text) > limits.object_bytes:
        raise Refused(
            "too_long",
            f"{name} has {len(text):,} characters as JSON;"
            f" at most {limits.object_bytes:,} are allowed",
        )
    clean: dict[str, object] = json.loads(text)
    texts = _texts_in(clean) if _ESCAPED.search(text) else [text]
    for each in texts:
        if forbidden := first_forbidden(each):
            raise Refused("hidden_characters", f"{name} contains {forbidden}; remove it")
    return clean


def _bound(name: str, value: Mapping[object, object], limits: Limits) -> None:
    """Level by level and not by recursion, so that depth itself can do no harm.

    Counted before it is spread out: parts that are shared many times, as YAML allows, would
    otherwise grow without end.
    """
    level: list[object] = [value]
    for _ in range(limits.object_depth + 2):
        parts = [
            each
            for each in level
            if type(each) not in _LEAVES and isinstance(each, Mapping | list | tuple)
        ]
        if not parts:
            return
        if sum(map(len, parts)) > limits.object_bytes:
            raise Refused("too_long", f"{name} has more parts than can be kept")
        level = [child for each in parts for child in _children(each)]
    raise Refused("too_deep", f"{name} is nested deeper than {limits.object_depth} levels")


def _children(value: object) -> Iterable[object]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list | tuple) else ()


def _texts_in(value: object) -> Iterator[str]:
    """Every text of a JSON value whose depth is known to be bounded, keys included."""
    if isinstance(value, str):
        yield value
    if isinstance(value, dict):
        yield from value
    for child in _children(value):
        yield from _texts_in(child)


def _mapping(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not JSON")
