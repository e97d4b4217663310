"""Values that somebody else wrote as what they should be, or as nothing if they are not."""

from collections.abc import Mapping


def mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def mappings(value: object) -> list[Mapping[str, object]]:
    """Those entries of a list that are objects."""
    return [each for each in listed(value) if isinstance(each, Mapping)]


def listed(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple) else []


def text(value: object) -> str:
    return value if isinstance(value, str) else ""


def texts(value: object) -> list[str]:
    """Those entries of a list that are texts."""
    return [each for each in listed(value) if isinstance(each, str)]
