"""Named SQL queries from `.sql` files: `-- name: x` opens one, the next name ends it."""

import re
from functools import cache
from pathlib import Path

SQL = Path(__file__).with_name("sql")
_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


@cache
def load(dialect: str, topic: str) -> dict[str, str]:
    """Every query of `sql/<dialect>/<topic>.sql` by its name."""
    text = (SQL / dialect / f"{topic}.sql").read_text("utf-8")
    pieces = _NAME.split(text)[1:]
    return {
        name: sql.strip().rstrip(";") for name, sql in zip(pieces[::2], pieces[1::2], strict=True)
    }


def migrations(dialect: str) -> list[tuple[int, str, str]]:
    """Number, name and text of each migration, in order."""
    paths = sorted((SQL / dialect / "migrations").glob("*.sql"))
    return [(int(path.name[:4]), path.stem, path.read_text("utf-8")) for path in paths]
