"""Settings: defaults < user file < project `pegboard.toml` < environment < flags. Read once."""

import math
import tomllib
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, NamedTuple

import platformdirs

from pegboard.board.find import FindSettings
from pegboard.board.worker import WorkerSettings
from pegboard.errors import ConfigError
from pegboard.search.boosts import BoostSettings
from pegboard.search.fusion import FusionSettings, Method
from pegboard.store.opening import is_address

PROJECT_FILE = "pegboard.toml"
ENV_PREFIX = "PEGBOARD_"
IGNORED_ENV = "PEGBOARD_TEST_"
_TYPE_NAMES: Mapping[type, str] = {int: "a whole number", float: "a number", str: "text"}


def setting(default: Any, about: str, **bounds: Any) -> Any:  # noqa: ANN401 (as dataclasses.field)
    """A field with its documentation and the bounds of its value."""
    return field(default=default, metadata={"about": about, **bounds})


@dataclass(frozen=True, slots=True)
class EmbedSettings:
    provider: str = setting("local", "who makes vectors", choices=("local", "test", "disabled"))
    model: str = setting("", "model name; empty takes the provider's own")
    device: str = setting("auto", "where a local model runs", choices=("auto", "cpu", "gpu"))
    dimension: int = setting(0, "vector length; 0 takes the model's own", least=0, most=16_384)
    threads: int = setting(0, "threads for local models; 0 uses the cores, at most 4", least=0)
    batch_size: int = setting(128, "texts that a worker takes at once", least=1, most=10_000)
    max_attempts: int = setting(5, "tries before a task is given up", least=1, most=100)
    lease_seconds: float = setting(60.0, "how long a worker may hold a task", least=0.1)


@dataclass(frozen=True, slots=True)
class SearchSettings:
    mode: str = setting("hybrid", "default mode", choices=("hybrid", "bm25", "vector", "fuzzy"))
    limit: int = setting(5, "hits in an answer", least=1, most=1000)
    depth: int = setting(30, "items that each leg puts forward", least=1, most=10_000)
    threshold: float = setting(
        0.2, "if the best hit scores less, no tool fits", least=0.0, most=1.0
    )
    floor: float = setting(
        0.05, "if one fits, others are shown with it from this score on", least=0.0, most=1.0
    )
    fusion: str = setting("sum", "how legs become one ranking", choices=("sum", "rrf"))
    alpha: float = setting(0.5, "weight of meaning against words in `sum`", least=0.0, most=1.0)
    k: int = setting(60, "the constant of `rrf`", least=1, most=10_000)
    bm25_weight: float = setting(1.0, "weight of words in `rrf`", least=0.0, most=100.0)
    vector_weight: float = setting(1.0, "weight of meaning in `rrf`", least=0.0, most=100.0)
    fuzzy_weight: float = setting(0.5, "weight of guessed words in `rrf`", least=0.0, most=100.0)
    boost_recency: float = setting(
        0.002, "what an item changed today gains; 0 switches it off", least=0.0, most=0.02
    )
    boost_quality: float = setting(
        0.01, "what the best quality gains; 0 switches it off", least=0.0, most=0.02
    )
    boost_usage: float = setting(
        0.01, "what much use gains; 0 switches it off", least=0.0, most=0.02
    )
    boost_semantic_weight: float = setting(
        0.01, "what a semantic weight of 2 gains; 0 switches it off", least=0.0, most=0.02
    )


@dataclass(frozen=True, slots=True)
class SyncSettings:
    max_file_bytes: int = setting(1 << 20, "larger files are refused", least=1)
    keep_missing_days: float = setting(
        30.0, "days before an item that left its source is removed", least=0.0
    )


@dataclass(frozen=True, slots=True)
class McpSettings:
    parallel: int = setting(8, "MCP servers that are started at the same time", least=1, most=100)


@dataclass(frozen=True, slots=True)
class TrustSettings:
    changed: str = setting(
        "warn",
        "what becomes of a tool of an MCP server that is no longer what was approved",
        choices=("hold", "warn", "allow"),
    )


