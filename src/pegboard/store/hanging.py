"""What a worker has made, task by task."""

from collections.abc import Sequence

from pegboard.model.items import Fingerprint, Task, Vector

LATELY = 60.0
"""Seconds in which work is counted to tell how quick it goes."""
ENOUGH = 2_000
"""Vectors that tell it."""
LEAST_SECONDS = 5.0
"""What was done in less tells little of the next minute."""


def model_name(target: Fingerprint) -> str:
    """What an item says of the model that its vector is from."""
    return f"{target.provider}:{target.model}"


def by_task(done: Sequence[tuple[Task, Vector]]) -> dict[Task, list[Vector]]:
    """The vectors of each task, in the order of its passages."""
    found: dict[Task, list[Vector]] = {}
    for task, vector in done:
        found.setdefault(task, []).append(vector)
    return found


def a_second(done: int, since: float | None, now: float) -> float:
    """How quick it goes, by what was done since then."""
    return round(done / max(now - since, LEAST_SECONDS), 2) if since is not None else 0.0
