"""The SQLite store as a whole."""

import threading
import time
from collections.abc import Mapping
from pathlib import Path

import apsw

from pegboard.model.calls import Caller
from pegboard.model.content import Blob
from pegboard.ports.store import Store
from pegboard.store.blobs.folder import FolderBlobs
from pegboard.store.blobs.large_files import LargeFiles
from pegboard.store.blobs.storage import Blobs
from pegboard.store.checking import wrong_hashes, wrongly_hung
from pegboard.store.queries import load
from pegboard.store.seen.rights import Seen, settled
from pegboard.store.seen.store import SeenStore
from pegboard.store.sqlite.curation import SqliteCuration
from pegboard.store.sqlite.database import Database
from pegboard.store.sqlite.files import SqliteFiles
from pegboard.store.sqlite.index import SqliteIndex
from pegboard.store.sqlite.items import SqliteItems
from pegboard.store.sqlite.ledger import SqliteLedger
from pegboard.store.sqlite.models import SqliteModels
from pegboard.store.sqlite.picture import Pictures
from pegboard.store.sqlite.releases import SqliteReleases
from pegboard.store.sqlite.runs import SqliteRuns
from pegboard.store.sqlite.seen_database import SeenDatabase, Windows, open_to
from pegboard.store.sqlite.seen_index import SeenIndex, Shared
from pegboard.store.sqlite.tasks import SqliteTasks
from pegboard.store.sqlite.tokens import SqliteTokens

CHECKS = load("sqlite", "check")


class SqliteStore:
    def __init__(
        self,
        path: Path,
        *,
        create: bool = False,
        busy_seconds: float = 30.0,
        blobs: Blobs | None = None,
    ) -> None:
        self.database = Database(path, create=create, busy_seconds=busy_seconds)
        beside = path.with_name(f"{path.name}-files")
        self.files = LargeFiles(blobs or FolderBlobs(beside), SqliteFiles(self.database))
        self.items = SqliteItems(self.database, self.files)
        self.tasks = SqliteTasks(self.database)
        self.models = SqliteModels(self.database)
        self.index = SqliteIndex(self.database)
        self.ledger = SqliteLedger(self.database)
        self.curation = SqliteCuration(self.database)
        self.runs = SqliteRuns(self.database)
        self.tokens = SqliteTokens(self.database)
        self.releases = SqliteReleases(self.database, self.files)
        self._windows = Windows(self.database)
        self._pictures = Pictures(self.database)

    def seen_by(self, caller: Caller) -> Store:
        if caller.everywhere:
            return self
        known = settled(caller)
        database = SeenDatabase(self._windows, known)
        shared = Shared(self.database, self.index.nearest, self._pictures)
        seen = Seen(
            items=SqliteItems(database, self.files),
            tasks=SqliteTasks(database),
            models=SqliteModels(database),
            index=SeenIndex(shared, SqliteIndex(database), open_to(known)),
            ledger=SqliteLedger(database),
            curation=SqliteCuration(database),
            runs=SqliteRuns(database),
            releases=SqliteReleases(database, self.files),
        )
        return SeenStore(known, seen, self)

    def now(self) -> float:
        return time.time()

    def await_change(self, stop: threading.Event, seconds: float) -> bool:
        return self.tasks.await_change(stop, seconds)

    def check(self) -> list[str]:
        return self.database.snapshot(self._broken_rules)

    def _broken_rules(self) -> list[str]:
        # Without this FTS5 would check what it remembers against what another process wrote since.
        self.database.rows("SELECT rowid FROM item_terms LIMIT 1")
        found = [
            f"SQLite says: {row[0]}"
            for row in self.database.rows("PRAGMA integrity_check")
            if row[0] != "ok"
        ]
        found += [
            f"table {table} refers to a row of {parent} that is not there"
            for table, _, parent, _ in self.database.rows("PRAGMA foreign_key_check")
        ]
        for sql in CHECKS.values():
            found += [str(row[0]) for row in self.database.rows(sql)]
        return found + wrong_hashes(self.items) + wrongly_hung(self.items)

    def unused_files(self, older_than: float, *, remove: bool = False) -> list[Blob]:
        return self.files.unused(older_than, remove=remove)

    def facts(self) -> Mapping[str, object]:
        return {
            "board": str(self.database.path),
            "engine": f"SQLite {apsw.sqlite_lib_version()}",
            "vectors": f"sqlite-vec {self.database.rows('SELECT vec_version()')[0][0]}",
            "schema": self.database.schema,
            "bytes": self.database.path.stat().st_size,
            "files": self.files.place,
            "read_only": self.database.read_only,
        }

    def close(self) -> None:
        self._windows.close()
        self.database.close()
