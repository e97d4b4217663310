"""Sources, rejections and MCP servers in SQLite."""

import time
from collections.abc import Sequence

from pegboard.model.calls import ServerConfig, ServerState
from pegboard.model.curation import Event
from pegboard.model.items import Rejection, SourceRecord
from pegboard.store.queries import load
from pegboard.store.reading.ledger import ReadLedger
from pegboard.store.rows import is_storable, kept_origin, kept_text
from pegboard.store.servers import config_text
from pegboard.store.sqlite.database import Database, Value, in_list
from pegboard.store.sqlite.history import note
from pegboard.store.sqlite.rows import reading

SQL = load("sqlite", "ledger")


class SqliteLedger(ReadLedger):
    def __init__(self, database: Database) -> None:
        super().__init__(reading(database))
        self._db = database

    def add_source(self, record: SourceRecord) -> None:
        with self._db.write() as tx:
            tx.execute(SQL["add_source"], record._asdict() | {"now": time.time()})

    def remove_source(self, name: str) -> bool:
        if not is_storable(name):
            return False
        with self._db.write() as tx:
            known = tx.execute(SQL["remove_source"], {"name": name}).fetchone() is not None
            tx.execute(SQL["remove_source_rejections"], {"name": name})
            keys = [int(key) for (key,) in tx.execute(SQL["items_of_source"], {"name": name})]
            note(tx, keys, Event.PURGED, time.time(), detail=f"source {name} was removed")
            for step in ("remove_source_terms", "remove_source_items"):
                tx.execute(SQL[step], {"name": name})
        return known or bool(keys)

    def mark_synced(self, name: str) -> None:
        with self._db.write() as tx:
            tx.execute(SQL["mark_synced"], {"name": name, "now": time.time()})

    def reject(self, rejections: Sequence[Rejection]) -> None:
        kept = [
            each._asdict() | {"origin": kept_origin(each.origin), "reason": kept_text(each.reason)}
            for each in rejections
        ]
        with self._db.write() as tx:
            now = time.time()
            tx.executemany(SQL["reject"], [each | {"now": now} for each in kept])

    def settle(self, source: str, admitted: Sequence[str], seen: Sequence[str] | None) -> None:
        with self._db.write() as tx:
            known = in_list([kept_origin(each) for each in admitted])
            tx.execute(SQL["settle_admitted"], {"source": source, "admitted": known})
            if seen is not None:
                still = in_list([kept_origin(each) for each in seen])
                tx.execute(SQL["settle_vanished"], {"source": source, "seen": still})

    def put_server(self, config: ServerConfig, location: str) -> None:
        record = SourceRecord(config.name, "mcp", location, config.namespace)
        with self._db.write() as tx:
            now = time.time()
            tx.execute(SQL["add_source"], record._asdict() | {"now": now})
            params: dict[str, Value] = {
                "name": config.name,
                "config": config_text(config),
                "enabled": int(config.enabled),
                "declared_in": config.declared_in,
                "now": now,
            }
            tx.execute(SQL["put_server"], params)

    def mark_server(self, state: ServerState) -> None:
        with self._db.write() as tx:
            told = {"health": state.health.value, "error": kept_text(state.error)}
            tx.execute(SQL["mark_server"], state._asdict() | told)
