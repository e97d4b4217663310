"""Commands about MCP servers as sources, and trust in them: add mcp, changes, approve."""

from collections.abc import Sequence
from pathlib import Path

import click

from pegboard.app.pegboard import Pegboard
from pegboard.cli import render
from pegboard.cli.changed import approve_now, changed
from pegboard.cli.filling import Reading, finish_adding, no_sync_option, read_now
from pegboard.cli.opening import embed_now, open_board
from pegboard.cli.shared import NumberRange, command_options, notice
from pegboard.errors import UsageError
from pegboard.model.calls import ServerConfig, Transport
from pegboard.sources.mcp import config as mcp_config


@click.command("mcp")
@click.argument("name", required=False)
@click.argument("target", nargs=-1, metavar="[URL | -- COMMAND [ARG]...]")
@click.option(
    "--from",
    "file",
    type=click.Path(path_type=Path),
    help="All servers of a client's JSON file, or the one that NAME names.",
)
@click.option("--env", "env", multiple=True, metavar="NAME=VALUE", help="For the command.")
@click.option("--header", "headers", multiple=True, metavar="'NAME: VALUE'", help="For the URL.")
@click.option("--cwd", help="Where the command runs. Default: this folder.")
@click.option("--sse", is_flag=True, help="The URL speaks SSE, the older protocol.")
@click.option("--include", multiple=True, metavar="PATTERN", help="Only tools with such names.")
@click.option("--exclude", multiple=True, metavar="PATTERN", help="No tools with such names.")
@click.option("--timeout-seconds", type=NumberRange(min=0.1), help="How long a call may take.")
@click.option("--namespace", help="Where its tools hang. Default: as the file says, else public.")
@no_sync_option
@command_options
def add_mcp(
    name: str | None,
    target: tuple[str, ...],
    file: Path | None,
    env: tuple[str, ...],
    headers: tuple[str, ...],
    cwd: str | None,
    sse: bool,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    timeout_seconds: float | None,
    namespace: str | None,
    no_sync: bool,
    board: str | None,
    as_json: bool,
) -> None:
    """Add MCP servers, whose tools can then be found and called.

    \b
    pegboard add mcp time -- uvx mcp-server-time
    pegboard add mcp docs https://example.com/mcp --header 'Authorization: Bearer ${DOCS_TOKEN}'
    pegboard add mcp --from claude_desktop_config.json

    Secrets are written as ${NAME} (or ${NAME:-default}) and read from the environment when the
    server is started; they are never stored.
    """
    if file is not None:
        if target or env or headers or cwd or sse:
            raise UsageError(
                "--from takes servers as the file has them",
                "leave out the command or URL, --env, --header, --cwd and --sse",
            )
        configs = mcp_config.read_file(file, only=name)
        ourselves = [each.name for each in configs if mcp_config.is_pegboard(each)]
        configs = [each for each in configs if each.name not in ourselves]
        notice(*(f"left out {each}: it is Pegboard itself" for each in ourselves))
    elif name is None:
        raise UsageError("which server? Give NAME and a URL or a command, or --from FILE")
    else:
        configs = [_given(name, target, env, headers, cwd, sse)]
    configs = [
        each._replace(
            namespace=namespace or each.namespace,
            include_tools=include or each.include_tools,
            exclude_tools=exclude or each.exclude_tools,
            call_seconds=timeout_seconds or each.call_seconds,
        )
        for each in configs
    ]
    with open_board(board) as pegboard:
        before = {each.name for each in pegboard.sources() if each.kind == "mcp"}
        pegboard.add_servers(configs)
        if not as_json:
            _tell_added(configs, before)
        names = [] if no_sync else [each.name for each in configs if each.enabled]
        reading = read_now(pegboard, names, as_json=as_json) if names else None
    if as_json:
        render.print_json({"sources": [_added(each, reading) for each in configs]})
    finish_adding(reading, as_json=as_json)


def _added(config: ServerConfig, reading: Reading | None) -> dict[str, object]:
    return {
        "name": config.name,
        "location": mcp_config.location(config),
        "sync": reading.report(config.name) if reading else None,
    }


def _tell_added(configs: Sequence[ServerConfig], before: set[str]) -> None:
    for each in configs:
        done = "changed" if each.name in before else "added"
        click.echo(f"{done} {each.name}: {mcp_config.location(each)}")
        for kept in mcp_config.kept_in_files(each):
            click.echo(f"  {kept}; keep that entry")


