import sqlite3
from contextlib import closing
from pathlib import Path


def run(database: str, include_views: bool = True) -> list[dict[str, str | int]]:
    """List the tables and views of a SQLite database with their row counts.

    Args:
        database: Path of the database file.
        include_views: Mention views too.

    Returns:
        Name, type and number of rows of each.
    """
    address = f"{Path(database).resolve().as_uri()}?mode=ro"
    kinds = ("table", "view") if include_views else ("table", "table")
    with closing(sqlite3.connect(address, uri=True)) as connection:
        found = connection.execute(
            "SELECT name, type FROM sqlite_master WHERE type IN (?, ?) "
            "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
            kinds,
        ).fetchall()
        return [
            {"name": name, "type": kind, "rows": _count(connection, name)} for name, kind in found
        ]


def _count(connection: sqlite3.Connection, name: str) -> int:
    quoted = '"' + name.replace('"', '""') + '"'
    return connection.execute(f"SELECT COUNT(*) FROM {quoted}").fetchone()[0]
