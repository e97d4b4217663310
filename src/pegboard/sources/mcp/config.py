"""How MCP servers are written down: in clients' JSON files, in `pegboard.toml`, on a command line.

What is made here is stored, so nothing in it is a secret: one in a JSON file is replaced by a
reference to its place, one anywhere else is refused.
"""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pegboard.errors import ConfigError, UsageError
from pegboard.formats import commented_json
from pegboard.model.calls import NOTHING, ServerConfig, Transport
from pegboard.sources.mcp.keys import Place, Reading, kind_of

GROUPS = ("mcpServers", "servers", "mcp_servers", "mcp-servers", "ptc_servers", "ptc-servers")
"""Where files keep their servers: most clients, VS Code, and freeact's two kinds."""

_FROM_FILE = r"\$\{file:([^}#]*)#[^}]*\}"
_SHORT = 160


def read_file(path: Path, only: str | None = None) -> list[ServerConfig]:
    """The servers of a JSON file, or one; the first thing that is wrong with one is an error."""
    path = path.expanduser().absolute()
    project = path.parent.parent if path.parent.name in (".vscode", ".cursor") else None
    found: dict[str, ServerConfig] = {}
    written: dict[str, str] = {}
    for pointer, name, table in _servers(path, commented_json.read(path)):
        if only not in (None, name):
            continue
        where = f"{path}: server {name!r}"
        if not isinstance(table, dict):
            raise ConfigError(f"{where} is {kind_of(table)}; it must be an object")
        place = Place(
            where, folder=project or path.parent, project=project, file=path, pointer=pointer
        )
        config = Reading(name, table, place).config()
        if config.name in found:
            raise ConfigError(
                f"{path}: the servers {written[config.name]!r} and {name!r} would both be named"
                f" {config.name!r}",
                "rename one of them",
            )
        found[config.name] = config
        written[config.name] = name
    if not found and only is not None:
        known = ", ".join(name for _, name, _ in _servers(path, commented_json.read(path)))
        raise ConfigError(f"{path} has no server {only!r}", f"it has: {known or 'none'}")
    if not found:
        raise ConfigError(
            f"{path} names no servers",
            f"they are looked for under {', '.join(GROUPS[:-1])} or {GROUPS[-1]}",
        )
    return list(found.values())


def from_table(name: str, table: Mapping[str, object], *, where: str) -> ServerConfig:
    """A table `[mcp.servers.NAME]`; `where` is the path of the settings file it stands in."""
    place = Place(f"{where}: mcp.servers.{name}", folder=Path(where).parent)
    return Reading(name, table, place).config()._replace(declared_in=where)


def from_command(
    name: str, argv: Sequence[str], *, env: Mapping[str, str] = NOTHING, cwd: str = ""
) -> ServerConfig:
    if not argv:
        raise UsageError(f"no command for the server {name!r}", "write it after --")
    table = {"command": argv[0], "args": list(argv[1:]), "env": dict(env), "cwd": cwd}
    return Reading(name, table, Place(f"server {name!r}", UsageError)).config()


def from_url(
    name: str, url: str, headers: Mapping[str, str] = NOTHING, *, transport: Transport | None = None
) -> ServerConfig:
    table = {"url": url, "headers": dict(headers), "type": transport}
    return Reading(name, table, Place(f"server {name!r}", UsageError)).config()


def location(config: ServerConfig) -> str:
    """The command line or address in one short line, for people."""
    told = config.url or shlex.join([config.command, *config.args])
    told = re.sub(_FROM_FILE, lambda found: f"<from {Path(found[1]).name}>", told)
    told = " ".join(told.split())
    return told if len(told) <= _SHORT else f"{told[: _SHORT - 1]}…"


def kept_in_files(config: ServerConfig) -> list[str]:
    """Where texts stand that the configuration only points at."""
    named = {**config.env, **config.headers} | {"an argument": " ".join((*config.args, config.url))}
    return [
        f"{name} stays in {found[1]}"
        for name, text in named.items()
        if (found := re.search(_FROM_FILE, text))
    ]


def is_pegboard(config: ServerConfig) -> bool:
    """Whether this would start Pegboard itself."""
    words = [Path(config.command).name, *config.args]
    return "pegboard.pytools" in words or ("pegboard" in words and "mcp" in words)


def _servers(path: Path, document: object) -> Iterator[tuple[tuple[str, ...], str, object]]:
    """Pointer, name and table of each server."""
    if not isinstance(document, dict):
        raise ConfigError(f"{path} holds {kind_of(document)}; it must hold an object")
    nested = document.get("mcp")
    places: list[tuple[tuple[str, ...], object]] = [
        ((key,), document[key]) for key in GROUPS if key in document
    ]
    if isinstance(nested, dict) and "servers" in nested:
        places.append((("mcp", "servers"), nested["servers"]))
    for pointer, group in places:
        if not isinstance(group, commented_json.Object):
            raise ConfigError(
                f"{path}: {'.'.join(pointer)} is {kind_of(group)};"
                " it must be an object with a server under each name"
            )
        if group.repeated:
            raise ConfigError(
                f"{path}: {'.'.join(pointer)} has {group.repeated[0]!r} more than once",
                "rename or remove one of them",
            )
        for name, table in group.items():
            yield (*pointer, name), name, table
