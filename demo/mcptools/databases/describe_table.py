import sqlite3
from contextlib import closing
from pathlib import Path


def run(database: str, table: str) -> dict:
    """Show the schema of one table: columns, types, keys and indexes.

    Args:
        database: Path of the SQLite file.
        table: Table to look at.

    Returns:
        "columns", "indexes" and "foreign_keys".
    """
    address = f"{Path(database).resolve().as_uri()}?mode=ro"
    with closing(sqlite3.connect(address, uri=True)) as link:
        columns = link.execute("SELECT * FROM pragma_table_info(?)", (table,)).fetchall()
        if not columns:
            raise LookupError(f"no table named {table}")
        indexes = link.execute("SELECT name FROM pragma_index_list(?)", (table,)).fetchall()
        keys = link.execute(
            'SELECT "from", "table", "to" FROM pragma_foreign_key_list(?)', (table,)
        ).fetchall()
    return {
        "columns": [
            {"name": name, "type": kind, "required": bool(need), "primary_key": bool(key)}
            for _, name, kind, need, _, key in columns
        ],
        "indexes": [name for (name,) in indexes],
        "foreign_keys": [f"{column} -> {other}.{to}" for column, other, to in keys],
    }
