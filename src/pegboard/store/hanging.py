"""What a worker has made, task by task."""

from collections.abc import Sequence

from pegboard.model import Task, Vector


def by_task(done: Sequence[tuple[Task, Vector]]) -> dict[Task, list[Vector]]:
    """The vectors of each task, in the order of its passages."""
    found: dict[Task, list[Vector]] = {}
    for task, vector in done:
        found.setdefault(task, []).append(vector)
    return found
