"""What the board remembers of runs: how each ended, never what it was given or gave back."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from pegboard.calls import Outcome
from pegboard.model import ItemId

KEPT_SECONDS = 90 * 86_400.0
"""So long a run is remembered."""


class Run(NamedTuple):
    """A call that ended. Its item may be gone since."""

    namespace: str
    id: ItemId
    version: str
    at: float
    """When it ended, by the board's clock."""
    outcome: Outcome
    seconds: float
    caller: str = ""
    """Who asked: a subject, or a face such as `cli` or `mcp`."""


class RunCounts(NamedTuple):
    runs: int = 0
    ok: int = 0
    last_at: float | None = None
    seconds: float | None = None
    """The mean of those that went well; None if none did."""


class Runs(Protocol):
    """Apart from the items: whatever is recorded here changes no item and no search."""

    def record(self, run: Run) -> None:
        """Remember it, if its item is still there, and forget a few that are too old.

        Where callers have rights of their own, a run is theirs, whatever it says.
        """
        ...

    def recent(
        self, item_id: str | None = None, namespace: str | None = None, limit: int = 20
    ) -> Sequence[Run]:
        """Newest first, of one item or of all, also of what was removed."""
        ...

    def counts(self, item_id: str | None = None, namespace: str | None = None) -> RunCounts: ...

    def prune(self, before: float) -> int:
        """Forget all that ended before; says how many. A little at a time: nobody has to wait."""
        ...
