"""The tokens of a SQLite board."""

import time

from pegboard.model.tokens import KeptToken, Token
from pegboard.store.access import new_token, read_token, revoked_token
from pegboard.store.queries import load
from pegboard.store.rows import is_storable
from pegboard.store.sqlite.audit import write_down
from pegboard.store.sqlite.database import Database, Value, in_list

SQL = load("sqlite", "tokens")


class SqliteTokens:
    def __init__(self, database: Database) -> None:
        self._db = database

    def add(self, kept: KeptToken, by: str = "") -> bool:
        token = kept.token
        params: dict[str, Value] = {
            "id": token.id,
            "name": token.name,
            "role": token.role.value,
            "namespaces": in_list(token.namespaces),
            "digest": kept.digest,
            "created_at": token.created_at,
            "expires_at": token.expires_at,
        }
        with self._db.write() as tx:
            added = bool(list(tx.execute(SQL["add"], params)))
            if added:
                write_down(tx, new_token(token, by, time.time()))
        return added

    def find(self, token_id: str) -> KeptToken | None:
        if not is_storable(token_id):
            return None
        for digest, *row in self._db.rows(SQL["find"], {"id": token_id}):
            return KeptToken(read_token(*row), digest)
        return None

    def listed(self) -> list[Token]:
        return [read_token(*row) for row in self._db.rows(SQL["listed"])]

    def remove(self, token_id: str, by: str = "") -> None:
        if not is_storable(token_id):
            return
        with self._db.write() as tx:
            gone = tx.execute(SQL["remove"], {"id": token_id}).fetchall()
            for (name,) in gone:
                write_down(tx, revoked_token(str(name), by, time.time()))

    def used(self, token_id: str, at: float) -> None:
        with self._db.write() as tx:
            tx.execute(SQL["used"], {"id": token_id, "at": at})
