"""On which line a key of a document stands, for those who have to mend it."""

from collections.abc import Iterable
from contextlib import suppress

import yaml

_PARSER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

Path = tuple[str, ...]


class _Open:
    """A mapping or list that has begun, and whose turn it is in a mapping."""

    __slots__ = ("is_mapping", "key")

    def __init__(self, *, is_mapping: bool) -> None:
        self.is_mapping = is_mapping
        self.key: str | None = None


def lines_of(content: bytes, paths: Iterable[Path]) -> dict[Path, int]:
    """The line of each path, or of the nearest above it that stands in the document.

    JSON is YAML enough for this. What cannot be read ends the search, and what was found counts.
    """
    asked = set(paths)
    wanted = {path[:end] for path in asked for end in range(1, len(path) + 1)}
    found: dict[Path, int] = {(): 1}
    with suppress(yaml.YAMLError, UnicodeDecodeError):  # it was read by more forgiving means
        _search(content, wanted, found)
    return {path: _nearest(path, found) for path in asked}


def _nearest(path: Path, found: dict[Path, int]) -> int:
    while path not in found:
        path = path[:-1]
    return found[path]


def _search(content: bytes, wanted: set[Path], found: dict[Path, int]) -> None:
    opened: list[_Open] = []
    for event in yaml.parse(content, Loader=_PARSER):
        if len(found) > len(wanted):
            return
        within = opened[-1] if opened else None
        if isinstance(event, yaml.CollectionEndEvent):
            opened.pop()
            if opened:
                opened[-1].key = None
        elif not isinstance(event, yaml.NodeEvent):
            continue
        elif within and within.is_mapping and within.key is None:
            within.key = event.value if isinstance(event, yaml.ScalarEvent) else ""
            path = tuple(each.key or "" for each in opened)
            if path in wanted and event.start_mark:
                found.setdefault(path, event.start_mark.line + 1)
        elif isinstance(event, yaml.CollectionStartEvent):
            opened.append(_Open(is_mapping=isinstance(event, yaml.MappingStartEvent)))
        elif within:
            within.key = None
