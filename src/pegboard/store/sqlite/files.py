"""What a SQLite board knows about its large files."""

from collections.abc import Sequence

from pegboard.store.queries import load
from pegboard.store.sqlite.database import Database, in_list

SQL = load("sqlite", "files")


class SqliteFiles:
    def __init__(self, database: Database) -> None:
        self._db = database

    def board(self) -> str:
        return str(self._db.rows(SQL["board"])[0][0])

    def known(self, hashes: Sequence[str]) -> list[tuple[str, str]]:
        rows = self._db.rows(SQL["known"], {"hashes": in_list(hashes)})
        return [(digest, key) for digest, key in rows]

    def in_use(self, keys: Sequence[str]) -> set[str]:
        return {key for (key,) in self._db.rows(SQL["in_use"], {"keys": in_list(keys)})}
