"""Named SQL queries from `.sql` files: `-- name: x` opens one, the next name ends it.

What several queries have in common is a file of its own: `-- include: x` stands for all of it.
"""

import re
from functools import cache
from pathlib import Path

from pegboard.errors import BoardTooNew

SQL = Path(__file__).with_name("sql")
_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)
_INCLUDE = re.compile(r"^ *-- include: (\w+)$", re.MULTILINE)


@cache
def load(dialect: str, topic: str, *, filters: str = "filters") -> dict[str, str]:
    """Every query of `sql/<dialect>/<topic>.sql` by its name.

    Another part can take the place of the one called `filters`: planning is quicker without them.
    """
    pieces = _NAME.split(_text(dialect, topic, filters))[1:]
    return {
        name: sql.strip().rstrip(";") for name, sql in zip(pieces[::2], pieces[1::2], strict=True)
    }


def _text(dialect: str, topic: str, filters: str) -> str:
    def included(found: re.Match[str]) -> str:
        return _text(dialect, filters if found[1] == "filters" else found[1], filters)

    return _INCLUDE.sub(included, (SQL / dialect / f"{topic}.sql").read_text("utf-8"))


def migrations(dialect: str) -> list[tuple[int, str, str]]:
    """Number, name and text of each migration, in order."""
    paths = sorted((SQL / dialect / "migrations").glob("*.sql"))
    return [(int(path.name[:4]), path.stem, path.read_text("utf-8")) for path in paths]


def too_new(place: object, applied: int, known: int) -> BoardTooNew:
    return BoardTooNew(
        f"{place} has schema {applied}, this Pegboard knows {known}",
        "upgrade Pegboard, as it was installed; or go back to the backup that was made "
        "before the board was upgraded",
    )
