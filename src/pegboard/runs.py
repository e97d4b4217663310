"""What the board remembers of runs: how each ended, never what it was given or gave back."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from pegboard.calls import Outcome
from pegboard.model import ItemId

KEPT_SECONDS = 90 * 86_400.0
"""So long a run is remembered."""
TELLING = (Outcome.OK, Outcome.FAILED, Outcome.TIMEOUT, Outcome.KILLED)
"""How a run must end to say something about its tool. Arguments that do not fit, a denial and a
server that is down say nothing."""
FEWEST_RUNS = 5
"""Of so few nobody can say how often it goes well."""
MOST_OF_A_CALLER = 20
"""So many of one caller count, his latest: nobody lifts or lowers an item by calling it often."""
MOST_CALLERS = 200
TIMED_RUNS = 1_000
"""So many of the latest are looked at for how long it takes."""


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
    median: float | None = None
    """How long the latest of those took, one half of them at most."""


class Runs(Protocol):
    """Apart from the items: what is recorded here changes nothing of an item but how often it is
    said to go well."""

    def record(self, run: Run) -> None:
        """Remember it, if its item is still there, and forget a few that are too old.

        With it `success_rate` and `counted_runs` of the item are made anew: from the last
        `MOST_OF_A_CALLER` telling runs of each caller, but for the item's author; the rate is
        unknown while these are fewer than `FEWEST_RUNS`.

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
