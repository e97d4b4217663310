"""Parameters that nobody has described, at any depth of a schema."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from pegboard.formats.plain import pointed
from pegboard.model.content import Json

MOST_PATHS = 100
MOST_STEPS = 5_000
"""So many schemas are looked at: what refers to itself twice over would never end."""
DEEPEST = 12
ENTRY = "[]"
"""Behind the path of a list or a map, for what is in it: it has no name of its own."""


class _Place(NamedTuple):
    schema: object
    path: str = ""
    needed: bool = True
    """Whether whoever calls the tool has to give it."""
    depth: int = 0
    within: frozenset[str] = frozenset()
    """The references that led here."""


def undescribed(schema: Json) -> tuple[str, ...]:
    """Their paths, `filter.tags[].name`; what must be given first, and else in their order."""
    needed: dict[str, bool] = {}
    described: set[str] = set()
    for place, said in _places(schema):
        if place.path and not place.path.endswith(ENTRY):
            needed[place.path] = needed.get(place.path, False) or place.needed
            described |= {place.path} if said else set()
    lacking = [path for path in needed if path not in described]
    return tuple(sorted(lacking, key=lambda path: not needed[path])[:MOST_PATHS])


def _places(root: Json) -> Iterator[tuple[_Place, bool]]:
    """Every part of a schema, and whether it is described; those nearest to the top first."""
    ahead, steps = [_Place(root)], 0
    while ahead:
        behind: list[_Place] = []
        for place in ahead:
            steps += 1
            if steps > MOST_STEPS:
                return
            target, within = _followed(root, place)
            yield place, _says(place.schema) or _says(target)
            if isinstance(target, Mapping) and place.depth < DEEPEST:
                behind += _inside(target, place._replace(within=within, depth=place.depth + 1))
        ahead = behind


def _followed(root: Json, place: _Place) -> tuple[object, frozenset[str]]:
    """The schema that a reference means; nothing if it leads round in a circle, or elsewhere."""
    found, within = place.schema, place.within
    while isinstance(found, Mapping) and isinstance(ref := found.get("$ref"), str):
        if ref in within or not ref.startswith("#"):
            return None, within
        within |= {ref}
        found = pointed(root, ref[1:])
    return found, within


def _inside(schema: Json, place: _Place) -> Iterator[_Place]:
    required = schema.get("required")
    names = required if isinstance(required, list) else []
    for name, each in _mapping(schema, "properties").items():
        path = f"{place.path}.{name}" if place.path else str(name)
        yield place._replace(schema=each, path=path, needed=place.needed and name in names)
    entries = [schema.get("items"), schema.get("additionalProperties")]
    for each in (*entries, *_mapping(schema, "patternProperties").values()):
        if isinstance(each, Mapping):
            yield place._replace(schema=each, path=place.path + ENTRY, needed=False)
    for key in ("allOf", "anyOf", "oneOf"):
        several = schema.get(key)
        for each in several if isinstance(several, list) else []:
            # They say more of the same thing; what only one of several has need not be given.
            yield place._replace(schema=each, needed=place.needed and key == "allOf")


def _mapping(schema: Json, key: str) -> Json:
    found = schema.get(key)
    return found if isinstance(found, Mapping) else {}


def _says(schema: object) -> bool:
    text = schema.get("description") if isinstance(schema, Mapping) else None
    return isinstance(text, str) and bool(text.strip())
