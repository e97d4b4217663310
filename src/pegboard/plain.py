"""Values in words that JSON has: the same on every face."""

import dataclasses
from collections.abc import Mapping, Sequence


def plain(value: object) -> object:
    """Records, tuples and bytes as what JSON has words for."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return plain(value._asdict())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(each) for each in value]
    return value
