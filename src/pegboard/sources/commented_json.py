"""JSON as editors keep it: with comments and trailing commas."""

import json
import re
from collections import Counter
from pathlib import Path

from pegboard.errors import ConfigError

_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_COMMENT = re.compile(rf"{_STRING}|//[^\n]*|/\*.*?\*/", re.DOTALL)
_COMMA = re.compile(rf"({_STRING})|(?<=[^\s\[{{,])(\s*),(?=\s*[}}\]])", re.DOTALL)
_NOT_A_BREAK = re.compile(r"[^\n]")


class Object(dict[str, object]):
    """A JSON object that remembers which keys were written more than once."""

    def __init__(self, pairs: list[tuple[str, object]]) -> None:
        super().__init__(pairs)
        self.repeated = [
            key for key, times in Counter(key for key, _ in pairs).items() if times > 1
        ]


def read(path: Path) -> object:
    try:
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8: {error.reason} at byte {error.start}") from error
    try:
        return json.loads(_plain(text), object_pairs_hook=Object)
    except json.JSONDecodeError as error:
        if not text.strip():
            raise ConfigError(f"{path} is empty") from error
        raise ConfigError(
            f"{path} is not valid JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        ) from error
    except (RecursionError, ValueError) as error:
        raise ConfigError(f"{path} is not JSON that can be read: {error}") from error


def look_up(path: Path, pointer: str) -> str:
    """The text or number that a JSON pointer leads to; of what it is, no message says a word."""
    place = read(path)
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(place, dict):
            place = place.get(key)
        elif isinstance(place, list) and key.isdecimal() and int(key) < len(place):
            place = place[int(key)]
        else:
            place = None
    if isinstance(place, bool) or not isinstance(place, str | int | float):
        raise ConfigError(
            f"{path} has no text at {pointer} any more",
            "put it back, or add the server again: pegboard add mcp --from FILE",
        )
    return str(place)


def _plain(text: str) -> str:
    """The same length and lines, so that an error's place is the place in the file."""
    bare = _COMMENT.sub(lambda found: _blank(found[0]), text)
    return _COMMA.sub(lambda found: found[1] or f"{found[2]} ", bare)


def _blank(found: str) -> str:
    return found if found.startswith('"') else _NOT_A_BREAK.sub(" ", found)
