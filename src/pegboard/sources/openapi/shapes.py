"""Values of a document as what they should be, or as nothing if they are something else."""


def mapping(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def text(value: object) -> str:
    return value if isinstance(value, str) else ""


def texts(value: object) -> list[str]:
    """Those entries of a list that are texts."""
    return [each for each in listed(value) if isinstance(each, str)]
