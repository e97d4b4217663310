"""What a PostgreSQL board knows about its large files."""

from collections.abc import Sequence

from pegboard.store.postgres.database import Connection, Database, run
from pegboard.store.queries import load

SQL = load("postgres", "files")


class PostgresFiles:
    def __init__(self, database: Database) -> None:
        self._db = database

    def board(self) -> str:
        return str(self._db.rows(SQL["board"])[0][0])

    def known(self, hashes: Sequence[str]) -> list[tuple[str, str, str]]:
        rows = self._db.rows(SQL["known"], {"hashes": list(hashes)})
        return [(digest, key, namespace) for digest, key, namespace in rows]

    def in_use(self, keys: Sequence[str]) -> set[str]:
        return {key for (key,) in self._db.rows(SQL["in_use"], {"keys": list(keys)})}

    def sees_all(self) -> bool:
        """Whether what is not in use here is not in use at all."""
        return bool(self._db.rows(SQL["sees_all"])[0][0])


def known_and_held(tx: Connection, hashes: Sequence[str]) -> list[tuple[str, str]]:
    rows = run(tx, SQL["known_and_held"], {"hashes": list(hashes)})
    return [(digest, key) for digest, key in rows]
