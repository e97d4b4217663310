"""The tokens of a PostgreSQL board."""

import time
import uuid

from pegboard.model.tokens import KeptToken, Token
from pegboard.store.access import new_token, read_token, revoked_token
from pegboard.store.postgres.audit import write_down
from pegboard.store.postgres.database import Connection, Database, run
from pegboard.store.queries import load
from pegboard.store.rows import is_storable

SQL = load("postgres", "tokens")


class PostgresTokens:
    def __init__(self, database: Database) -> None:
        self._db = database

    def add(self, kept: KeptToken, by: str = "") -> bool:
        token, uid = kept.token, uuid.uuid4()
        params: dict[str, object] = {
            "id": token.id,
            "name": token.name,
            "role": token.role.value,
            "namespaces": list(token.namespaces),
            "digest": kept.digest,
            "created_at": token.created_at,
            "expires_at": token.expires_at,
        }

        def work(tx: Connection) -> bool:
            if run(tx, SQL["add"], params):
                write_down(tx, new_token(token, by, time.time()), uid)
            return run(tx, SQL["added"], params) == [(True,)]

        return self._db.write(work, changes=False)

    def find(self, token_id: str) -> KeptToken | None:
        if not is_storable(token_id):
            return None
        for digest, *row in self._db.rows(SQL["find"], {"id": token_id}, prepare=True):
            return KeptToken(read_token(*row), bytes(digest))
        return None

    def listed(self) -> list[Token]:
        return [read_token(*row) for row in self._db.rows(SQL["listed"])]

    def remove(self, token_id: str, by: str = "") -> None:
        def work(tx: Connection) -> None:
            for (name,) in run(tx, SQL["remove"], {"id": token_id}):
                write_down(tx, revoked_token(name, by, time.time()), uuid.uuid4())

        if is_storable(token_id):
            self._db.write(work, tell=True)  # answers that go on have to end

    def used(self, token_id: str, at: float) -> None:
        params: dict[str, object] = {"id": token_id, "at": at}
        self._db.write(lambda tx: run(tx, SQL["used"], params), changes=False)
