"""What happens to servers, told to the board outside the event loop: the board writes it down."""

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress

from pegboard.model.calls import ServerState

log = logging.getLogger(__name__)

END_SECONDS = 1.0


class Telling:
    """States and changes have a thread each: whoever hears of a change may list it for long."""

    def __init__(
        self, on_state: Callable[[ServerState], None], on_changed: Callable[[str], None]
    ) -> None:
        self._on_state = on_state
        self._on_changed = on_changed
        self._states = ThreadPoolExecutor(1, "pegboard-mcp-states")
        self._changes = ThreadPoolExecutor(1, "pegboard-mcp-changes")
        self._untold: set[str] = set()
        self._lock = threading.Lock()

    def state(self, state: ServerState) -> None:
        self._soon(self._states, lambda: self._on_state(state))

    def changed(self, name: str) -> None:
        """Told once, however often it is said before anybody has listened."""
        with self._lock:
            if name in self._untold:
                return
            self._untold.add(name)
        self._soon(self._changes, lambda: self._tell_change(name))

    def close(self) -> None:
        """Whoever is just being told is waited for, if that takes no longer than a second."""
        threads = (self._states, self._changes)
        wait([each.submit(_nothing) for each in threads], END_SECONDS)
        for each in threads:
            each.shutdown(wait=False, cancel_futures=True)

    def _tell_change(self, name: str) -> None:
        with self._lock:
            self._untold.discard(name)
        self._on_changed(name)

    def _soon(self, thread: ThreadPoolExecutor, work: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # closed: nobody listens any more
            thread.submit(work).add_done_callback(_log_failure)


def _nothing() -> None:
    """Done when everything before it is."""


def _log_failure(told: "Future[None]") -> None:
    if not told.cancelled() and (error := told.exception()) is not None:
        log.error("a listener to MCP servers failed", exc_info=error)
