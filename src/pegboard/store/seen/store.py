"""A board with the rights of one caller, who shares everything else with the board itself."""

import threading
from collections.abc import Mapping

from pegboard.model.calls import Caller
from pegboard.model.content import Blob
from pegboard.ports.index import Index
from pegboard.ports.store import Store
from pegboard.ports.tokens import Tokens
from pegboard.store.seen.curation import SeenCuration
from pegboard.store.seen.items import SeenItems
from pegboard.store.seen.ledger import SeenLedger
from pegboard.store.seen.models import SeenModels
from pegboard.store.seen.releases import SeenReleases
from pegboard.store.seen.rights import Rights, Seen, of_the_whole
from pegboard.store.seen.runs import SeenRuns
from pegboard.store.seen.tasks import SeenTasks

TOLD = ("engine", "vectors", "schema", "read_only")
"""What everybody may know of where a board lies."""


class SeenStore:
    def __init__(self, caller: Caller, seen: Seen, whole: Store) -> None:
        rights = Rights(caller, seen, whole)
        self._caller = caller
        self._whole = whole
        self.items = SeenItems(rights)
        self.tasks = SeenTasks(rights)
        self.models = SeenModels(rights)
        self.index: Index = seen.index
        self.ledger = SeenLedger(rights)
        self.curation = SeenCuration(rights)
        self.runs = SeenRuns(rights)
        self.releases = SeenReleases(rights)

    @property
    def tokens(self) -> Tokens:
        raise of_the_whole("see its tokens")

    def seen_by(self, caller: Caller) -> Store:
        """Nobody gets more rights from another."""
        if caller == self._caller:
            return self
        raise of_the_whole("act for somebody else")

    def now(self) -> float:
        return self._whole.now()

    def await_change(self, stop: threading.Event, seconds: float) -> bool:
        """Also of what the caller does not see: only that something has changed is told."""
        return self._whole.await_change(stop, seconds)

    def check(self) -> list[str]:
        raise of_the_whole("check it")

    def unused_files(self, older_than: float, *, remove: bool = False) -> list[Blob]:
        raise of_the_whole("look for files that nothing uses")

    def facts(self) -> Mapping[str, object]:
        return {name: value for name, value in self._whole.facts().items() if name in TOLD}

    def close(self) -> None:
        """The board that it is a view of goes on."""
