"""References in a server's configuration, looked up at the moment the server is started.

`${NAME}` and `${NAME:-default}` stand for a variable, `${file:PATH#POINTER}` for a text inside a
JSON file, which may have the comments and trailing commas of editors. A value that was looked up
is never looked into again, and no message says what it is.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from mcp.client.stdio import DEFAULT_INHERITED_ENV_VARS

from pegboard.errors import ConfigError, ServerUnavailable
from pegboard.formats import commented_json
from pegboard.model.calls import ServerConfig

_REFERENCE = re.compile(r"\$\{([^}]*)\}")
_VARIABLE = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?", re.DOTALL)


def expand(text: str, environ: Mapping[str, str]) -> str:
    """The text with every reference replaced by what it stands for now."""
    return _REFERENCE.sub(lambda found: _look_up(found[1], environ)[0], text)


def expanded(config: ServerConfig, environ: Mapping[str, str]) -> ServerConfig:
    return config._replace(
        command=expand(config.command, environ),
        args=tuple(expand(each, environ) for each in config.args),
        env={name: expand(value, environ) for name, value in config.env.items()},
        cwd=expand(config.cwd, environ),
        url=expand(config.url, environ),
        headers={name: expand(value, environ) for name, value in config.headers.items()},
    )


def secrets_of(config: ServerConfig, environ: Mapping[str, str]) -> frozenset[str]:
    """The values that came from references, but for defaults, which anybody can read."""
    return frozenset(
        value
        for text in _texts(config)
        for found in _REFERENCE.finditer(text)
        for value, secret in [_look_up(found[1], environ)]
        if secret
    )


def _texts(config: ServerConfig) -> Iterator[str]:
    yield from (config.command, *config.args, *config.env.values())
    yield from (config.cwd, config.url, *config.headers.values())


def _look_up(inside: str, environ: Mapping[str, str]) -> tuple[str, bool]:
    """What a reference stands for, and whether that is a secret."""
    if inside.startswith("file:"):
        path, _, pointer = inside.removeprefix("file:").partition("#")
        return _inside_file(path, pointer, environ), True
    variable = _VARIABLE.fullmatch(inside)
    if variable is None:
        raise ServerUnavailable(
            f"${{{inside}}} is not a reference that Pegboard knows",
            "write ${NAME}, ${NAME:-default} or ${file:PATH#POINTER}",
        )
    name, default = variable[1], variable[2]
    value = environ.get(name)
    if default is not None and not value:
        return default, False
    if value is None:
        raise ServerUnavailable(
            f"the variable {name} is not set",
            f"set it before Pegboard starts, or give it a default: ${{{name}:-...}}",
        )
    # A server is given the inherited ones anyway, and a message without paths says little.
    return value, name not in DEFAULT_INHERITED_ENV_VARS


def _inside_file(path: str, pointer: str, environ: Mapping[str, str]) -> str:
    if path.startswith("~/"):
        path = environ.get("HOME", "~") + path[1:]
    hint = f"put a text at {pointer or 'its top'}, or name another place"
    try:
        place = commented_json.read(Path(path))
    except ConfigError as error:
        raise ServerUnavailable(error.message, hint) from None
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(place, dict):
            place = place.get(key)
        elif isinstance(place, list) and key.isdecimal() and int(key) < len(place):
            place = place[int(key)]
        else:
            place = None
    if isinstance(place, bool) or not isinstance(place, str | int | float):
        raise ServerUnavailable(f"{path} has no text at {pointer or 'its top'}", hint)
    return str(place)
