import sqlite3
from contextlib import closing


def run(database: str, table: str, values: dict[str, str], replace: bool = False) -> dict[str, int]:
    """Add one record to a SQLite table.

    Args:
        database: Path of the database file.
        table: Table that receives the record.
        values: Column names and what to store in them.
        replace: Overwrite a record that has the same key.

    Returns:
        The row id given to the record.
    """
    columns = ", ".join(_quote(name) for name in values)
    marks = ", ".join("?" * len(values))
    verb = "REPLACE" if replace else "INSERT"
    with closing(sqlite3.connect(database)) as connection, connection:
        cursor = connection.execute(
            f"{verb} INTO {_quote(table)} ({columns}) VALUES ({marks})", list(values.values())
        )
        return {"row_id": cursor.lastrowid}


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
