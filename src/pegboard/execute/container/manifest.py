"""What a manifest and its arguments ask of a container: an image, a command and variables.

An argument is put into the command only where it becomes a word of its own, or the value of an
option: inside a longer text, such as a script for a shell, it could be taken for a part of it.
"""

import re
import shlex
from collections.abc import Collection, Mapping
from typing import NamedTuple

from pegboard.errors import CallError, InvalidArguments
from pegboard.execute.container.mounts import ARGUMENTS, OUTPUT
from pegboard.execute.grants import handed_over
from pegboard.execute.job import Job
from pegboard.execute.secrets import environment_of
from pegboard.execute.variables import text_of, variables_of
from pegboard.model.content import Json

HOME = "/tmp"  # noqa: S108 (in the container, where it is private and in memory)

MOST_BYTES = 100_000
"""Systems take little more in one word."""

_NAMED = re.compile(r"\{([^{}]+)\}")
_WORD = re.compile(r"((?:--?)?[A-Za-z0-9][A-Za-z0-9_.-]*=)?\{([^{}]+)\}")
_TAKES_SCRIPT = re.compile(r"-[A-Za-z]*c")
_IMAGE = re.compile(r"[a-z0-9]\S*")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")


class Asked(NamedTuple):
    image: str
    command: tuple[str, ...]
    variables: Mapping[str, str]


def asked_of(job: Job, environ: Mapping[str, str]) -> Asked:
    """Raises `CallError`: `InvalidArguments` and `SecretMissing` among them."""
    config = job.item.executor
    image = config.get("image")
    if not isinstance(image, str) or not _IMAGE.fullmatch(image):
        raise CallError(f"its image {image!r} is no name of an image", "correct the manifest")
    properties = job.item.input_schema.get("properties")
    parameters = properties.keys() if isinstance(properties, Mapping) else ()
    command = command_of(config, parameters, job.arguments)
    return Asked(image, command, _variables(job, environ))


def _variables(job: Job, environ: Mapping[str, str]) -> dict[str, str]:
    granted = {
        name: value
        for name, value in handed_over(environ, job.grants).items()
        if _VARIABLE.fullmatch(name)
    }
    said = environment_of(job.item.executor, job.secrets)
    for name, value in said.items():
        if not _VARIABLE.fullmatch(name) or "\0" in value:
            raise CallError(
                f"its variable {name[:200]!r} has a name or a value that no process can have",
                "correct env in the manifest",
            )
    own = {"PEGBOARD_ARGUMENTS": ARGUMENTS, "PEGBOARD_OUTPUT": OUTPUT}
    return {"HOME": HOME, **granted, **said, **variables_of(job.arguments), **own}


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
