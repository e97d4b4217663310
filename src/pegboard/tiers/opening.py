"""The boards beside the one at hand: a person's own, and the one that is shared."""

from dataclasses import replace
from pathlib import Path

from pegboard.app.pegboard import Pegboard, located_registry
from pegboard.config.loading import env_name
from pegboard.config.places import Located, user_config_file
from pegboard.errors import BoardMissing, ConfigError
from pegboard.remote.board import RemoteBoard
from pegboard.store.blobs.opening import NO_PLACE, BlobPlace
from pegboard.store.opening import is_address

Board = Pegboard | RemoteBoard

GATEWAYS = ("http://", "https://")


def open_registry(place: Located, *, patience: float | None = None) -> Board:
    """The board that is shared, as the settings say where it is.

    Raises `ConfigError` if none of them does. It is asked for by each command on its own: nothing
    of it is opened before. With `patience`, a database that is gone is given up after so long.
    """
    if place.settings.registry.url.startswith(GATEWAYS):
        return RemoteBoard(located_registry(place), place.settings)
    return Pegboard.at(registry_place(place), patience=patience)


def registry_place(place: Located) -> Located:
    """The registry that this process opens by itself: a database, or a file for trying it out."""
    url = place.settings.registry.url
    if not url:
        raise no_registry()
    if not is_address(url) and "://" in url:
        raise ConfigError(
            f"registry.url is {url.partition('://')[0]}://..., which is no board",
            "it is postgresql://..., the https:// address of a gateway, or a board's file",
        )
    return replace(
        place,
        board=url if is_address(url) else Path(url),
        servers=(),
        files=(),
        blobs=_blobs_for_others(place),
        by_project=False,
        shared=True,
    )


def no_registry() -> ConfigError:
    return ConfigError(
        "no registry is set",
        f"say where it is: registry.url in {user_config_file()}, or {env_name('registry.url')}",
    )


def _blobs_for_others(place: Located) -> BlobPlace:
    """What a project keeps beside itself, nobody else could read."""
    kept = place.blobs.place
    beside = place.project and "://" not in kept and Path(kept).is_relative_to(place.project)
    return NO_PLACE if beside else place.blobs


def user_place(place: Located) -> Located:
    """The board in the user's own folder, with the settings that hold here."""
    return replace(
        place,
        board=place.settings.data_folder / "board.db",
        servers=(),
        files=(),
        blobs=_blobs_for_others(place),
        by_project=False,
    )


def is_users(place: Located) -> bool:
    """Whether the board at hand is the user's own already."""
    own = user_place(place).board
    return isinstance(place.board, Path) and place.board.resolve() == Path(own).resolve()


def open_user(place: Located, *, create: bool = False) -> Pegboard:
    """The user's own board. Raises `BoardMissing` if there is none yet."""
    own = user_place(place)
    if not create and not Path(own.board).exists():
        raise no_user_board(place)
    return Pegboard.at(own, create=create)


def no_user_board(place: Located) -> BoardMissing:
    return BoardMissing(
        f"there is no board of your own yet: {user_place(place).board}",
        "make it with: pegboard sync-user ITEM, or outside of any project: pegboard init",
    )
