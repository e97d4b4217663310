"""The pool of sessions to MCP servers: a plain face over an event loop in a thread of its own."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

from pegboard.errors import ServerUnavailable
from pegboard.execute.mcp.hiding import Hiding
from pegboard.execute.mcp.session import Session
from pegboard.execute.mcp.telling import Telling
from pegboard.model.calls import CallResult, Listing, OnProgress, Outcome, ServerConfig, ServerState

T = TypeVar("T")

_LAST_ANSWERS = 0.2


class Sessions:
    """Servers start when they are first asked for something, and stay until `close`."""

    def __init__(
        self,
        *,
        environ: Mapping[str, str],
        parallel: int = 8,
        on_state: Callable[[ServerState], None],
        on_changed: Callable[[str], None],
    ) -> None:
        """`on_state` and `on_changed` are called from threads that may wait."""
        self._environ = environ
        self._slots = asyncio.Semaphore(parallel)
        self._telling = Telling(on_state, on_changed)
        self._hiding = Hiding()
        self._sessions: dict[str, Session] = {}
        self._retired: list[Session] = []
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._loop: Future[asyncio.AbstractEventLoop] = Future()
        self._end = asyncio.Event()
        self._closed = False

    def use(self, configs: Sequence[ServerConfig]) -> None:
        """Which servers there are; the session of one that is gone or changed is closed."""
        wanted = {config.name: config for config in configs if config.enabled}
        with self._lock:
            if self._closed:
                return
            for name, session in list(self._sessions.items()):
                if wanted.get(name) != session.config:
                    self._retire(self._sessions.pop(name))
            for name in wanted.keys() - self._sessions.keys():
                self._sessions[name] = Session(
                    wanted[name], self._environ, self._slots, self._telling, self._hiding
                )

    def listing(self, name: str) -> "Future[Listing]":
        """All of a server's tools; fails with `ServerUnavailable`."""
        return self._submit(name, lambda session: session.listing()) or _failed(self._absent(name))

    def call(
        self,
        name: str,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        seconds: float | None = None,
        on_progress: OnProgress | None = None,
    ) -> "Future[CallResult]":
        """Cancelling the future cancels the call at the server."""
        made = self._submit(
            name, lambda session: session.call(tool, arguments, seconds, on_progress)
        )
        return made or _done(CallResult(Outcome.UNAVAILABLE, error=str(self._absent(name))))

    def live(self) -> frozenset[str]:
        """Servers that can be called now."""
        with self._lock:
            return frozenset(name for name, session in self._sessions.items() if session.live)

    def states(self) -> dict[str, ServerState]:
        with self._lock:
            return {name: session.state for name, session in self._sessions.items()}

    def close(self, seconds: float = 1.5) -> None:
        """End every server, all at the same time; afterwards no process of theirs is left."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            thread = self._thread
        if thread is not None:
            self._loop.result().call_soon_threadsafe(self._end.set)
            thread.join(seconds)
            for session in (*self._sessions.values(), *self._retired):
                session.kill()
            self._hiding.remove()
        self._telling.close()

    def _submit(
        self, name: str, work: Callable[[Session], Coroutine[Any, Any, T]]
    ) -> "Future[T] | None":
        with self._lock:
            session = self._sessions.get(name)
            if session is None or self._closed:
                return None
            return asyncio.run_coroutine_threadsafe(work(session), self._running())

    def _running(self) -> asyncio.AbstractEventLoop:
        if self._thread is None:
            self._hiding.install()
            # A daemon: a program that forgets to close must still be able to end.
            self._thread = threading.Thread(
                target=lambda: asyncio.run(self._run()), name="pegboard-mcp", daemon=True
            )
            self._thread.start()
        return self._loop.result()

    def _retire(self, session: Session) -> None:
        if self._thread is None:
            return
        self._retired = [each for each in self._retired if not each.stopped]
        self._retired.append(session)
        asyncio.run_coroutine_threadsafe(session.stop(), self._loop.result())

    async def _run(self) -> None:
        self._loop.set_result(asyncio.get_running_loop())
        await self._end.wait()
        everyone = [*self._sessions.values(), *self._retired]
        await asyncio.gather(*(session.stop() for session in everyone))
        # Calls that were under way are told how they ended, not just dropped.
        rest = asyncio.all_tasks() - {asyncio.current_task()}
        if rest:
            await asyncio.wait(rest, timeout=_LAST_ANSWERS)

    def _absent(self, name: str) -> ServerUnavailable:
        if self._closed:
            return ServerUnavailable(f"MCP server {name!r}: Pegboard is closing")
        return ServerUnavailable(
            f"there is no MCP server {name!r}", "see which there are: pegboard status"
        )


def _done(result: T) -> "Future[T]":
    future: Future[T] = Future()
    future.set_result(result)
    return future


def _failed(error: ServerUnavailable) -> "Future[Any]":
    future: Future[Any] = Future()
    future.set_exception(error)
    return future
