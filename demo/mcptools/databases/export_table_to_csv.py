import csv
import sqlite3
from contextlib import closing
from pathlib import Path


def run(database: str, table: str, target: str, delimiter: str = ",") -> dict[str, str | int]:
    """Dump all rows of a table into a CSV file with a header line.

    Args:
        database: Path of the SQLite file.
        table: Table or view to dump.
        target: CSV file to write.
        delimiter: Character between fields.

    Returns:
        Path of the CSV file and number of rows.
    """
    address = f"{Path(database).resolve().as_uri()}?mode=ro"
    quoted = '"' + table.replace('"', '""') + '"'
    count = 0
    with (
        closing(sqlite3.connect(address, uri=True)) as connection,
        Path(target).open("w", newline="", encoding="utf-8") as stream,
    ):
        cursor = connection.execute(f"SELECT * FROM {quoted}")
        writer = csv.writer(stream, delimiter=delimiter)
        writer.writerow(column[0] for column in cursor.description)
        for row in cursor:
            writer.writerow(row)
            count += 1
    return {"path": target, "rows": count}
