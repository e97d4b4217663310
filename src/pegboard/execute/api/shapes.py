"""Values of what is stored with a tool as what they should be, or as nothing if they are not."""

from collections.abc import Mapping

from pegboard.model.content import EMPTY, Json


def mapping(value: object) -> Json:
    return value if isinstance(value, Mapping) else EMPTY


def mappings(value: object) -> list[Json]:
    """Those entries of a list that are objects."""
    return [each for each in listed(value) if isinstance(each, Mapping)]


def listed(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple) else []


def text(value: object) -> str:
    return value if isinstance(value, str) else ""


def texts(value: object) -> list[str]:
    return [each for each in listed(value) if isinstance(each, str)]
