"""Sources and rejections in SQLite."""

import time
from collections.abc import Sequence

from pegboard.model.calls import Health, Server, ServerConfig, ServerState
from pegboard.model.curation import Event
from pegboard.model.items import Rejection, SourceRecord
from pegboard.store.queries import load
from pegboard.store.servers import config_from, config_text
from pegboard.store.sqlite.database import Database, Value, in_list
from pegboard.store.sqlite.history import note

SQL = load("sqlite", "ledger")


class SqliteLedger:
    def __init__(self, database: Database) -> None:
        self._db = database

    def add_source(self, record: SourceRecord) -> None:
        with self._db.write() as tx:
            tx.execute(SQL["add_source"], record._asdict() | {"now": time.time()})

    def remove_source(self, name: str) -> bool:
        with self._db.write() as tx:
            known = tx.execute(SQL["remove_source"], {"name": name}).fetchone() is not None
            tx.execute(SQL["remove_source_rejections"], {"name": name})
            keys = [int(key) for (key,) in tx.execute(SQL["items_of_source"], {"name": name})]
            note(tx, keys, Event.PURGED, time.time(), detail=f"source {name} was removed")
            for step in ("remove_source_terms", "remove_source_items"):
                tx.execute(SQL[step], {"name": name})
        return known or bool(keys)

    def sources(self) -> list[SourceRecord]:
        return [
            SourceRecord(
                name=str(name),
                kind=str(kind),
                location=str(location),
                namespace=str(namespace),
                synced_at=None if synced_at is None else float(synced_at),
            )
            for name, kind, location, namespace, synced_at in self._db.rows(SQL["sources"])
        ]

    def mark_synced(self, name: str) -> None:
        with self._db.write() as tx:
            tx.execute(SQL["mark_synced"], {"name": name, "now": time.time()})

    def reject(self, rejections: Sequence[Rejection]) -> None:
        with self._db.write() as tx:
            now = time.time()
            tx.executemany(SQL["reject"], [r._asdict() | {"now": now} for r in rejections])

    def settle(self, source: str, admitted: Sequence[str], seen: Sequence[str] | None) -> None:
        with self._db.write() as tx:
            params: dict[str, Value] = {"source": source, "admitted": in_list(admitted)}
            tx.execute(SQL["settle_admitted"], params)
            if seen is not None:
                tx.execute(SQL["settle_vanished"], params | {"seen": in_list(seen)})

    def rejections(self) -> list[Rejection]:
        return [
            Rejection(
                source=str(row["source"]),
                origin=str(row["origin"]),
                origin_hash=str(row["origin_hash"]),
                code=str(row["code"]),
                reason=str(row["reason"]),
                rejected_at=float(row["rejected_at"]),
            )
            for row in self._db.records(SQL["rejections"])
        ]

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

    def servers(self) -> list[Server]:
        return [
            Server(
                config_from(row["config"])._replace(
                    enabled=bool(row["enabled"]), declared_in=row["declared_in"]
                ),
                ServerState(
                    name=row["name"],
                    health=Health(row["health"]),
                    error=row["error"],
                    tools=row["tools"],
                    checked_at=row["checked_at"],
                ),
            )
            for row in self._db.records(SQL["servers"])
        ]

    def servers_down(self) -> frozenset[str]:
        return frozenset(str(name) for (name,) in self._db.rows(SQL["servers_down"]))

    def mark_server(self, state: ServerState) -> None:
        with self._db.write() as tx:
            tx.execute(SQL["mark_server"], state._asdict() | {"health": state.health.value})
