"""A run as every store keeps it."""

import math
from collections.abc import Sequence

from pegboard.model.calls import Outcome
from pegboard.model.items import ItemId
from pegboard.model.runs import Run
from pegboard.store.rows import kept_text, readable

LONGEST = 200
"""Characters that are kept of a version and of a caller."""
LATEST = 253_370_764_800.0
"""The year 9999, where Python's calendar ends."""
FORGOTTEN_AT_ONCE = 1_000
FORGOTTEN_BESIDE = 10
"""So many old ones go with each new one: more than come, and few enough to cost nothing."""


def kept_run(run: Run) -> Run:
    """With nothing in it that a database would refuse."""
    return run._replace(
        namespace=kept_text(run.namespace),
        id=ItemId(kept_text(run.id)),
        version=kept_text(run.version)[:LONGEST],
        at=_bounded(run.at),
        seconds=_bounded(run.seconds),
        caller=kept_text(run.caller)[:LONGEST],
    )


def read_run(
    namespace: str, item_id: str, version: str, at: float, outcome: str, seconds: float, who: str
) -> Run:
    """From the columns of its row."""
    with readable(item_id):
        return Run(namespace, ItemId(item_id), version, at, Outcome(outcome), seconds, who)


def median(seconds: Sequence[float]) -> float | None:
    """The middle one; of two, the shorter."""
    return sorted(seconds)[(len(seconds) - 1) // 2] if seconds else None


def _bounded(number: float) -> float:
    return min(max(number, 0.0), LATEST) if not math.isnan(number) else 0.0
