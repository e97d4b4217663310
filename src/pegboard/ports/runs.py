"""What a store promises about runs."""

from collections.abc import Sequence
from typing import Protocol

from pegboard.model.runs import Run, RunCounts


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
