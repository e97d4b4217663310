"""The words of running: the servers that tools live on, trust in them, and what a call brings.

Values of a server's configuration may hold references: `${NAME}` and `${NAME:-default}` stand for a
variable of the environment, `${file:PATH#POINTER}` for a text inside a JSON file. They are stored
as they are written and looked up only when the server is started, so that no secret is stored.
"""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from pegboard.model.content import Json
from pegboard.model.items import DEFAULT_NAMESPACE, Entry

TEAM = "@"
"""With this before it, the name of a namespace is an owner: all of its authors."""

NOTHING: Mapping[str, str] = MappingProxyType({})


class Role(StrEnum):
    """What a caller may do, the least first; each may do what those before it may."""

    READER = "reader"
    """Find, read, and call what needs no approval."""
    AUTHOR = "author"
    """Make tools, decide about one's own, and approve calls."""
    ADMIN = "admin"
    """Decide about all items and sources of one's namespaces."""

    def covers(self, needed: "Role") -> bool:
        order = list(Role)
        return order.index(self) >= order.index(needed)


class Caller(NamedTuple):
    """On whose behalf a board is read and written; without a subject, nobody in particular."""

    subject: str = ""
    """What the items of this caller have as their author."""
    namespaces: tuple[str, ...] = ()
    """Those that the caller is a member of. What is public in `public` everybody sees."""
    role: Role = Role.READER

    @property
    def everywhere(self) -> bool:
        """An admin of no namespace in particular has the rights of the board's owner."""
        return self.role is Role.ADMIN and not self.namespaces

    def may_decide(self, namespace: str, author: str) -> bool:
        """Whether an item of this namespace and author is this caller's to change."""
        if self.everywhere:
            return True
        owners = (self.subject, f"{TEAM}{namespace}")
        own = self.role is Role.AUTHOR and bool(self.subject) and author in owners
        return namespace in self.namespaces and (own or self.role is Role.ADMIN)


OWNER = Caller(role=Role.ADMIN)


class Asker(NamedTuple):
    """By which way a call comes, as far as it counts for what may be run."""

    name: str = "python"
    agent: bool = False
    """Whether a model decided on the call, and no person."""


class Transport(StrEnum):
    STDIO = "stdio"
    HTTP = "http"
    SSE = "sse"


class ServerConfig(NamedTuple):
    """How to reach an MCP server, as it was written down."""

    name: str
    transport: Transport
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = NOTHING
    cwd: str = ""
    url: str = ""
    headers: Mapping[str, str] = NOTHING
    include_tools: tuple[str, ...] = ()
    """Patterns with `*`; empty takes all."""
    exclude_tools: tuple[str, ...] = ()
    start_seconds: float = 30.0
    call_seconds: float = 60.0
    namespace: str = DEFAULT_NAMESPACE
    enabled: bool = True
    declared_in: str = ""
    """The settings file that names it, which then also decides when it goes."""


class OnChange(StrEnum):
    """What becomes of a tool whose definition is no longer the approved one."""

    HOLD = "hold"
    WARN = "warn"
    ALLOW = "allow"


class Health(StrEnum):
    """How a server stood when it was last asked."""

    UNKNOWN = "unknown"
    LIVE = "live"
    DOWN = "down"


class ServerState(NamedTuple):
    name: str
    health: Health = Health.UNKNOWN
    error: str = ""
    tools: int = 0
    checked_at: float | None = None


class Server(NamedTuple):
    """A server as the board knows it."""

    config: ServerConfig
    state: ServerState


class Listing(NamedTuple):
    """All pages of a server's `tools/list`, each tool as the server wrote it."""

    tools: tuple[Json, ...]
    server: str = ""
    """Name and version that the server gives itself."""


class Change(NamedTuple):
    """An item that is no longer what was approved."""

    entry: Entry
    approved: Json


class CensusLine(NamedTuple):
    source: str
    """The first part of the ids, such as `mcptools`."""
    category: str
    items: int


class Outcome(StrEnum):
    """How a call ended."""

    OK = "ok"
    INVALID_ARGUMENTS = "invalid_arguments"
    DENIED = "denied"
    TIMEOUT = "timeout"
    KILLED = "killed"
    FAILED = "failed"
    UNAVAILABLE = "unavailable"


class Artifact(NamedTuple):
    """A file that a run left in its output folder."""

    name: str
    """Its path there."""
    media_type: str
    content: bytes


class Confined(StrEnum):
    """What held a process while it ran."""

    BUBBLEWRAP = "bubblewrap"
    CONTAINER = "container"
    NOTHING = "nothing"


class CallResult(NamedTuple):
    """What a call brought back: content as MCP content blocks, whatever ran it."""

    outcome: Outcome
    content: tuple[Json, ...] = ()
    structured: Json | None = None
    error: str = ""
    """Why it did not end well, when not the tool itself says so in its content."""
    seconds: float = 0.0
    meta: Json | None = None
    """What the server says beside the result."""
    logs: str = ""
    """What it printed on the way, cut in the middle if that was much."""
    artifacts: tuple[Artifact, ...] = ()
    sandbox: Confined | None = None
    """None for what is no process of ours."""
    version: str = ""

    @property
    def texts(self) -> list[str]:
        return [str(each.get("text")) for each in self.content if each.get("type") == "text"]

    def told(self, item_id: str, artifacts: Sequence[Json]) -> dict[str, object]:
        """The result of a call of this item in words that JSON has, as every face tells it."""
        return {
            "id": item_id,
            "version": self.version,
            "outcome": self.outcome,
            "structured": self.structured,
            "text": "\n".join(self.texts),
            "content": self.content,
            "artifacts": artifacts,
            "logs": self.logs,
            "error": self.error,
            "seconds": round(self.seconds, 3),
            "sandbox": self.sandbox,
        }


class CallProgress(NamedTuple):
    done: float
    total: float | None = None
    message: str | None = None


OnProgress = Callable[[CallProgress], None]
"""May be called from any thread."""
