"""Values in words that JSON has: the same on every face."""

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
