import sqlite3
from contextlib import closing
from pathlib import Path


def run(database: str, table: str, column: str, top: int = 5) -> dict:
    """Give statistics on the values in one column: nulls, distinct values, range and average.

    Args:
        database: Path of the SQLite file.
        table: Table that has the column.
        column: Column to examine.
        top: How many of the commonest values to list.

    Returns:
        Counts, minimum, maximum, average (numbers only) and the commonest values.
    """
    address = f"{Path(database).resolve().as_uri()}?mode=ro"
    name, source = (f'"{part.replace(chr(34), chr(34) * 2)}"' for part in (column, table))
    query = (
        f"SELECT COUNT(*), COUNT({name}), COUNT(DISTINCT {name}), MIN({name}), MAX({name}), "
        f"AVG(CASE WHEN typeof({name}) IN ('integer', 'real') THEN {name} END) FROM {source}"
    )
    common = f"SELECT {name}, COUNT(*) FROM {source} GROUP BY 1 ORDER BY 2 DESC LIMIT ?"
    with closing(sqlite3.connect(address, uri=True)) as connection:
        rows, filled, distinct, low, high, mean = connection.execute(query).fetchone()
        frequent = connection.execute(common, (top,)).fetchall()
    return {
        "rows": rows,
        "nulls": rows - filled,
        "distinct": distinct,
        "minimum": low,
        "maximum": high,
        "average": mean,
        "frequent": [{"value": value, "count": count} for value, count in frequent],
    }
