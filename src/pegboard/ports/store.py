"""The board's database: what SQLite and PostgreSQL both promise."""

import threading
from collections.abc import Mapping
from typing import Protocol

from pegboard.model.calls import Caller
from pegboard.model.content import Blob
from pegboard.ports.curation import Curation
from pegboard.ports.index import Index
from pegboard.ports.items import Items
from pegboard.ports.ledger import Ledger
from pegboard.ports.models import Models
from pegboard.ports.releases import Releases
from pegboard.ports.runs import Runs
from pegboard.ports.tasks import Tasks
from pegboard.ports.tokens import Tokens


class Store(Protocol):
    """A board's database: SQLite or PostgreSQL, with the same behaviour."""

    @property
    def items(self) -> Items: ...

    @property
    def tasks(self) -> Tasks: ...

    @property
    def models(self) -> Models: ...

    @property
    def index(self) -> Index: ...

    @property
    def ledger(self) -> Ledger: ...

    @property
    def curation(self) -> Curation: ...

    @property
    def runs(self) -> Runs: ...

    @property
    def releases(self) -> Releases: ...

    @property
    def tokens(self) -> Tokens: ...

    def seen_by(self, caller: Caller) -> "Store":
        """The same board with the rights of this caller; whoever is everywhere gets it all.

        It shares everything with this one and is not closed by itself. Nothing that it tells or
        does depends on what the caller may not see.
        """
        ...

    def now(self) -> float:
        """Seconds since the epoch by the board's own clock, the same for every machine."""
        ...

    def await_change(self, stop: threading.Event, seconds: float) -> bool:
        """Come back when somebody may have changed the board, when told to stop, or after so long.

        Says whether it may have been changed since this thread last asked.
        """
        ...

    def check(self) -> list[str]:
        """Every broken invariant, as a sentence."""
        ...

    def unused_files(self, older_than: float, *, remove: bool = False) -> list[Blob]:
        """Large files that belong to nothing on the board and are at least so many seconds old."""
        ...

    def facts(self) -> Mapping[str, object]:
        """Where the board is, how large, and which engine serves it."""
        ...

    def close(self) -> None: ...
