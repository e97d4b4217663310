"""Sessions that remember what they told, and servers that misbehave."""

import json
import queue
import subprocess
import sys
from pathlib import Path

from pegboard.execute.mcp.sessions import Sessions
from pegboard.model.calls import CallResult, Health, Outcome, ServerConfig, ServerState, Transport

EVIL = Path(__file__).parent / "evil.py"
WAIT = 20.0
"""Far more than anything here takes."""


def evil(behaviour: str, name: str = "", **fields) -> ServerConfig:
    args = (str(EVIL), behaviour)
    fields = {"start_seconds": WAIT, "call_seconds": WAIT} | fields
    return ServerConfig(
        name or behaviour, Transport.STDIO, command=sys.executable, args=args, **fields
    )


class Pool:
    """Sessions, and everything they told."""

    def __init__(self, environ: dict[str, str], parallel: int) -> None:
        self.states: queue.Queue[ServerState] = queue.Queue()
        self.changes: queue.Queue[str] = queue.Queue()
        self.sessions = Sessions(
            environ=environ,
            parallel=parallel,
            on_state=self.states.put,
            on_changed=self.changes.put,
        )

    def tools(self, name: str) -> list[str]:
        return [tool.get("name") for tool in self.sessions.listing(name).result(WAIT).tools]

    def call(self, name: str, tool: str, **arguments) -> CallResult:
        return self.sessions.call(name, tool, arguments).result(WAIT)

    def said(self, name: str, tool: str, **arguments) -> str:
        result = self.call(name, tool, **arguments)
        assert result.outcome is Outcome.OK, result
        [content] = result.content
        return content["text"]

    def heard(self, name: str, health: Health) -> ServerState:
        """The next such state; those before it are passed over."""
        while True:
            state = self.states.get(timeout=WAIT)
            if (state.name, state.health) == (name, health):
                return state


def running(pid: int) -> bool:
    """One that is dead but not yet buried by its parent does not run."""
    shown = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True)
    return bool(shown.stdout.strip()) and not shown.stdout.startswith("Z")


def pids(pool: Pool, name: str) -> list[int]:
    return json.loads(pool.said(name, "pids"))
