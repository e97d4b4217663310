"""Settings: defaults < user file < project `pegboard.toml` < environment < flags. Read once."""

import math
import shlex
import typing
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from pegboard.config.aliases import ALIASES, NO_SETTINGS, aliased
from pegboard.config.places import PROJECT_FILE, Declared, Located, find_project, user_config_file
from pegboard.config.settings import (
    BlobSettings,
    EmbedSettings,
    PublishSettings,
    RegistrySettings,
    RunSettings,
    SearchSettings,
    ServeSettings,
    Settings,
    SyncSettings,
    TrustSettings,
)
from pegboard.errors import ConfigError
from pegboard.store.blobs.opening import BlobPlace
from pegboard.store.opening import is_address

ENV_PREFIX = "PEGBOARD_"
IGNORED_ENV = "PEGBOARD_TEST_"
_TYPE_NAMES: Mapping[type, str] = {int: "a whole number", float: "a number", str: "text"}

SERVERS = "mcp"
"""The section of a file that declares servers, and sets nothing."""
SECTIONS = frozenset(name for name, kind in Settings.__annotations__.items() if kind is not str)

GONE = {
    "embed.lease_seconds": "a worker holds tasks for as long as the tries of a service may take",
    "mcp.parallel": "eight servers are started at the same time",
}
"""Settings that there were, and what holds instead."""

Layer = dict[str, tuple[object, str]]
"""`section.key` to value and the place that said so."""


def load(
    *, cwd: Path, environ: Mapping[str, str], flags: Mapping[str, object], user_file: Path | None
) -> Located:
    project = find_project(cwd)
    said: Layer = {}
    servers: dict[str, Declared] = {}
    paths = (user_file, project / PROJECT_FILE if project else None)
    files = [path for path in paths if path is not None and path.is_file()]
    for path in files:
        document = _document(path)
        servers |= {each.name: each for each in _take_servers(document, path)}
        said |= _from_file(path, document, of_project=path != user_file)
    said |= _from_environment(environ)
    known = {key for key, *_ in known_settings()}
    for key, value in flags.items():
        if key not in known:
            raise ConfigError(f"unknown setting {key!r}", _suggestion(key, known))
        said[key] = (value, f"flag --{key.rpartition('.')[2]}")
    settings = _with_paths(build(said), cwd, said)
    return Located(
        settings,
        project,
        _board_place(settings, cwd, project, said),
        tuple(servers.values()),
        tuple(map(str, files)),
        _blob_place(settings.blobs, cwd, said),
        project is not None
        and (not settings.board or said["board"][1] == str(project / PROJECT_FILE)),
    )


def _with_paths(settings: Settings, cwd: Path, said: Layer) -> Settings:
    def whole(key: str, text: str) -> str:
        return str(_path(key, text, cwd, said)) if text and "://" not in text else text

    registry, own = settings.registry, whole("data_dir", settings.data_dir)
    file = whole("registry.token_file", registry.token_file)
    registry = replace(registry, url=whole("registry.url", registry.url), token_file=file)
    publish = PublishSettings(whole("publish.eval", settings.publish.eval))
    return replace(settings, data_dir=own, registry=registry, publish=publish)


def _board_place(settings: Settings, cwd: Path, project: Path | None, said: Layer) -> Path | str:
    if is_address(settings.board):
        return settings.board
    if not settings.board:
        home = project / ".pegboard" if project else settings.data_folder
        return home / "board.db"
    if "://" in settings.board:  # which may have a password in it
        raise ConfigError(
            f"the board is {settings.board.partition('://')[0]}://..., which is no board",
            "it is postgresql://..., or a file; the address of a gateway goes with --gateway",
        )
    return _path("board", settings.board, cwd, said)


def _blob_place(blobs: BlobSettings, cwd: Path, said: Layer) -> BlobPlace:
    found = BlobPlace(blobs.place, blobs.endpoint, blobs.region, blobs.access_key, blobs.secret_key)
    if not blobs.place or "://" in blobs.place:
        return found
    return found._replace(place=str(_path("blobs.place", blobs.place, cwd, said)))


def _path(key: str, text: str, cwd: Path, said: Layer) -> Path:
    where = said[key][1]
    base = Path(where).parent if where.endswith(".toml") else cwd
    try:
        return base / Path(text).expanduser()
    except RuntimeError as error:
        raise ConfigError(f"{where}: {key} is {text!r}; {error}") from error


@cache
def known_settings() -> tuple[tuple[str, type, Mapping[str, Any], object], ...]:
    """Every setting as `section.key`, type, metadata and default."""
    return tuple(_known(Settings, ""))


def _known(cls: type, prefix: str) -> Iterator[tuple[str, type, Mapping[str, Any], object]]:
    hints = typing.get_type_hints(cls)
    for each in fields(cls):
        kind = hints[each.name]
        if is_dataclass(kind) and isinstance(kind, type):
            yield from _known(kind, f"{prefix}{each.name}.")
        else:
            yield f"{prefix}{each.name}", kind, each.metadata, each.default


def env_name(key: str) -> str:
    return ENV_PREFIX + key.replace(".", "_").upper()


