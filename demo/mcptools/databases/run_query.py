import sqlite3
from contextlib import closing
from pathlib import Path


def run(
    database: str, sql: str, parameters: dict[str, str] | None = None, max_rows: int = 200
) -> dict:
    """Execute a read-only SQL statement against a SQLite database and return the rows.

    The database is opened read-only, so INSERT, UPDATE, DELETE and DDL raise an error.

    Args:
        database: Path of the database file.
        sql: SELECT statement; named parameters are written as :name.
        parameters: Values for the named parameters.
        max_rows: Cut the result off after this many rows.

    Returns:
        "columns", "rows", and "truncated" if there were more rows.
    """
    address = f"{Path(database).resolve().as_uri()}?mode=ro"
    with closing(sqlite3.connect(address, uri=True)) as connection:
        cursor = connection.execute(sql, parameters or {})
        rows = [[_plain(value) for value in row] for row in cursor.fetchmany(max_rows + 1)]
        columns = [column[0] for column in cursor.description or []]
    return {"columns": columns, "rows": rows[:max_rows], "truncated": len(rows) > max_rows}


def _plain(value: object) -> object:
    return value.hex() if isinstance(value, bytes) else value
