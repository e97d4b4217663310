import sqlite3
from contextlib import closing
from pathlib import Path


def run(database: str, sql: str) -> dict[str, list[str] | bool]:
    """Reveal the execution plan of a slow query and whether it scans whole tables.

    The statement itself is not run.

    Args:
        database: Path of the SQLite file.
        sql: Statement to analyse.

    Returns:
        "plan" with one line per step, and "full_scan".
    """
    address = f"{Path(database).resolve().as_uri()}?mode=ro"
    with closing(sqlite3.connect(address, uri=True)) as connection:
        steps = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}")]
    scans = any(step.startswith("SCAN") and "INDEX" not in step for step in steps)
    return {"plan": steps, "full_scan": scans}
