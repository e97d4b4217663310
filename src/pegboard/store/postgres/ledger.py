"""Sources, rejections and MCP servers in PostgreSQL."""

from collections.abc import Sequence

from pegboard.model.calls import ServerConfig, ServerState
from pegboard.model.curation import Event
from pegboard.model.items import Rejection, SourceRecord
from pegboard.store.planning import Noted
from pegboard.store.postgres.database import Connection, Database, run
from pegboard.store.postgres.history import note
from pegboard.store.postgres.memory import Memory
from pegboard.store.postgres.rows import reading
from pegboard.store.queries import load
from pegboard.store.reading.ledger import ReadLedger
from pegboard.store.rows import is_storable, kept_origin, kept_text
from pegboard.store.servers import config_text

SQL = load("postgres", "ledger")


class PostgresLedger(ReadLedger):
    def __init__(self, database: Database, memory: Memory) -> None:
        super().__init__(reading(database))
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

        return self._db.write(work, tell=True) if is_storable(name) else False

    def mark_synced(self, name: str) -> None:
        self._db.write(lambda tx: run(tx, SQL["mark_synced"], {"name": name}), tell=True)

    def reject(self, rejections: Sequence[Rejection]) -> None:
        last = {(each.source, kept_origin(each.origin)): each for each in rejections}
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
        params: dict[str, object] = {
            "source": source,
            "admitted": [kept_origin(o) for o in admitted],
        }

        def work(tx: Connection) -> None:
            run(tx, SQL["settle_admitted"], params)
            if seen is not None:
                run(tx, SQL["settle_vanished"], params | {"seen": [kept_origin(o) for o in seen]})

        self._db.write(work)

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

    def servers_down(self) -> frozenset[str]:
        return self._memory.recall("servers_down", super().servers_down)

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
