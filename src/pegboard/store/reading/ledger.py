"""Sources, their rejections, and MCP servers."""

from pegboard.model.calls import Health, Server, ServerState
from pegboard.model.items import Rejection, SourceRecord
from pegboard.store.reading.database import Reading
from pegboard.store.servers import config_from


class ReadLedger:
    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._sql = reading.sql("ledger")

    def sources(self) -> list[SourceRecord]:
        return [SourceRecord(*row) for row in self._reading.database.rows(self._sql["sources"])]

    def rejections(self) -> list[Rejection]:
        return [Rejection(*row) for row in self._reading.database.rows(self._sql["rejections"])]

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
            for row in self._reading.database.records(self._sql["servers"])
        ]

    def servers_down(self) -> frozenset[str]:
        rows = self._reading.database.rows(self._sql["servers_down"])
        return frozenset(str(name) for (name,) in rows)
