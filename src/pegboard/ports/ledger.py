"""What the board remembers about its sources, and about what it refused."""

from collections.abc import Sequence
from typing import Protocol

from pegboard.model.calls import Server, ServerConfig, ServerState
from pegboard.model.items import Rejection, SourceRecord


class Ledger(Protocol):
    def add_source(self, record: SourceRecord) -> None: ...

    def remove_source(self, name: str) -> bool:
        """Remove a source and all that came from it; false if there was nothing of it."""
        ...

    def sources(self) -> list[SourceRecord]: ...

    def mark_synced(self, name: str) -> None: ...

    def reject(self, rejections: Sequence[Rejection]) -> None: ...

    def settle(self, source: str, admitted: Sequence[str], seen: Sequence[str] | None) -> None:
        """Forget rejections of admitted origins and, after a whole scan, of origins not seen."""
        ...

    def rejections(self) -> list[Rejection]: ...

    def put_server(self, config: ServerConfig, location: str) -> None:
        """An MCP server, and the source that reads it, in one transaction.

        `location` is what people are told of where it is.
        """
        ...

    def servers(self) -> list[Server]: ...

    def servers_down(self) -> frozenset[str]:
        """Names of those that could not be reached when they were last asked."""
        ...

    def mark_server(self, state: ServerState) -> None: ...
