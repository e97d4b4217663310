"""What a store promises about embedding work."""

import threading
from collections.abc import Sequence
from typing import Protocol

from pegboard.model.items import EmbeddingCounts, Entry, Fingerprint, Task, Vector


class Tasks(Protocol):
    def enqueue(self, target: Fingerprint, texts: Sequence[tuple[int, str, str]]) -> int:
        """Queue (item key, content hash, text) of each item that still has this content."""
        ...

    def unembedded(self, target: Fingerprint, after: int, limit: int) -> list[Entry]:
        """Active items with neither a vector of this fingerprint nor a task that will make one."""
        ...

    def adopt(self, target: Fingerprint, beside: Fingerprint | None = None) -> None:
        """Make this the kind of vector that the board is after, and another one `beside` it.

        Tasks for others are dropped. An item that waits although its vector is there is ready.
        """
        ...

    def disable(self) -> int:
        """Mark every item that waits for a vector as disabled, and drop its task."""
        ...

    def claim(
        self,
        target: Fingerprint,
        owner: str,
        limit: int,
        lease: float,
        *,
        tried_first: bool = False,
    ) -> list[Task]:
        """Tasks that were never tried, up to the limit, or one that was: whichever comes first.

        Namespaces that have any take turns, and each gives its oldest first.
        """
        ...

    def finish(self, target: Fingerprint, done: Sequence[tuple[Task, Vector]]) -> int:
        """Hang the vectors of each task, all or none, if its item still has that text; says of how
        many. A task comes once with each passage of its text, in order.
        """
        ...

    def fail(self, owner: str, task: Task, error: str, retry_at: float | None) -> None:
        """Put the task back until `retry_at`, or give it up if that is None."""
        ...

    def release(self, owner: str, *, died: bool = False) -> int:
        """Give back everything this owner holds, as if never claimed; if it died, as tried."""
        ...

    def owners(self) -> list[str]:
        """Who holds a lease at present."""
        ...

    def await_work(self, stop: threading.Event, seconds: float) -> None:
        """Come back when there may be something to claim, when told to stop, or after so long;
        what anybody queues after this thread's last look is never slept through."""
        ...

    def rest(self, target: Fingerprint, stop: threading.Event) -> None:
        """The rush is over: make searches by these vectors quick, until told to stop."""
        ...

    def revive(self, item_key: int | None) -> int:
        """Make failed tasks pending again, of one item or of all."""
        ...

    def counts(self, target: Fingerprint | None) -> EmbeddingCounts:
        """How far the active items are on the way to a vector of this kind."""
        ...

    def has_stray(self, targets: Sequence[Fingerprint]) -> bool:
        """Whether there are tasks for other vectors than these."""
        ...

    def waiting(self, target: Fingerprint | None) -> int:
        """How many tasks for such vectors are still to be done."""
        ...

    def pace(self, target: Fingerprint | None) -> tuple[float | None, float]:
        """When the oldest of those was queued, and how many vectors a second were hung lately."""
        ...

    def without_vector(self, target: Fingerprint) -> int:
        """How many active items cannot be found by meaning at present."""
        ...
