"""JSON as editors keep it: with comments and trailing commas."""

import json
import re
from collections import Counter
from pathlib import Path

from pegboard.errors import ConfigError

_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_COMMENT = rf"(?s){_STRING}|//[^\n]*|/\*.*?\*/"
_COMMA = rf"(?s)({_STRING})|(?<=[^\s\[{{,])(\s*),(?=\s*[}}\]])"


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


def _plain(text: str) -> str:
    """The same length and lines, so that an error's place is the place in the file."""
    bare = re.sub(_COMMENT, lambda found: _blank(found[0]), text)
    return re.sub(_COMMA, lambda found: found[1] or f"{found[2]} ", bare)


def _blank(found: str) -> str:
    return found if found.startswith('"') else re.sub(r"[^\n]", " ", found)
