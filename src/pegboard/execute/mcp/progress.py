"""Progress of a call, handed on to whoever made it."""

from collections import deque

import anyio
import anyio.to_thread

from pegboard.model.calls import CallProgress, OnProgress

MOST_WAITING = 100
UNTIL_TOLD = 1.0


class Relay:
    """Tells in a thread, in order, and forgets the oldest when the listener is slow."""

    def __init__(self, on_progress: OnProgress) -> None:
        self._on_progress = on_progress
        self._waiting: deque[CallProgress] = deque(maxlen=MOST_WAITING)
        self._quiet = anyio.Event()
        self._quiet.set()

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        self._waiting.append(CallProgress(progress, total, message))
        if not self._quiet.is_set():
            return
        self._quiet = anyio.Event()
        try:
            while self._waiting:
                await anyio.to_thread.run_sync(
                    self._on_progress, self._waiting.popleft(), abandon_on_cancel=True
                )
        finally:
            self._quiet.set()

    async def told(self) -> None:
        """Wait, but not long, until everything has been told."""
        with anyio.move_on_after(UNTIL_TOLD):
            await self._quiet.wait()

    def close(self) -> None:
        """Nothing is told after the call's result."""
        self._waiting = deque(maxlen=0)
