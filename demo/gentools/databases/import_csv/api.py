import csv
import sqlite3
from contextlib import closing
from pathlib import Path


def run(database: str, table: str, source: str, delimiter: str = ",") -> dict[str, str | int]:
    """Load a spreadsheet saved as CSV into a SQLite table.

    The table is created from the header line if it does not exist, with every column as text.
    Either all lines are loaded or, on an error, none.

    Args:
        database: Path of the database file.
        table: Table to fill.
        source: CSV file with a header line.
        delimiter: Character between fields.

    Returns:
        Table and number of lines loaded.
    """
    with (
        Path(source).open(newline="", encoding="utf-8-sig") as stream,
        closing(sqlite3.connect(database)) as connection,
        connection,
    ):
        reader = csv.reader(stream, delimiter=delimiter)
        columns = [_quote(name.strip()) for name in next(reader)]
        fields = ", ".join(f"{column} TEXT" for column in columns)
        connection.execute(f"CREATE TABLE IF NOT EXISTS {_quote(table)} ({fields})")
        command = f"INSERT INTO {_quote(table)} ({', '.join(columns)}) VALUES "
        command += f"({', '.join('?' * len(columns))})"
        return {"table": table, "rows": connection.executemany(command, reader).rowcount}


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
