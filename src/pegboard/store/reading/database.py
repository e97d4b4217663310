"""What reading needs of a database: its queries by name, and how it takes and gives values."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from pegboard.model.items import Entry
from pegboard.store.queries import load
from pegboard.store.rows import Reader, storable

T = TypeVar("T")
Params = Mapping[str, Any]


class Database(Protocol):
    def rows(self, sql: str, params: Params | None = None) -> list[tuple[Any, ...]]: ...

    def records(self, sql: str, params: Params | None = None) -> list[dict[str, Any]]: ...

    def snapshot(self, work: Callable[[], T]) -> T:
        """Everything that the work reads is of one moment. It may be begun again."""
        ...


class Reading(NamedTuple):
    database: Database
    dialect: str
    reader: Reader
    many: Callable[[Sequence[str] | Sequence[int]], object]
    """Several values as one parameter."""

    def sql(self, topic: str) -> dict[str, str]:
        return load(self.dialect, topic)

    def entries(self, sql: str, params: Params | None = None) -> list[Entry]:
        return [self.reader.entry(row) for row in self.database.records(sql, params)]

    def any_of(self, texts: Sequence[str]) -> object:
        """For a query that is bounded by these texts, or by nothing if there are none."""
        return self.many(storable(texts)) if texts else None
