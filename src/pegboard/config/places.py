"""The place that settings are for, and where a person keeps what is his own."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

import platformdirs

from pegboard.config.settings import (
    Settings,
)
from pegboard.store.blobs.opening import NO_PLACE, BlobPlace

PROJECT_FILE = "pegboard.toml"
DEFAULTS = Settings()


class Tier(StrEnum):
    """Whose board it is."""

    PROJECT = "project"
    USER = "user"
    REGISTRY = "registry"


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
    blobs: BlobPlace = NO_PLACE
    """Where large files go; the store's own place if there is none."""
    by_project: bool = False
    """Whether it is the project that says where the board is, and no person."""
    shared: bool = False
    """Whether it is the registry, wherever that is."""

    @property
    def tiers(self) -> tuple[Tier, ...]:
        """By where the board is, from wherever it is asked.

        A project whose board is elsewhere, as its file or a link says, remains a project: else it
        could choose what is asked of it.
        """
        chosen = (Tier.PROJECT,) if self.by_project else ()
        if self.shared or not isinstance(self.board, Path):
            return Tier.REGISTRY, *chosen
        return Tier.PROJECT if self._boards_project else Tier.USER, *chosen

    @property
    def ground(self) -> Path | None:
        """The project whose files tools may ask for: the board's, wherever this was started."""
        return self.project if self.shared else self._boards_project or self.project

    @property
    def how_to_make_it(self) -> str:
        """What to do where there is no board."""
        if not isinstance(self.board, Path):  # which may have a password in it
            return "make one with: pegboard init --board ADDRESS"
        if self.settings.board:
            return f"make one with: pegboard init --board {shlex.quote(self.settings.board)}"
        if self.project:
            return "make one with: pegboard init, or from what the project has: pegboard rebuild"
        return (
            f"no {PROJECT_FILE} is here or above: go to your project's folder, name a board with "
            "--board, or make this folder a project: pegboard init"
        )

    @property
    def _boards_project(self) -> Path | None:
        here = isinstance(self.board, Path)
        return find_project(Path(self.board).resolve().parent) if here else None


def user_config_file() -> Path:
    return platformdirs.user_config_path("pegboard") / "config.toml"


def allowed_file(settings: Settings) -> Path:
    """What this person has allowed projects to start."""
    return settings.data_folder / "allowed.json"


def keyring_folder(settings: Settings = DEFAULTS) -> Path:
    """Where a person's keys are, and the list of those whom that person trusts."""
    return settings.data_folder


def find_project(start: Path) -> Path | None:
    return next(
        (folder for folder in (start, *start.parents) if (folder / PROJECT_FILE).is_file()), None
    )
