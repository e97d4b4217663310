"""The PostgreSQL store as a whole."""

import threading
from collections.abc import Mapping

from psycopg.sql import Identifier

from pegboard.errors import BoardPartlyHidden
from pegboard.model.calls import Caller
from pegboard.model.content import Blob
from pegboard.ports.store import Store
from pegboard.store.blobs.large_files import LargeFiles
from pegboard.store.blobs.storage import Blobs
from pegboard.store.checking import wrong_hashes, wrongly_hung
from pegboard.store.postgres.curation import PostgresCuration
from pegboard.store.postgres.database import PATIENCE, Database
from pegboard.store.postgres.files import PostgresFiles
from pegboard.store.postgres.index import PostgresIndex
from pegboard.store.postgres.items import PostgresItems
from pegboard.store.postgres.ledger import PostgresLedger
from pegboard.store.postgres.listening import CHANGES, Listening
from pegboard.store.postgres.memory import Memory
from pegboard.store.postgres.models import PostgresModels
from pegboard.store.postgres.nearest import Nearest
from pegboard.store.postgres.releases import PostgresReleases
from pegboard.store.postgres.runs import PostgresRuns
from pegboard.store.postgres.tasks import PostgresTasks
from pegboard.store.postgres.tokens import PostgresTokens
from pegboard.store.postgres.words import Words
from pegboard.store.queries import load
from pegboard.store.seen.rights import Seen, of_the_whole, settled
from pegboard.store.seen.store import SeenStore

SQL = load("postgres", "store")
CHECKS = load("postgres", "check")


class PostgresStore:
    """With a `caller`, all is done with that caller's rights (docs/explanation/rights.md)."""

    def __init__(
        self,
        url: str,
        *,
        create: bool = False,
        patience: float | None = None,
        caller: Caller | None = None,
        blobs: Blobs | None = None,
    ) -> None:
        self.database = Database(url, create=create, patience=patience or PATIENCE, caller=caller)
        self.listening = Listening(url)
        self._memory = memory = Memory(self.listening)
        self.database.wrote = memory.wrote
        self.nearest = Nearest(self.database, memory)
        words = Words(self.database, memory)
        self._acts_for_others = False
        self.files = LargeFiles(blobs, PostgresFiles(self.database))
        self.items = PostgresItems(self.database, words, self.files)
        self.tasks = PostgresTasks(self.database, self.listening, memory, self.nearest)
        self.models = PostgresModels(self.database, memory, self.nearest)
        self.index = PostgresIndex(self.database, memory, words, self.nearest)
        self.ledger = PostgresLedger(self.database, memory)
        self.curation = PostgresCuration(self.database)
        self.runs = PostgresRuns(self.database)
        self.tokens = PostgresTokens(self.database)
        self.releases = PostgresReleases(self.database, self.files)

    def seen_by(self, caller: Caller) -> Store:
        if self.database.caller is not None:
            raise of_the_whole("act for somebody else")
        if caller.everywhere:
            return self
        self._check_roles()
        known = settled(caller)
        database, memory = self.database.seen_by(known), self._memory.apart()
        words, nearest = Words(database, memory), Nearest(database, memory)
        seen = Seen(
            items=PostgresItems(database, words, self.files),
            tasks=PostgresTasks(database, self.listening, memory, nearest),
            models=PostgresModels(database, memory, nearest),
            index=PostgresIndex(database, memory, words, nearest),
            ledger=PostgresLedger(database, memory),
            curation=PostgresCuration(database),
            runs=PostgresRuns(database),
            releases=PostgresReleases(database, self.files),
        )
        return SeenStore(known, seen, self)

    def _check_roles(self) -> None:
        """Once: what a login has been granted hardly ever changes while it is used."""
        if self._acts_for_others:
            return
        [(login, puts_on, whole)] = self.database.rows(SQL["puts_on"])
        if not puts_on or not whole:
            name = Identifier(login).as_string()
            raise BoardPartlyHidden(
                f"{self.database.place} does not let {login} act for others",
                f"let an administrator run: GRANT service_role TO {name}; "
                f"GRANT anon, authenticated TO {name} WITH INHERIT FALSE",
            )
        self._acts_for_others = True

    def now(self) -> float:
        return self.database.now()

    def await_change(self, stop: threading.Event, seconds: float) -> bool:
        return self.listening.wait(CHANGES, stop, seconds)

    def check(self) -> list[str]:
        def work() -> list[str]:
            found = [str(row[0]) for sql in CHECKS.values() for row in self.database.rows(sql)]
            return found + wrong_hashes(self.items) + wrongly_hung(self.items)

        return self.database.snapshot(work)

    def unused_files(self, older_than: float, *, remove: bool = False) -> list[Blob]:
        if not PostgresFiles(self.database).sees_all():  # what others use would seem to be unused
            raise BoardPartlyHidden(
                "only whoever sees the whole board can say which large files it does not use",
                "let its owner, a superuser or a login that has service_role run: pegboard doctor",
            )
        return self.files.unused(older_than, remove=remove)

    def facts(self) -> Mapping[str, object]:
        server, vectors, size = self.database.rows(SQL["facts"])[0]
        return {
            "board": self.database.place,
            "engine": f"PostgreSQL {server}",
            "vectors": f"pgvector {vectors}",
            "schema": self.database.rows(SQL["schema"])[0][0],
            "bytes": int(size),
            "read_only": self.database.read_only,
            "files": self.files.place,
        }

    def close(self) -> None:
        self.listening.close()
        self.database.close()
