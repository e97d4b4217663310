"""What is asked of a gateway, and its answers as values."""

from collections.abc import Mapping
from typing import TypeVar
from urllib.parse import quote

from pegboard.errors import BoardUnreachable, ItemNotFound
from pegboard.remote.connection import Answered, Connection, Query, Request
from pegboard.remote.decoding import Undecodable, decoded

T = TypeVar("T")


class Gateway:
    """The routes of one gateway, by their paths."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    @property
    def address(self) -> str:
        return self.connection.address

    def get(self, path: str, *query: tuple[str, object]) -> object:
        return self.ask(Request("GET", path, _pairs(query))).value

    def post(self, path: str, body: Mapping[str, object] | None = None) -> object:
        return self.ask(Request("POST", path, body=body)).value

    def ask(self, request: Request) -> Answered:
        return self.connection.ask(request)

    def value(self, kind: type[T], found: object) -> T:
        """An answer as what it is to be."""
        try:
            return decoded(kind, found)
        except Undecodable as error:
            raise self.not_understood(str(error)) from error

    def listed(self, kind: type[T], found: object, name: str) -> list[T]:
        """Those that stand in the answer under this name."""
        parts = found.get(name) if isinstance(found, dict) else None
        if not isinstance(parts, list):
            raise self.not_understood(f"{name} is missing")
        return [self.value(kind, each) for each in parts]

    def not_understood(self, why: str) -> BoardUnreachable:
        return BoardUnreachable(
            f"{self.address} answers in a way that is not understood here: {why}",
            "it may be a Pegboard of another version; compare: pegboard doctor --gateway",
        )


def of_item(name: str, rest: str = "") -> str:
    """The path of an item, by whatever name."""
    if name in ("", ".", ".."):  # which a path takes for something else
        raise ItemNotFound(
            f"there is no item {name!r} on this board",
            'look for it: pegboard search "..." --state all; '
            "what is not active is named by its whole id",
        )
    return f"/items/{in_path(name)}{rest}"


def in_path(name: str) -> str:
    return quote(name, safe=":@", errors="replace")


def _pairs(query: tuple[tuple[str, object], ...]) -> Query:
    return [(name, str(value)) for name, value in query if value is not None]
