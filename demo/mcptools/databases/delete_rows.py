import sqlite3
from contextlib import closing


def run(database: str, table: str, where: dict[str, str], dry_run: bool = True) -> dict[str, int]:
    """Remove the records whose columns equal given values.

    By default nothing is removed and only the number of affected records is reported.

    Args:
        database: Path of the SQLite file.
        table: Table to remove from.
        where: Column names and the values that they must all have; may not be empty.
        dry_run: Count only.

    Returns:
        How many records match, and how many were removed.
    """
    if not where:
        raise ValueError("at least one condition is needed")
    clause = " AND ".join(f"{_quote(name)} = ?" for name in where)
    source = f"FROM {_quote(table)} WHERE {clause}"
    with closing(sqlite3.connect(database)) as connection, connection:
        matching = connection.execute(f"SELECT COUNT(*) {source}", [*where.values()]).fetchone()[0]
        if not dry_run:
            connection.execute(f"DELETE {source}", [*where.values()])
    return {"matching": matching, "deleted": 0 if dry_run else matching}


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