@dataclass(frozen=True, slots=True)
class Settings:
    board: str = setting(
        "", "the board's file, or postgresql://...; empty means .pegboard/board.db of the project"
    )
    embed: EmbedSettings = field(default_factory=EmbedSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    sync: SyncSettings = field(default_factory=SyncSettings)
    mcp: McpSettings = field(default_factory=McpSettings)
    trust: TrustSettings = field(default_factory=TrustSettings)


class Declared(NamedTuple):
    """An MCP server in a settings file: `[mcp.servers.NAME]`."""

    name: str
    table: Mapping[str, object]
    file: str


@dataclass(frozen=True, slots=True)
class Located:
    """Settings, and the place they are for."""

    settings: Settings
    project: Path | None
    """The folder of the nearest `pegboard.toml`, if there is one above the working folder."""
    board: Path | str
    """A file, or the address of a PostgreSQL database."""
    servers: tuple[Declared, ...] = ()
    files: tuple[str, ...] = ()
    """The settings files that were read: only these decide which of their servers are gone."""


SECTIONS = frozenset(each.name for each in fields(Settings) if each.name != "board")

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
        said |= _from_file(path, document)
    said |= _from_environment(environ)
    known = {key for key, *_ in known_settings()}
    for key, value in flags.items():
        if key not in known:
            raise ConfigError(f"unknown setting {key!r}", _suggestion(key, known))
        said[key] = (value, f"flag --{key.rpartition('.')[2]}")
    settings = build(said)
    return Located(
        settings,
        project,
        _board_place(settings.board, cwd, project, said),
        tuple(servers.values()),
        tuple(map(str, files)),
    )


def user_config_file() -> Path:
    return platformdirs.user_config_path("pegboard") / "config.toml"


def allowed_file() -> Path:
    """What this person has allowed projects to start."""
    return platformdirs.user_data_path("pegboard") / "allowed.json"


def find_project(start: Path) -> Path | None:
    return next(
        (folder for folder in (start, *start.parents) if (folder / PROJECT_FILE).is_file()), None
    )


def _board_place(board: str, cwd: Path, project: Path | None, said: Layer) -> Path | str:
    if is_address(board):
        return board
    if not board:
        home = project / ".pegboard" if project else platformdirs.user_data_path("pegboard")
        return home / "board.db"
    where = said["board"][1]
    base = Path(where).parent if where.endswith(".toml") else cwd
    try:
        return base / Path(board).expanduser()
    except RuntimeError as error:
        raise ConfigError(f"{where}: board is {board!r}; {error}") from error


def known_settings() -> Iterator[tuple[str, type, Mapping[str, Any], object]]:
    """Every setting as `section.key`, type, metadata and default."""
    yield from _known(Settings, "")


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
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not valid TOML: {error}") from error
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error


def _take_servers(document: dict[str, Any], path: Path) -> list[Declared]:
    """The servers of a file, taken out of it: their names are no settings."""
    section = document.get("mcp")
    tables = section.pop("servers", {}) if isinstance(section, dict) else {}
    if not isinstance(tables, dict) or not all(isinstance(t, dict) for t in tables.values()):
        raise ConfigError(f"{path}: mcp.servers must hold tables, as in [mcp.servers.github]")
    return [Declared(name, table, str(path)) for name, table in tables.items()]


def _from_file(path: Path, document: Mapping[str, object]) -> Layer:
    said: Layer = {}
    known = {key for key, *_ in known_settings()}
    for key, value in _flat(document, ""):
        if key not in known:
            raise ConfigError(f"{path}: unknown setting {key!r}", _suggestion(key, known))
        said[key] = (value, str(path))
    return said


def _flat(table: Mapping[str, object], prefix: str) -> Iterator[tuple[str, object]]:
    for key, value in table.items():
        if isinstance(value, dict) and (value or key in SECTIONS):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _from_environment(environ: Mapping[str, str]) -> Layer:
    names = {env_name(key): (key, kind) for key, kind, _, _ in known_settings()}
    said: Layer = {}
    for name, text in environ.items():
        if not name.startswith(ENV_PREFIX) or name.startswith(IGNORED_ENV):
            continue
        if name not in names:
            raise ConfigError(f"environment: unknown setting {name}", _suggestion(name, set(names)))
        key, kind = names[name]
        said[key] = (parsed(text, kind), f"environment variable {name}")
    return said


def parsed(text: str, kind: type) -> object:
    """A variable's text as the type its setting has, or the text itself if it is not one."""
    try:
        return kind(text) if kind in (int, float) else text
    except ValueError:
        return text


def _suggestion(key: str, known: set[str]) -> str:
    from difflib import get_close_matches

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
        mcp=McpSettings(**parts.get("mcp", {})),
        trust=TrustSettings(**parts.get("trust", {})),
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


def find_settings(found: SearchSettings) -> FindSettings:
    return FindSettings(
        depth=found.depth,
        fusion=FusionSettings(
            method=Method(found.fusion),
            alpha=found.alpha,
            k=found.k,
            bm25_weight=found.bm25_weight,
            vector_weight=found.vector_weight,
            fuzzy_weight=found.fuzzy_weight,
        ),
        boosts=BoostSettings(
            recency=found.boost_recency,
            quality=found.boost_quality,
            usage=found.boost_usage,
            semantic_weight=found.boost_semantic_weight,
        ),
        threshold=found.threshold,
        floor=found.floor,
    )


def worker_settings(embed: EmbedSettings) -> WorkerSettings:
    return WorkerSettings(embed.batch_size, embed.lease_seconds, embed.max_attempts)
