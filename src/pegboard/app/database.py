"""A board's database: brought to today's schema, copied, looked at, and filled from one of old."""

import threading
from pathlib import Path
from typing import NamedTuple

import psycopg

from pegboard.app.pegboard import Pegboard, located
from pegboard.board.migrate.migrating import Migrating, MigrationReport
from pegboard.board.migrate.rows import SOURCE
from pegboard.board.migrate.vectors import Vouched
from pegboard.errors import BoardError, ModelUnavailable, UsageError
from pegboard.gate.admission import NAMESPACE_RULE, admit, is_namespace
from pegboard.model.items import DEFAULT_NAMESPACE, Fingerprint
from pegboard.ports.stages import Progress, quiet
from pegboard.store.opening import is_address
from pegboard.store.postgres.inspecting import DatabaseStatus, inspect
from pegboard.store.postgres.kiwi import KiwiBoard
from pegboard.store.postgres.kiwi_reading import reading
from pegboard.store.postgres.opening import upgrade as apply_missing
from pegboard.store.postgres.store import PostgresStore
from pegboard.store.postgres.telling import shown
from pegboard.store.queries import too_new
from pegboard.store.sqlite.copying import copy_board

ONLY_POSTGRES = "this is about boards in PostgreSQL, and {place} is a file"
NAME_ONE = "name one with --board postgresql://user@host/database"


class Upgraded(NamedTuple):
    board: str
    schema: int
    applied: tuple[str, ...]
    itself: bool = False
    """Whether this is a board in a file, which upgrades itself when it is opened."""


def upgrade(board: str | None) -> Upgraded:
    """Apply what is missing; safe from several machines at once."""
    place = located(board=board).board
    if not isinstance(place, str):
        with Pegboard.open(board) as pegboard:
            return Upgraded(str(place), int(str(pegboard.store.facts()["schema"])), (), itself=True)
    told = shown(place)
    try:
        applied = tuple(apply_missing(place, told))
    except BoardError as error:
        if isinstance(error.__cause__, psycopg.errors.DuplicateTable):
            raise _in_the_way(told, error.__cause__) from error
        raise
    found = inspect(place, told)
    if found.schema > found.known:
        raise too_new(told, found.schema, found.known)
    return Upgraded(told, found.schema, applied)


def _in_the_way(place: str, error: psycopg.Error) -> BoardError:
    return BoardError(
        f"{place} has tables of its own where the board's would be ({error.diag.message_primary})",
        "give the board a schema of its own, with ?options=-csearch_path%3Dpegboard,public in its "
        "address, or move the others: ALTER TABLE ... SET SCHEMA kiwi; "
        "see: pegboard db import-kiwi --help",
    )


class BackedUp(NamedTuple):
    board: str
    copy: str
    schema: int
    bytes: int
    files: int
    """Large files that were copied with it, into the folder beside the copy."""
    elsewhere: int
    """Large files that stay at `blobs.place`, and need a backup of their own."""
    lost: tuple[str, ...]
    """Large files that were missing or damaged before."""


def backup(board: str | None, target: Path) -> BackedUp:
    """Copy a board in a file, as it is at one moment, to a file that is a board itself."""
    place = located(board=board)
    if isinstance(place.board, str):
        raise UsageError(
            f"{shown(place.board)} is in PostgreSQL, which has its own way",
            f"pg_dump --format=custom --file={target} ADDRESS; pg_restore puts it back",
        )
    done = copy_board(place.board, target, with_files=not place.blobs.place)
    return BackedUp(str(place.board), str(target), *done)


def status(board: str | None) -> DatabaseStatus:
    place = _address(board)
    return inspect(place, shown(place))


def _address(board: str | None) -> str:
    place = located(board=board).board
    if not isinstance(place, str):
        raise UsageError(ONLY_POSTGRES.format(place=place), NAME_ONE)
    return place


class Imported(NamedTuple):
    report: MigrationReport
    notices: tuple[str, ...]


def import_kiwi(
    board: str | None,
    old: str,
    *,
    schema: str = "public",
    namespace: str = DEFAULT_NAMESPACE,
    embedding_model: str = "",
    trust_embeddings: bool = False,
    dry_run: bool = False,
    progress: Progress = quiet,
    stop: threading.Event | None = None,
) -> Imported:
    """Move what a Kiwi database has to a board; the old one is only read."""
    if not is_address(old):
        raise UsageError(f"{old!r} is no address", "write it as postgresql://user@host/database")
    if not is_namespace(namespace):
        raise UsageError(f"{namespace!r} is no namespace", NAMESPACE_RULE)
    _address(board)
    with Pegboard.open(board) as pegboard:
        store = pegboard.store
        if not isinstance(store, PostgresStore):
            raise UsageError(ONLY_POSTGRES.format(place=store.facts()["board"]), NAME_ONE)
        target, notices = _target(pegboard, dry_run)
        place = KiwiBoard(store, SOURCE, namespace, target)
        with reading(old, schema) as kiwi:
            report = Migrating(
                kiwi,
                place,
                store.ledger,
                admit,
                namespace,
                target,
                Vouched(embedding_model, trust_embeddings),
                progress,
                dry_run=dry_run,
            ).run(stop or threading.Event())
        if not dry_run:  # after reading: an index of a database waits until nobody reads its past
            place.index()
        return Imported(report, notices)


def _target(pegboard: Pegboard, dry_run: bool) -> tuple[Fingerprint | None, tuple[str, ...]]:
    """What vectors are to be like. A model that cannot be used stops nothing."""
    try:
        if not dry_run:
            pegboard.models.follow_settings()
        return pegboard.models.target(), ()
    except ModelUnavailable as error:
        return None, (f"nothing was queued for embedding: {error}",)
