"""The keys of one MCP server's configuration, read one by one, each with its own check.

Keys may be written `includeTools` or `include_tools`; `KEYS` has all of them. A bare `timeout` is
in seconds up to an hour, as Cline has it, and in milliseconds beyond, as Gemini CLI has it. Keys
of a JSON file that are not known belong to its client and are passed over; anywhere else they are
errors.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from pegboard.errors import ConfigError, PegboardError
from pegboard.model.calls import ServerConfig, Transport
from pegboard.model.items import DEFAULT_NAMESPACE
from pegboard.sources import secret_looks as mcp_secrets

_MEANINGS: Mapping[str, tuple[str, ...]] = {
    "command": ("command",),
    "args": ("args",),
    "env": ("env",),
    "cwd": ("cwd",),
    "url": ("url", "server_url", "http_url"),
    "transport": ("type", "transport", "transport_type"),
    "headers": ("headers",),
    "include_tools": ("include_tools", "enabled_tools", "allowed_tools"),
    "exclude_tools": ("exclude_tools", "disabled_tools"),
    "enabled": ("enabled",),
    "disabled": ("disabled",),
    "start_seconds": (
        *("start_seconds", "start_timeout", "startup_timeout", "init_timeout"),
        *("startup_timeout_sec", "startup_timeout_ms"),
    ),
    "call_seconds": ("call_seconds", "timeout", "tool_timeout", "tool_timeout_sec", "timeout_ms"),
    "namespace": ("namespace",),
    "env_file": ("env_file",),
    "headers_helper": ("headers_helper",),
}
KEYS: Mapping[str, str] = {key: name for name, keys in _MEANINGS.items() for key in keys}
"""Every key that means something, in snake case, and what it means."""
_NOT_FOLLOWED = {
    "env_file": "write the variables that the server needs under env, as ${NAME}, and export them",
    "headers_helper": "write the headers under headers, with ${NAME} for what is secret",
}
_TRANSPORTS = {
    "stdio": Transport.STDIO,
    "local": Transport.STDIO,
    "http": Transport.HTTP,
    "remote": Transport.HTTP,
    "streamablehttp": Transport.HTTP,
    "sse": Transport.SSE,
}
_HOUR = 3600
_ENDLESS = 1e12
_NAME = r"[a-z0-9][a-z0-9_.-]{0,62}"
_KEY = r"[^\s=\0]+"
_ADDRESS = r"https?://[^/]|\$\{"
_ENDS_IN_SSE = r"/sse/?(?:[?#]|$)"
_UNUSABLE = "[\0\ud800-\udfff]"


class Place(NamedTuple):
    """Where a server was written down, and what follows from that."""

    where: str
    error: type[PegboardError] = ConfigError
    folder: Path | None = None
    """What a relative working folder is relative to."""
    project: Path | None = None
    """The folder that an editor has open, as far as its file tells."""
    file: Path | None = None
    """The JSON file that secrets can stay in."""
    pointer: tuple[str, ...] = ()


class Reading:
    """Reads the keys of one server, each with its own check."""

    def __init__(self, name: str, table: Mapping[str, object], place: Place) -> None:
        self.place = place
        self.name = self._board_name(name)
        self.keys: dict[str, str] = {}
        """Each meaning as it is written here."""
        self.said: dict[str, object] = {}
        for key, value in table.items():
            meaning = KEYS.get(_snake(key))
            if meaning is None:
                self._pass_over(key)
            elif value is not None:
                if meaning in self.said:
                    raise self._wrong(f"{self.keys[meaning]} and {key} say the same", "keep one")
                self.keys[meaning], self.said[meaning] = key, value

    def config(self) -> ServerConfig:
        for meaning, hint in _NOT_FOLLOWED.items():
            if meaning in self.said:
                raise self._wrong(f"{self.keys[meaning]} is not followed here", hint)
        url, command = self._url(), self._text("command")
        if bool(url) == bool(command):
            has = "both a command and a url" if url else "neither a command nor a url"
            raise self._wrong(f"it has {has}", "give the one that the server is reached by")
        return ServerConfig(
            name=self.name,
            transport=self._transport(url),
            command=command,
            args=self._args(),
            env=self._pairs("env"),
            cwd=self._cwd(),
            url=url,
            headers=self._pairs("headers"),
            include_tools=self._texts("include_tools"),
            exclude_tools=self._texts("exclude_tools"),
            start_seconds=self._seconds("start_seconds"),
            call_seconds=self._seconds("call_seconds"),
            namespace=self._text("namespace") or DEFAULT_NAMESPACE,
            enabled=self._flag("enabled", True) and not self._flag("disabled", False),
        )

    def _board_name(self, name: str) -> str:
        made = re.sub(r"[^a-z0-9_.-]+", "-", name.lower()).strip("-_.")
        if not re.fullmatch(_NAME, made):
            raise self._wrong(
                "its name cannot be used on a board",
                "take one of at most 63 letters, digits, '-', '_' and '.'",
            )
        return made

    def _pass_over(self, key: str) -> None:
        if self.place.file is None:
            from difflib import get_close_matches

            near = get_close_matches(_snake(key), KEYS, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(sorted(KEYS))}"
            raise self._wrong(f"unknown key {key!r}", hint)

    def _transport(self, url: str) -> Transport:
        said = self._text("transport")
        plain = re.sub(r"[-_ ]", "", said.lower())
        if url and plain in ("", "remote"):
            return Transport.SSE if re.search(_ENDS_IN_SSE, url) else Transport.HTTP
        found = _TRANSPORTS.get(plain or "stdio")
        if found is None:
            raise self._expected("transport", "stdio, http, streamable-http or sse")
        if (found is Transport.STDIO) == bool(url):
            needed = "a command" if url else "a url"
            raise self._wrong(f"{self.keys['transport']} is {said!r}, and that needs {needed}")
        return found

    def _url(self) -> str:
        url = self._text("url")
        if url and not re.match(_ADDRESS, str(self.said["url"])):
            raise self._expected("url", "an address that begins with http:// or https://")
        return url

    def _cwd(self) -> str:
        cwd = self._text("cwd")
        if cwd.startswith("~/"):
            return f"${{HOME}}{cwd[1:]}"
        if not cwd or cwd.startswith("${") or self.place.folder is None:
            return cwd
        return str(self.place.folder / cwd)

    def _text(self, meaning: str) -> str:
        value = self.said.get(meaning, "")
        if not isinstance(value, str):
            raise self._expected(meaning, "text")
        text = self._usable(meaning, value, "text")
        return self._stored(text, meaning) if mcp_secrets.is_secret(text) else text

    def _texts(self, meaning: str) -> tuple[str, ...]:
        value = self.said.get(meaning, [])
        if not isinstance(value, list | tuple):
            raise self._expected(meaning, "a list of texts")
        return tuple(self._usable(meaning, each, "a list of texts") for each in value)

    def _args(self) -> tuple[str, ...]:
        args = list(self._texts("args"))
        for place, name in mcp_secrets.secret_arguments(tuple(args)):
            args[place] = self._stored(args[place], "args", str(place), name)
        return tuple(args)

    def _pairs(self, meaning: str) -> dict[str, str]:
        value = self.said.get(meaning, {})
        expected = "an object with a text under each name"
        if not isinstance(value, Mapping):
            raise self._expected(meaning, expected)
        pairs = {}
        for name, each in value.items():
            if not re.fullmatch(_KEY, name):
                raise self._expected(meaning, "an object whose names have no '=' or blank in them")
            text = mcp_secrets.from_plain_dollar(self._usable(meaning, each, expected))
            secret = mcp_secrets.is_secret(text, name)
            pairs[name] = self._stored(text, meaning, name, name) if secret else text
        return pairs

    def _seconds(self, meaning: str) -> float:
        value = self.said.get(meaning, ServerConfig._field_defaults[meaning])
        number = value if isinstance(value, int | float) and not isinstance(value, bool) else 0
        if not 0 < number < _ENDLESS:
            raise self._expected(meaning, "a number above 0")
        key = _snake(self.keys.get(meaning, meaning))
        named = key.endswith(("_seconds", "_sec", "_ms"))
        milliseconds = key.endswith("_ms") if named else number > _HOUR
        return number / 1000 if milliseconds else float(number)

    def _flag(self, meaning: str, default: bool) -> bool:
        value = self.said.get(meaning, default)
        if not isinstance(value, bool):
            raise self._expected(meaning, "true or false")
        return value

    def _usable(self, meaning: str, value: object, expected: str) -> str:
        """A text, or a number as text, with its references as Pegboard writes them."""
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise self._expected(meaning, expected)
        text = str(value)
        if re.search(_UNUSABLE, text):
            raise self._wrong(f"{self.keys[meaning]} has a character that no program can be given")
        try:
            return mcp_secrets.normal(text, self.place.project)
        except mcp_secrets.BadReference as bad:
            raise self._wrong(f"{self.keys[meaning]} {bad.reason}", bad.hint) from bad

    def _stored(self, secret: str, meaning: str, at: str = "", name: str = "") -> str:
        """A reference to a secret, which stands at a place inside the key and may have a name."""
        key = self.keys[meaning]
        shown = f"{key} {name}" if name else key
        if mcp_secrets.refers(secret):
            raise self._wrong(f"{shown} has a secret beside a reference", "write only ${NAME}")
        file = self.place.file
        if file is None:
            variable = name if name.isupper() else f"{self.name}_{name or key}"
            variable = re.sub(r"\W", "_", variable).upper().lstrip("0123456789")
            raise self._wrong(
                f"{shown} looks like a secret, and those are not stored",
                f"write ${{{variable}}}, in single quotes in a shell, and export that variable",
            )
        parts = (*self.place.pointer, key, at) if at else (*self.place.pointer, key)
        pointer = "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in parts)
        if "#" in str(file) or "}" in f"{file}{pointer}":
            raise self._wrong(
                f"{shown} is a secret, and no reference can have the '#' or '}}' on the way to it",
                "write ${NAME} instead and export that variable",
            )
        return f"${{file:{file}#{pointer}}}"

    def _expected(self, meaning: str, expected: str) -> PegboardError:
        """Says what kind of value is there and not which: it may be a secret."""
        kind = kind_of(self.said[meaning])
        return self._wrong(f"{self.keys[meaning]} is {kind}; it must be {expected}")

    def _wrong(self, problem: str, hint: str = "") -> PegboardError:
        return self.place.error(f"{self.place.where}: {problem}", hint)


def _snake(key: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key).replace("-", "_").lower()


def kind_of(value: object) -> str:
    kinds = {dict: "an object", list: "a list", str: "text", bool: "true or false"}
    kinds |= {int: "a number", float: "a number", type(None): "null"}
    return next(
        (told for kind, told in kinds.items() if isinstance(value, kind)), "of another kind"
    )
