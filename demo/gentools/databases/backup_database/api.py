import sqlite3
from contextlib import closing
from pathlib import Path


def run(database: str, target: str) -> dict[str, str | int]:
    """Take a consistent snapshot of a live SQLite database.

    Safe while other processes write. The snapshot is checked for integrity afterwards.

    Args:
        database: Database file to copy.
        target: New file for the snapshot; must not exist yet.

    Returns:
        Path and size of the snapshot, and the outcome of the check.
    """
    if Path(target).exists():
        raise FileExistsError(target)
    address = f"{Path(database).resolve().as_uri()}?mode=ro"
    with (
        closing(sqlite3.connect(address, uri=True)) as origin,
        closing(sqlite3.connect(target)) as copy,
    ):
        origin.backup(copy)
        verdict = copy.execute("PRAGMA integrity_check").fetchone()[0]
    return {"path": target, "size": Path(target).stat().st_size, "integrity": verdict}
