"""The SQLite store as a whole."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

import apsw

from pegboard.errors import BoardCorrupt
from pegboard.model import Entry
from pegboard.store.planning import content_hash
from pegboard.store.queries import load
from pegboard.store.sqlite.database import Database
from pegboard.store.sqlite.index import SqliteIndex
from pegboard.store.sqlite.items import SqliteItems
from pegboard.store.sqlite.ledger import SqliteLedger
from pegboard.store.sqlite.tasks import SqliteTasks
from pegboard.text import TEXT_VERSION, embedding_text, source_hash

CHECKS = load("sqlite", "check")


class SqliteStore:
    def __init__(self, path: Path, *, create: bool = False, busy_seconds: float = 30.0) -> None:
        self.database = Database(path, create=create, busy_seconds=busy_seconds)
        self.items = SqliteItems(self.database)
        self.tasks = SqliteTasks(self.database)
        self.index = SqliteIndex(self.database)
        self.ledger = SqliteLedger(self.database)

    def check(self) -> list[str]:
        with self.database.snapshot():
            return self._broken_rules()

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
        return found + self._wrong_hashes()

    def _wrong_hashes(self) -> list[str]:
        """Items that cannot be read, or are no longer what their hashes say."""
        found: list[str] = []
        for item_id, namespace in self.items.ids():
            try:
                entry = self.items.get(item_id, namespace)
            except BoardCorrupt as error:
                found.append(f"{item_id} cannot be read: {error.message}")
            else:
                found += _wrong_hashes_of(entry) if entry else []
        return found

    def facts(self) -> Mapping[str, object]:
        return {
            "board": str(self.database.path),
            "engine": f"SQLite {apsw.sqlite_lib_version()}",
            "vectors": f"sqlite-vec {self.database.rows('SELECT vec_version()')[0][0]}",
            "schema": self.database.schema,
            "bytes": self.database.path.stat().st_size,
            "read_only": self.database.read_only,
        }

    def close(self) -> None:
        self.database.close()


def _wrong_hashes_of(entry: Entry) -> list[str]:
    item, found = entry.item, []
    if content_hash(item) != entry.content_hash:
        found.append(f"{item.id} is not what was put: its content hash differs")
    if entry.text_version == TEXT_VERSION and (
        source_hash(embedding_text(item)) != entry.embedding.source_hash
    ):
        found.append(f"{item.id} has the text hash of another text")
    files = item.version.files if item.version else ()
    return found + [
        f"{item.id} has a file {file.path} that is not what was put"
        for file in files
        if hashlib.sha256(file.content).hexdigest() != file.sha256
    ]
