"""Publishing: what lies in a folder or hangs on a board, signed, to the registry."""

import os
from pathlib import Path
from typing import NamedTuple

from pegboard.app.pegboard import Pegboard, own_embedder
from pegboard.board.measure.evaluating import read_queries
from pegboard.board.measure.foreseeing import Forecast, Looking, foresee
from pegboard.board.publish.packing import Release, recorded, release_at, release_of, sealed
from pegboard.board.publish.releasing import Parcel, Publication
from pegboard.board.trust.keyring import Keyring
from pegboard.config.parts import find_settings
from pegboard.config.places import Located, keyring_folder
from pegboard.errors import ItemNotFound
from pegboard.gate.releases import Record
from pegboard.model.items import ItemId
from pegboard.ports.stages import Progress, quiet
from pegboard.tiers.opening import Board

QUERIES = "queries.jsonl"


class Wish(NamedTuple):
    """What whoever publishes says of it."""

    version: str = ""
    namespace: str = ""
    changelog: str = ""
    visibility: str = ""
    team: bool = False
    key: str | None = None
    expires: float | None = None
    """Seconds that the signature is good; None for as long as the key."""


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
    own = release.item.namespace
    namespace = wish.namespace or place.settings.registry.namespace or own
    reference = f"{namespace}/{release.id}"
    try:
        there = [each.number for each in registry.releases.shelf(reference).versions]
    except ItemNotFound:
        there = []
    record = recorded(release, namespace, wish.version, wish.changelog, there)
    keyring = Keyring(keyring_folder(place.settings))
    signer = keyring.chosen(wish.key)
    return Ready(release, record, sealed(release, record, keyring, signer, wish.expires), signer)


def foreseen(
    place: Located, registry: Board, ready: Ready, evaluation: str, progress: Progress = quiet
) -> Forecast:
    """What search on the registry will think of it."""
    folder = evaluation or place.settings.publish.eval
    queries = read_queries(Path(folder) / QUERIES) if folder else ()
    item = ready.release.item._replace(id=ItemId(ready.record.id), namespace=ready.record.namespace)
    embedder, scale = (
        registry.models.searching()
        if isinstance(registry, Pegboard)
        else (own_embedder(place), None)
    )
    settings = find_settings(place.settings.search, scale)
    looking = Looking(registry.search, registry.curate.chosen, embedder, settings)
    return foresee(item, looking, queries, progress)


def publish(registry: Board, ready: Ready, wish: Wish, by: str, *, dry_run: bool) -> Publication:
    return registry.releases.publish(
        ready.parcel, by=by, visibility=wish.visibility, team=wish.team, dry_run=dry_run
    )
