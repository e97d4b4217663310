"""Which store a board's place asks for."""

from pathlib import Path

from pegboard.ports import Store
from pegboard.store.sqlite.store import SqliteStore

ADDRESSES = ("postgresql://", "postgres://")


def is_address(place: str) -> bool:
    return place.startswith(ADDRESSES)


def open_store(place: Path | str, *, create: bool = False) -> Store:
    """The board in this file, or in the PostgreSQL database with this address."""
    if isinstance(place, str) and is_address(place):
        from pegboard.store.postgres.store import PostgresStore  # its driver takes 0.1 s to load

        return PostgresStore(place, create=create)
    return SqliteStore(Path(place), create=create)
