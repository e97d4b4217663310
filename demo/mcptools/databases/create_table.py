import sqlite3
from contextlib import closing
from typing import Literal, get_args

_Type = Literal["TEXT", "INTEGER", "REAL", "BLOB", "NUMERIC"]


def run(database: str, table: str, columns: dict[str, str], primary_key: str | None = None) -> str:
    """Create a new table in a SQLite database, making the file if it does not exist.

    Args:
        database: Path of the database file.
        table: Name of the new table.
        columns: Column names and types (TEXT, INTEGER, REAL, BLOB or NUMERIC).
        primary_key: Column to use as primary key.

    Returns:
        The SQL statement that was executed.
    """
    lines = []
    for name, kind in columns.items():
        if kind.upper() not in get_args(_Type):
            raise ValueError(f"unknown column type {kind}")
        suffix = " PRIMARY KEY" if name == primary_key else ""
        lines.append(f"{_quote(name)} {kind.upper()}{suffix}")
    statement = f"CREATE TABLE {_quote(table)} ({', '.join(lines)})"
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute(statement)
    return statement


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
