"""Publishing: what lies in a folder or hangs on a board, signed, to the registry."""

import os
from pathlib import Path
from typing import NamedTuple

from pegboard.app import Pegboard
from pegboard.board.keyring import Keyring
from pegboard.board.packing import Release, recorded, release_at, release_of, sealed
from pegboard.board.releasing import Parcel, Publication
from pegboard.config import Located, keyring_folder
from pegboard.errors import ItemNotFound
from pegboard.gate.releases import Record, id_of
from pegboard.model import DEFAULT_NAMESPACE
from pegboard.tiers.opening import Board


class Wish(NamedTuple):
    """What whoever publishes says of it."""

    version: str = ""
    namespace: str = ""
    changelog: str = ""
    visibility: str = ""
    team: bool = False
    key: str | None = None
    days: int | None = None
    """How long the signature is good; None for as long as the key."""


class Ready(NamedTuple):
    """A release that is signed and not yet published."""

    release: Release
    record: Record
    parcel: Parcel
    signer: str


def found(place: Located, target: str) -> Release:
    """By its path, or by its id on the board at hand."""
    most = place.settings.sync.max_file_bytes
    if os.path.lexists(target):
        return release_at(Path(target), most)
    with Pegboard.at(place) as board:
        return release_of(board.show(target), board.sources(), most)


def made_ready(place: Located, registry: Board, release: Release, wish: Wish) -> Ready:
    namespace = wish.namespace or place.settings.registry.namespace or DEFAULT_NAMESPACE
    reference = f"{namespace}/{id_of(release.path, release.folder)}"
    try:
        there = [each.number for each in registry.releases.shelf(reference).versions]
    except ItemNotFound:
        there = []
    record = recorded(release, namespace, wish.version, wish.changelog, there)
    keyring = Keyring(keyring_folder(place.settings))
    signer = keyring.chosen(wish.key)
    return Ready(release, record, sealed(release, record, keyring, signer, wish.days), signer)


def publish(registry: Board, ready: Ready, wish: Wish, by: str, *, dry_run: bool) -> Publication:
    return registry.releases.publish(
        ready.parcel, by=by, visibility=wish.visibility, team=wish.team, dry_run=dry_run
    )
