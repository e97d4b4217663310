"""Arguments as variables of a process: `ARG_<NAME>`, texts as they are and all else as JSON."""

import json
import re

from pegboard.errors import InvalidArguments
from pegboard.model.content import Json

PREFIX = "ARG_"
MOST_BYTES = 100_000
"""A longer value is only in the file of arguments."""
MOST_BYTES_IN_ALL = 1_000_000


def variables_of(arguments: Json) -> dict[str, str]:
    """Raises `InvalidArguments`."""
    names: dict[str, str] = {}
    found: dict[str, str] = {}
    room = MOST_BYTES_IN_ALL
    for name, value in arguments.items():
        called = variable(name)
        if called in names:
            raise InvalidArguments(
                f"the arguments {names[called]!r} and {name!r} would both be ${called}",
                "leave one of them out",
            )
        names[called] = name
        text = text_of(name, value)
        size = len(text.encode())
        if size <= min(MOST_BYTES, room):
            found[called] = text
            room -= size
    return found


def variable(name: str) -> str:
    return PREFIX + re.sub(r"[^A-Za-z0-9]", "_", name).upper()


def text_of(name: str, value: object) -> str:
    """As a process can be given it. Raises `InvalidArguments`."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidArguments(
            f"the argument {name!r} has half a character in it", "give it as valid Unicode"
        ) from None
    if "\0" in text:
        raise InvalidArguments(
            f"the argument {name!r} has a zero character in it", "leave that character out"
        )
    return text
