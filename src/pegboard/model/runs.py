"""What the board remembers of runs: how each ended, never what it was given or gave back."""

from typing import NamedTuple

from pegboard.model.calls import Outcome
from pegboard.model.items import ItemId

KEPT_SECONDS = 90 * 86_400.0
"""So long a run is remembered."""
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
