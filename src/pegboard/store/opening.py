"""Which store a board's place asks for."""

from contextlib import AbstractContextManager
from pathlib import Path

from pegboard.ports.store import Store
from pegboard.store.blobs.storage import Blobs
from pegboard.store.sqlite.store import SqliteStore

ADDRESSES = ("postgresql://", "postgres://")


def is_address(place: str) -> bool:
    return place.startswith(ADDRESSES)


def scratch_beside(address: str) -> AbstractContextManager[str]:
    """The address of a new, empty database on the same server, which is gone afterwards."""
    from pegboard.store.postgres import scratch

    return scratch.scratch_beside(address)


def open_store(
    place: Path | str,
    *,
    create: bool = False,
    blobs: Blobs | None = None,
    patience: float | None = None,
) -> Store:
    """The board in this file, or in the PostgreSQL database with this address.

    Without `blobs`, large files go beside the file, or into the database. `patience` is for how
    many seconds a server that is gone is waited for.
    """
    if isinstance(place, str) and is_address(place):
        from pegboard.store.postgres.store import PostgresStore  # its driver takes 0.1 s to load

        return PostgresStore(place, create=create, blobs=blobs, patience=patience)
    return SqliteStore(Path(place), create=create, blobs=blobs)
