"""Which board a command is about: one that this process opens, or one behind a gateway."""

from pathlib import Path
from typing import TYPE_CHECKING, Union

import click

from pegboard.app.pegboard import Pegboard, located, located_gateway
from pegboard.cli.shared import NO_SOURCE, login_name, notice, progress_bar
from pegboard.config.gateway import GatewayPlace
from pegboard.errors import UsageError

if TYPE_CHECKING:
    from pegboard.remote.board import RemoteBoard

Board = Union[Pegboard, "RemoteBoard"]

GATEWAY = "pegboard.gateway"
TOKEN_FILE = "pegboard.token_file"  # noqa: S105 (under which the file's name is kept)
"""Under these names a command's context has what its options say."""


def open_board(board: str | None, *, data_dir: str | None = None) -> Board:
    """The board that the command's options, or else the environment, name."""
    place = chosen_gateway(board)
    if place is None:
        return Pegboard.open(board, data_dir=data_dir) if data_dir else Pegboard.open(board)
    if data_dir is not None:
        raise UsageError(
            "--data-dir is for a board here, and a gateway has its own", "leave --data-dir out"
        )
    from pegboard.remote.board import RemoteBoard  # with it comes an HTTP client

    return RemoteBoard(place, located().settings)


def chosen_gateway(board: str | None) -> GatewayPlace | None:
    """The one that is to be asked instead of a board here, if one is."""
    said = click.get_current_context().meta
    file: Path | None = said.get(TOKEN_FILE)
    return located_gateway(gateway=said.get(GATEWAY), board=board, token_file=file)


def named_gateway(address: str, token_file: Path | None) -> GatewayPlace:
    """One that is named in another way than by its own option."""
    place = located_gateway(gateway=address, token_file=token_file)
    if place is None:
        raise UsageError(f"{address!r} is no gateway")
    return place


def asked_token_file() -> Path | None:
    found: Path | None = click.get_current_context().meta.get(TOKEN_FILE)
    return found


def asked_gateway() -> bool:
    """Whether the command's own option names one."""
    return bool(click.get_current_context().meta.get(GATEWAY))


def decider(pegboard: Board, by: str | None) -> str:
    """Whose decision it is."""
    if isinstance(pegboard, Pegboard):
        return login_name() if by is None else by
    if by is not None:
        raise UsageError(
            "--by is for a board here: at a gateway, who decides is who the token is of",
            "leave --by out",
        )
    return ""


def tell_if_no_source(pegboard: Board) -> None:
    """The next step for whoever has just made a board; a gateway may only not show its sources."""
    if not pegboard.sources():
        here = isinstance(pegboard, Pegboard)
        notice(NO_SOURCE if here else "this gateway shows you no source")


def embed_now(pegboard: Board, *, as_json: bool) -> None:
    """Give what was changed its vector, before the command ends; a gateway does that by itself."""
    if isinstance(pegboard, Pegboard):
        with progress_bar(show=not as_json) as progress:
            notices = pegboard.backfill(progress=progress).notices
        notice(*notices)
