"""The command of a manifest, with arguments put where it names them.

Only where an argument becomes a word of its own, or the value of an option: inside a longer text,
such as a script for a shell, it could be taken for a part of the script.
"""

import re
import shlex
from collections.abc import Collection

from pegboard.errors import CallError, InvalidArguments
from pegboard.execute.variables import text_of
from pegboard.model.content import Json

MOST_BYTES = 100_000
"""Systems take little more in one word."""

_NAMED = re.compile(r"\{([^{}]+)\}")
_WORD = re.compile(r"((?:--?)?[A-Za-z0-9][A-Za-z0-9_.-]*=)?\{([^{}]+)\}")
_TAKES_SCRIPT = re.compile(r"-[A-Za-z]*c")


def command_of(config: Json, parameters: Collection[str], arguments: Json) -> tuple[str, ...]:
    """`{name}` is a text like any other if no parameter has that name. Raises `CallError`."""
    known = {*parameters, *arguments}
    found: list[str] = []
    before = ""
    for word in _words(config.get("command")):
        if (filled := _filled(word, before, known, arguments)) is not None:
            found.append(filled)
        before = word
    return tuple(found)


def _words(command: object) -> list[str]:
    if isinstance(command, str):
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise CallError(
                f"its command cannot be split into words: {error}",
                "write it as a list in the manifest",
            ) from error
    else:
        words = [str(each) for each in command] if isinstance(command, list | tuple) else []
    if any("\0" in word for word in words):
        raise CallError("its command has a zero character in it", "correct the manifest")
    return words


def _filled(word: str, before: str, known: Collection[str], arguments: Json) -> str | None:
    """None if it names an argument that was not given."""
    asked = [name for name in _NAMED.findall(word) if name in known]
    if not asked:
        return word
    whole = _WORD.fullmatch(word)
    if whole is None or (whole[1] and _TAKES_SCRIPT.fullmatch(before)):
        raise CallError(
            f"its command has {{{asked[0]}}} inside {word[:200]!r}, where it could become code",
            "let the manifest have it as a word of its own or as --option={name}, or let the "
            "command read it from $ARG_<NAME> or from the file $PEGBOARD_ARGUMENTS",
        )
    option, name = whole[1] or "", whole[2]
    if name not in arguments:
        return None
    text = option + text_of(name, arguments[name])
    if len(text.encode()) > MOST_BYTES:
        raise InvalidArguments(
            f"the argument {name!r} is too long for a command line",
            f"give at most {MOST_BYTES:,} bytes",
        )
    return text
