"""What runs tools here, by the settings. Most of it loads long, and so with the first call."""

from collections.abc import Callable, Mapping
from functools import cache as once
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pegboard.config.places import Tier, keyring_folder, user_config_file
from pegboard.config.settings import DECISIONS, RunSettings, Settings
from pegboard.model.items import Entry, Item, ToolType

if TYPE_CHECKING:
    from pegboard.board.run.calling import Running
    from pegboard.board.sync.upstream import Upstream
    from pegboard.execute.job import Executor, Limits
    from pegboard.execute.mcp.sessions import Sessions
    from pegboard.execute.policy import Rules
    from pegboard.execute.process.processes import Processes
    from pegboard.model.calls import ServerState
    from pegboard.ports.store import Store

_BESIDE = ("-wal", "-shm", "-journal", "-files")
"""How names of files end that belong to a board, after the board's own."""


def open_sessions(
    settings: Settings,
    environ: Mapping[str, str],
    on_state: "Callable[[ServerState], None]",
    on_changed: Callable[[str], None],
) -> "Sessions":
    from pegboard.execute.mcp.sessions import Sessions  # the protocol's library takes 0.9 s to load

    return Sessions(
        environ=environ,
        on_state=on_state,
        on_changed=on_changed,
    )


def make_running(
    store: "Store",
    settings: Settings,
    upstream: "Upstream",
    place: tuple[Path | None, tuple[Tier, ...]],
    environ: Mapping[str, str],
) -> "Running":
    """`place` is the project's folder, if this is in one, and whose board it is."""
    from pegboard.board.run.calling import Running
    from pegboard.board.run.ways import Checking, Ways
    from pegboard.execute import keyring
    from pegboard.execute.arguments import complaints, filled
    from pegboard.execute.grants import Ground
    from pegboard.execute.loop import Loop

    def api_secrets(item: Item) -> list[str]:
        if item.tool_type is not ToolType.API:
            return []
        from pegboard.execute.api.executor import secret_names

        return secret_names(item.executor, item.source)

    project, tiers = place
    ways = Ways(
        executors=_executors(settings.run, settings.cache_folder, environ, upstream),
        rules=_rules(settings.run, tiers)._replace(in_project=project is not None),
        limits=_limits(settings.run),
        ground=Ground(project or Path.cwd(), Path.home(), _hidden(store, settings)),
        look_up=lambda name: environ.get(name) or keyring.look_up(name),
        api_secrets=api_secrets,
        is_signed=partial(_is_signed, keyring_folder(settings)),
        disowned=partial(_disowned, keyring_folder(settings)),
        parallel=settings.run.parallel,
        lent=settings.serve.lent,
    )
    return Running(store, ways, Checking(complaints, filled), Loop())


def _is_signed(keys: Path, entry: Entry) -> bool:
    """By the list of trusted keys as it is now, whatever the board says."""
    version = entry.item.version
    if entry.item.signature is None and not (version and version.release):
        return False
    from pegboard.board.describe.versions import is_as_written
    from pegboard.board.trust.keyring import Keyring
    from pegboard.board.trust.signing import verify_entry
    from pegboard.gate.signatures import State

    verdict = verify_entry(entry, Keyring(keys).trusted())
    return verdict.state is State.TRUSTED and is_as_written(entry.item)


def _disowned(keys: Path, entry: Entry) -> str:
    """By the list of trusted keys as it is now."""
    from pegboard.board.trust.keyring import Keyring
    from pegboard.board.trust.signing import verify_entry
    from pegboard.gate.signatures import NEVER

    verdict = verify_entry(entry, Keyring(keys).trusted())
    return verdict.reason if verdict.state in NEVER else ""


def _rules(settings: RunSettings, tiers: tuple[Tier, ...]) -> "Rules":
    """Of several tiers, the strictest rule holds."""
    from pegboard.execute.job import Sandboxing
    from pegboard.execute.policy import Decision, Rules

    said = {
        Tier.PROJECT: settings.unsigned_project,
        Tier.USER: settings.unsigned_user,
        Tier.REGISTRY: settings.unsigned_registry,
    }
    strictest = min(tiers, key=lambda tier: DECISIONS.index(said[tier]))
    return Rules(
        unsigned=Decision.of(said[strictest]),
        unsigned_setting=f"run.unsigned_{strictest}",
        created=Decision.of(settings.created),
        destructive=Decision.of(settings.destructive),
        permissions=Decision.of(settings.permissions),
        agents=Decision.of(settings.agents),
        sandboxing=Sandboxing(settings.sandbox),
    )


def _limits(settings: RunSettings) -> "Limits":
    from pegboard.execute.job import Limits

    return Limits(
        seconds=settings.timeout_seconds,
        memory_bytes=settings.memory_mb << 20,
        processes=settings.processes,
        cpus=settings.cpus,
        written_bytes=settings.output_mb << 20,
    )


def _hidden(store: "Store", settings: Settings) -> tuple[Path, ...]:
    """What no tool sees: keys, settings, the board itself, and what others are run from."""
    always = (keyring_folder(settings), user_config_file().parent, settings.cache_folder)
    board = Path(str(store.facts()["board"]))
    if not board.exists():
        return always
    if board.parent.name == ".pegboard":
        return (*always, board.parent)
    beside = (board.with_name(f"{board.name}{end}") for end in _BESIDE)
    return (*always, board, *beside)


def _executors(
    settings: RunSettings, cache: Path, environ: Mapping[str, str], upstream: "Upstream"
) -> "dict[ToolType, Callable[[], Executor]]":
    """Each is made when it is first needed. In `cache`, tools are unpacked and have their runs."""

    @once
    def processes() -> "Processes":
        from pegboard.execute.process.processes import Processes

        return Processes(scratch=cache / "runs", environ=environ)

    def python() -> "Executor":
        from pegboard.execute.python.environments import Environments
        from pegboard.execute.python.executor import PythonExecutor
        from pegboard.execute.python.interpreter import base_interpreter
        from pegboard.execute.unpacked import Unpacked

        interpreter = base_interpreter()
        environments = Environments(cache / "environments", environ, interpreter)
        unpacked = Unpacked(cache / "tools")
        return PythonExecutor(processes(), unpacked, environments, interpreter)

    def bash() -> "Executor":
        from pegboard.execute.bash import BashExecutor
        from pegboard.execute.unpacked import Unpacked

        return BashExecutor(processes(), Unpacked(cache / "tools").folder)

    def api() -> "Executor":
        from pegboard.execute.api.addresses import Reach
        from pegboard.execute.api.executor import ApiExecutor

        reach = Reach(loopback=settings.loopback == "on", private=settings.private_hosts)
        return ApiExecutor(reach, environment=settings.environment)

    def docker() -> "Executor":
        from pegboard.execute.container.executor import ContainerExecutor
        from pegboard.execute.unpacked import Unpacked

        return ContainerExecutor(
            engine=settings.engine,
            scratch=cache,
            environ=environ,
            unpack=Unpacked(cache / "tools").folder,
        )

    def mcp() -> "Executor":
        from pegboard.execute.mcp.executor import McpExecutor

        return McpExecutor(upstream.start)

    return {
        ToolType.PYTHON: python,
        ToolType.BASH: bash,
        ToolType.API: api,
        ToolType.DOCKER: docker,
        ToolType.MCP: mcp,
    }
