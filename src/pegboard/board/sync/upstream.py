"""The MCP servers of a board: which there are, how they stand, and the way to their tools."""

import logging
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from functools import partial
from typing import TYPE_CHECKING

from pegboard.errors import BoardError, ServerUnavailable
from pegboard.model.calls import CallResult, Listing, OnProgress, Server, ServerConfig, ServerState
from pegboard.model.content import Json
from pegboard.model.items import Item
from pegboard.ports.store import Store
from pegboard.sources.mcp.source import McpSource

if TYPE_CHECKING:
    from pegboard.execute.mcp.sessions import Sessions

log = logging.getLogger(__name__)

BOARDS_ABOVE = "_PEGBOARD_BOARDS"
"""Tells a server that is a Pegboard too which boards lead to it: it must not serve one of those."""
STOP_SECONDS = 0.2
"""How soon it is noticed that nobody wants to wait any more."""

Open = Callable[[Callable[[ServerState], None], Callable[[str], None]], "Sessions"]


class Upstream:
    """Sessions are opened when they are first needed, and stay until the board is closed."""

    def __init__(self, store: Store, open_sessions: Open, above: Sequence[str] = ()) -> None:
        self.store = store
        self._above = os.pathsep.join((*above, str(store.facts()["board"])))
        self.on_changed: Callable[[str], None] = lambda name: None
        """Told when a server has other tools than before, from any thread."""
        self._open = open_sessions
        self._sessions: Sessions | None = None
        self._lock = threading.Lock()
        self._ready: dict[str, Future[Listing]] = {}
        """Answers that no sync has taken yet."""
        self._asked: dict[str, Future[Listing]] = {}
        """What each server was last asked."""

    def servers(self) -> list[Server]:
        return self.store.ledger.servers()

    def configs(self) -> dict[str, ServerConfig]:
        return {each.config.name: each.config for each in self.servers() if each.config.enabled}

    @property
    def opened(self) -> bool:
        return self._sessions is not None

    def source(self, name: str, stop: threading.Event) -> McpSource:
        """What a sync reads: the listing that is on its way, or a new one."""
        config = self.configs().get(name)
        if config is None:
            raise ServerUnavailable(
                f"the MCP server {name!r} is switched off", "switch it on where it is declared"
            )
        return McpSource(config, lambda: self._listed(name, stop))

    def fetch(self, names: Sequence[str]) -> "dict[str, Future[Listing]]":
        """Ask these servers for their tools, several at a time; the next sync takes the answers."""
        known = self.configs()
        chosen = [name for name in names if name in known]
        sessions = self.sessions() if chosen else None
        asked = {name: sessions.listing(name) for name in chosen} if sessions else {}
        with self._lock:
            self._asked |= asked
        for name, answer in asked.items():
            answer.add_done_callback(partial(self._ready.__setitem__, name))
        return asked

    def prefetch(self, names: Sequence[str]) -> None:
        """As `fetch`, but for what is on its way already."""
        self.fetch([name for name in names if name not in self._ready])

    def ask_the_rest(self) -> None:
        """Ask those that nobody has asked yet: others ask them one by one, and may be at it."""
        with self._lock:
            asked = set(self._asked)
        self.fetch([name for name in self.configs() if name not in asked])

    def _listed(self, name: str, stop: threading.Event) -> Listing:
        asked = self._listing(name)
        while not wait([asked], STOP_SECONDS).done:
            if stop.is_set():
                asked.cancel()
                raise ServerUnavailable(f"the MCP server {name!r} was not waited for")
        return asked.result()

    def _listing(self, name: str) -> "Future[Listing]":
        """What has been answered already, else what is on its way, else a new question."""
        if answered := self._ready.pop(name, None):
            return answered
        with self._lock:
            asked = self._asked.get(name)
        return asked if asked and not asked.done() else self.sessions().listing(name)

    def start(
        self, item: Item, arguments: Json, seconds: float | None, on_progress: OnProgress | None
    ) -> "Future[CallResult]":
        server, tool = str(item.executor.get("server")), str(item.executor.get("tool"))
        return self.sessions().call(
            server, tool, dict(arguments), seconds=seconds, on_progress=on_progress
        )

    def live(self) -> tuple[str, ...]:
        """Servers that can be called now."""
        return tuple(sorted(self._sessions.live())) if self._sessions else ()

    def starting(self, seconds: float) -> list[str]:
        """Servers that have not answered when they were first asked, after waiting a little."""
        with self._lock:
            asked = dict(self._asked)
        late = wait(asked.values(), seconds).not_done
        return sorted(name for name, answer in asked.items() if answer in late)

    def missing(self, servers: Sequence[Server]) -> list[str]:
        """Why some of these cannot be called now, as sentences."""
        shown = {each.config.name for each in servers if each.config.enabled}
        if not shown:
            return []
        late = [name for name in self.starting(0) if name in shown]
        down = sorted(shown & self.store.ledger.servers_down() - {*late, *self.live()})
        told = {"still starting": late, "down, see pegboard status": down}
        return [f"{what}: {', '.join(names)}" for what, names in told.items() if names]

    def sessions(self) -> "Sessions":
        """With the servers that the board has now."""
        with self._lock:
            if self._sessions is None:
                self._sessions = self._open(self._mark, lambda name: self.on_changed(name))
            sessions = self._sessions
        told = {BOARDS_ABOVE: self._above}
        sessions.use([each._replace(env={**each.env, **told}) for each in self.configs().values()])
        return sessions

    def refresh(self) -> None:
        """Let go of servers that are gone, switched off or set up otherwise."""
        if self.opened:
            self.sessions()

    def _mark(self, state: ServerState) -> None:
        try:
            self.store.ledger.mark_server(state)
        except BoardError as error:
            log.warning("the state of %s was not written down: %s", state.name, error)

    def close(self) -> None:
        with self._lock:
            sessions, self._sessions = self._sessions, None
        if sessions is not None:
            sessions.close()
