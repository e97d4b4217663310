"""Sources, servers and rejections with the rights of a caller: they are for members."""

from collections.abc import Sequence

from pegboard.errors import NotAllowed
from pegboard.model.calls import Role, Server, ServerConfig, ServerState
from pegboard.model.items import Rejection, SourceRecord
from pegboard.store.seen.rights import Rights, of_the_whole


class SeenLedger:
    def __init__(self, rights: Rights) -> None:
        self._caller = rights.caller
        self._seen = rights.seen.ledger
        self._whole = rights.whole.ledger

    def sources(self) -> list[SourceRecord]:
        return self._seen.sources()

    def rejections(self) -> list[Rejection]:
        return self._seen.rejections()

    def servers(self) -> list[Server]:
        return self._seen.servers()

    def servers_down(self) -> frozenset[str]:
        return self._seen.servers_down()

    def remove_source(self, name: str) -> bool:
        """For the admins of its namespace. In the same words whether there is such a source."""
        known = any(each.name == name for each in self.sources())
        if not known or self._caller.role is not Role.ADMIN:
            raise NotAllowed(
                f"the source {name!r} is not yours to remove",
                "whoever is admin of its namespace can",
            )
        return self._whole.remove_source(name)

    def add_source(self, record: SourceRecord) -> None:
        raise of_the_whole("add a source")

    def mark_synced(self, name: str) -> None:
        raise of_the_whole("sync a source")

    def reject(self, rejections: Sequence[Rejection]) -> None:
        raise of_the_whole("sync a source")

    def settle(self, source: str, admitted: Sequence[str], seen: Sequence[str] | None) -> None:
        raise of_the_whole("sync a source")

    def put_server(self, config: ServerConfig, location: str) -> None:
        raise of_the_whole("add a server")

    def mark_server(self, state: ServerState) -> None:
        raise of_the_whole("say how a server is")
