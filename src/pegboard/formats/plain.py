"""Values in words that JSON has: the same on every face; and what its pointers lead to."""

import dataclasses
from collections.abc import Mapping, Sequence

_SAME = frozenset({str, int, float, bool, type(None)})


def plain(value: object) -> object:
    """Records, tuples and bytes as what JSON has words for."""
    if type(value) in _SAME or isinstance(value, str):  # most are; the rest takes long to tell
        return value
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: plain(each) for name, each in value._asdict().items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, Sequence):
        return [plain(each) for each in value]
    return value


def pointed(value: object, pointer: str) -> object:
    """What a JSON pointer leads to; None if that is nothing."""
    for step in pointer.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, Mapping):
            value = value.get(key)
        elif isinstance(value, list) and key.isascii() and key.isdigit() and len(key) < 9:
            value = value[int(key)] if int(key) < len(value) else None
        else:
            return None
    return value