def _given(
    name: str,
    target: Sequence[str],
    env: Sequence[str],
    headers: Sequence[str],
    cwd: str | None,
    sse: bool,
) -> ServerConfig:
    if len(target) == 1 and target[0].startswith(("http://", "https://")):
        if env or cwd:
            raise UsageError("--env and --cwd are for commands; a URL takes --header")
        transport = Transport.SSE if sse else None
        return mcp_config.from_url(name, target[0], _pairs(headers, ":"), transport=transport)
    if len(target) == 1 and "://" in target[0]:
        raise UsageError(
            f"{target[0]!r} is no URL of an MCP server", "it takes http:// or https://"
        )
    if not target:
        raise UsageError(
            f"where is {name!r}?", f"give a URL, or a command: pegboard add mcp {name} -- COMMAND"
        )
    if headers or sse:
        raise UsageError(f"--header and --sse are for URLs, and {target[0]!r} is a command")
    where = cwd or str(Path.cwd())
    return mcp_config.from_command(name, target, env=_pairs(env, "="), cwd=where)


def _pairs(texts: Sequence[str], between: str) -> dict[str, str]:
    pairs = [text.partition(between) for text in texts]
    for name, found, _ in pairs:
        if not found or not name.strip():
            raise UsageError(f"{name!r} is not of the form NAME{between}VALUE")
    return {name.strip(): value.strip() for name, _, value in pairs}


@click.command()
@click.argument("name", required=False)
@click.option("--all", "everything", is_flag=True, help="All that are declared here.")
@command_options
def allow(name: str | None, everything: bool, board: str | None, as_json: bool) -> None:
    """Allow servers that this project's pegboard.toml declares, as they are written there.

    Without NAME and --all, show what they would run. A server that is changed there later must be
    allowed again.
    """
    with Pegboard.open(board) as pegboard:
        waiting = [
            each for each in pegboard.trust.declared() if not pegboard.trust.is_allowed(each)
        ]
        chosen = [each for each in waiting if everything or each.name == name]
        if name is not None and not chosen:
            raise UsageError(f"no server {name!r} waits to be allowed", "see which: pegboard allow")
        pegboard.trust.allow(chosen)
    told = [
        {"name": each.name, "location": mcp_config.location(each), "allowed": each in chosen}
        for each in waiting
    ]
    if as_json:
        render.print_json({"servers": told})
        return
    for each in told:
        click.echo(
            f"{'allowed' if each['allowed'] else 'waits  '} {each['name']}: {each['location']}"
        )
    if not told:
        click.echo("no server waits to be allowed")
    elif not chosen:
        click.echo("allow with: pegboard allow NAME, or pegboard allow --all")
    else:
        click.echo("next: pegboard sync")


@click.command()
@click.argument("item", metavar="[ID]", required=False)
@command_options
def changes(item: str | None, board: str | None, as_json: bool) -> None:
    """Show tools of MCP servers that are no longer what was approved, and how they differ."""
    with open_board(board) as pegboard:
        found = changed(pegboard, item)
    if as_json:
        render.print_json({"changes": found})
        return
    for each in found:
        held = "held back" if each.held else "still offered"
        click.secho(f"{each.exactly}  changed since it was approved, {held}", bold=True)
        for line in each.diff:
            click.secho(f"  {line}", fg={"+": "green", "-": "red"}.get(line[:1]))
    if found:
        click.echo(f"approve exactly this with: pegboard approve {found[0].exactly}")
    else:
        click.echo("nothing has changed since it was approved")


@click.command()
@click.argument("item", metavar="[ID]", required=False)
@click.option("--all", "everything", is_flag=True, help="Everything that changed.")
@command_options
def approve(item: str | None, everything: bool, board: str | None, as_json: bool) -> None:
    """Approve a changed tool; if it was held back, it can be found again.

    ID@HASH, as `pegboard changes` shows it, approves exactly what was shown there; ID alone, and
    --all, what is on the board at this moment.
    """
    if (item is None) == (not everything):
        raise UsageError("say which: give an ID, or --all", "see them with: pegboard changes")
    with open_board(board) as pegboard:
        approved = approve_now(pegboard, changed(pegboard, item))
        if approved:
            embed_now(pegboard, as_json=as_json)
    if as_json:
        render.print_json({"approved": approved})
    else:
        click.echo(f"approved {approved}")