def _document(path: Path) -> dict[str, Any]:
    import tomllib  # takes long to load, and many boards have no such file

    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        hint = "mend that line; to begin anew, move the file away: pegboard init writes another"
        if "twice" in str(error):
            hint = "a section stands once: move what you wrote below the [section] further up"
        raise ConfigError(f"{path} is not valid TOML: {error}", hint) from error
    except OSError as error:
        hint = "see that you may read it: ls -l " + shlex.quote(str(path))
        raise ConfigError(f"{path} cannot be read: {error.strerror}", hint) from error


def _take_servers(document: dict[str, Any], path: Path) -> list[Declared]:
    """The servers of a file, taken out of it: their names are no settings."""
    section = document.get(SERVERS)
    tables = section.pop("servers", {}) if isinstance(section, dict) else {}
    if not isinstance(tables, dict) or not all(isinstance(t, dict) for t in tables.values()):
        raise ConfigError(f"{path}: mcp.servers must hold tables, as in [mcp.servers.github]")
    return [Declared(name, table, str(path)) for name, table in tables.items()]


def _from_file(path: Path, document: Mapping[str, object], *, of_project: bool) -> Layer:
    """Where keys go is for a person to say: a project that one has cloned would ask for them."""
    said: Layer = {}
    known = {key: metadata for key, _, metadata, _ in known_settings()}
    for key, value in _flat(document, ""):
        if key not in known:
            raise ConfigError(f"{path}: unknown setting {key!r}", _suggestion(key, set(known)))
        if of_project and known[key].get("personal"):
            raise ConfigError(
                f"{path}: a project may not set {key}",
                f"set it in {user_config_file()}, or as {env_name(key)} in the environment",
            )
        said[key] = (value, str(path))
    return said


def _flat(table: Mapping[str, object], prefix: str) -> Iterator[tuple[str, object]]:
    for key, value in table.items():
        if isinstance(value, dict) and (value or key in (*SECTIONS, SERVERS)):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _from_environment(environ: Mapping[str, str]) -> Layer:
    names = {env_name(key): (key, kind) for key, kind, _, _ in known_settings()}
    said: Layer = {}
    others = {*ALIASES, *NO_SETTINGS}
    for name, text in environ.items():
        if not name.startswith(ENV_PREFIX) or name.startswith(IGNORED_ENV) or name in others:
            continue
        if name not in names:
            known = {*names, *others}
            raise ConfigError(f"environment: unknown setting {name}", _suggestion(name, known))
        key, kind = names[name]
        said[key] = (parsed(text, kind), f"environment variable {name}")
    for key, value, name in aliased(environ):
        own = said.setdefault(key, (value, f"environment variable {name}"))[0]
        if own != value:
            raise ConfigError(
                f"{name} says that {key} is {value!r}, and {env_name(key)} that it is {own!r}",
                f"unset {name} or {env_name(key)}",
            )
    return said


def parsed(text: str, kind: type) -> object:
    """A variable's text as the type its setting has, or the text itself if it is not one."""
    try:
        return kind(text) if kind in (int, float) else text
    except ValueError:
        return text


def _suggestion(key: str, known: set[str]) -> str:
    from difflib import get_close_matches

    if gone := {**GONE, **{env_name(each): why for each, why in GONE.items()}}.get(key):
        return f"leave it out; it is no setting any more: {gone}"
    near = get_close_matches(key, known, n=1)
    return f"did you mean {near[0]!r}?" if near else "known: " + ", ".join(sorted(known))


def build(said: Layer) -> Settings:
    sections: dict[str, dict[str, object]] = {}
    for key, kind, metadata, _ in known_settings():
        if key in said:
            value, where = said[key]
            section, _, name = key.rpartition(".")
            sections.setdefault(section, {})[name] = _checked(key, value, where, kind, metadata)
    top = typing.cast("dict[str, Any]", sections.get("", {}))
    parts = typing.cast("dict[str, dict[str, Any]]", sections)
    return Settings(
        **top,
        embed=EmbedSettings(**parts.get("embed", {})),
        search=SearchSettings(**parts.get("search", {})),
        sync=SyncSettings(**parts.get("sync", {})),
        trust=TrustSettings(**parts.get("trust", {})),
        run=RunSettings(**parts.get("run", {})),
        serve=ServeSettings(**parts.get("serve", {})),
        registry=RegistrySettings(**parts.get("registry", {})),
        publish=PublishSettings(**parts.get("publish", {})),
        blobs=BlobSettings(**parts.get("blobs", {})),
    )


def _checked(
    key: str, value: object, where: str, kind: type, metadata: Mapping[str, Any]
) -> object:
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if type(value) is not kind:
        raise ConfigError(f"{where}: {key} is {value!r}; it must be {_TYPE_NAMES[kind]}")
    choices = metadata.get("choices")
    if choices and value not in choices:
        raise ConfigError(f"{where}: {key} is {value!r}; it must be one of {', '.join(choices)}")
    if isinstance(value, int | float):
        least, most = metadata.get("least", -math.inf), metadata.get("most", math.inf)
        if not least <= value <= most:
            bound = f"at least {least:g}" if value < least else f"at most {most:g}"
            raise ConfigError(f"{where}: {key} is {value!r}; it must be {bound}")
    return value
