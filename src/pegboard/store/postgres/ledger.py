"""Sources, rejections and MCP servers in PostgreSQL."""

import hashlib
from collections.abc import Sequence

from pegboard.model.calls import Health, Server, ServerConfig, ServerState
from pegboard.model.curation import Event
from pegboard.model.items import Rejection, SourceRecord
from pegboard.store.planning import Noted
from pegboard.store.postgres.database import Connection, Database, run
from pegboard.store.postgres.history import note
from pegboard.store.postgres.memory import Memory
from pegboard.store.postgres.rows import sayable
from pegboard.store.queries import load
from pegboard.store.rows import kept_text
from pegboard.store.servers import config_from, config_text

SQL = load("postgres", "ledger")

LONGEST_ORIGIN = 600
"""Characters: an index entry has a bound on its size."""


class PostgresLedger:
    def __init__(self, database: Database, memory: Memory) -> None:
        self._db = database
        self._memory = memory

    def add_source(self, record: SourceRecord) -> None:
        self._db.write(lambda tx: _add_source(tx, record), tell=True)

    def remove_source(self, name: str) -> bool:
        def work(tx: Connection) -> bool:
            known = run(tx, SQL["remove_source"], {"name": name})
            run(tx, SQL["remove_source_rejections"], {"name": name})
            keys = [int(key) for (key,) in run(tx, SQL["items_of_source"], {"name": name})]
            noted = Noted(Event.PURGED, f"source {name} was removed")
            note(tx, [(key, noted) for key in keys])
            run(tx, SQL["remove_items"], {"keys": keys})
            return bool(known or keys)

        return self._db.write(work, tell=True) if sayable([name]) else False

    def sources(self) -> list[SourceRecord]:
        return [SourceRecord(*row) for row in self._db.rows(SQL["sources"])]

    def mark_synced(self, name: str) -> None:
        self._db.write(lambda tx: run(tx, SQL["mark_synced"], {"name": name}), tell=True)

    def reject(self, rejections: Sequence[Rejection]) -> None:
        last = {(each.source, _kept(each.origin)): each for each in rejections}
        rows = [
            (source, origin, each.origin_hash, each.code, kept_text(each.reason))
            for (source, origin), each in last.items()
        ]
        names = ("sources", "origins", "hashes", "codes", "reasons")
        columns = zip(*rows, strict=True)
        params = dict(zip(names, map(list, columns), strict=True))
        if rows:
            self._db.write(lambda tx: run(tx, SQL["reject"], params), tell=True)

    def settle(self, source: str, admitted: Sequence[str], seen: Sequence[str] | None) -> None:
        params: dict[str, object] = {"source": source, "admitted": [_kept(o) for o in admitted]}

        def work(tx: Connection) -> None:
            run(tx, SQL["settle_admitted"], params)
            if seen is not None:
                run(tx, SQL["settle_vanished"], params | {"seen": [_kept(o) for o in seen]})

        self._db.write(work)

    def rejections(self) -> list[Rejection]:
        return [Rejection(*row) for row in self._db.rows(SQL["rejections"])]

    def put_server(self, config: ServerConfig, location: str) -> None:
        record = SourceRecord(config.name, "mcp", location, config.namespace)
        params: dict[str, object] = {
            "name": config.name,
            "namespace": config.namespace,
            "config": config_text(config),
            "enabled": config.enabled,
            "declared_in": config.declared_in,
        }

        def work(tx: Connection) -> None:
            _add_source(tx, record)
            run(tx, SQL["put_server"], params)

        self._db.write(work, tell=True)

    def servers(self) -> list[Server]:
        return [
            Server(
                config_from(row["config"])._replace(
                    enabled=row["enabled"], declared_in=row["declared_in"]
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
        return self._memory.recall(
            "servers_down",
            lambda: frozenset(str(name) for (name,) in self._db.rows(SQL["servers_down"])),
        )

    def mark_server(self, state: ServerState) -> None:
        params = state._asdict() | {
            "health": state.health.value,
            "error": kept_text(state.error),
        }
        self._db.write(lambda tx: run(tx, SQL["mark_server"], params), tell=True)


def _add_source(tx: Connection, record: SourceRecord) -> None:
    params = record._asdict()
    for step in ("move_source", "drop_moved_rejections", "move_rejections", "add_source"):
        run(tx, SQL[step], params)


def _kept(origin: str) -> str:
    """The origin, or as much of it as can be kept and told from others."""
    if len(origin) <= LONGEST_ORIGIN and sayable([origin]):
        return origin
    digest = hashlib.sha256(origin.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{kept_text(origin)[:LONGEST_ORIGIN]} ({digest[:16]})"
