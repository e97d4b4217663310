"""Commands that make a board and fill it: init, add, remove, sync."""

from pathlib import Path

import click

from pegboard.app import Pegboard, located
from pegboard.cli import render
from pegboard.cli.shared import NO_SOURCE, command_options, notice, progress_bar, stop_on_signals
from pegboard.config import PROJECT_FILE, env_name, known_settings
from pegboard.errors import BoardReadOnly, SourceError


@click.command()
@command_options
def init(board: str | None, as_json: bool) -> None:
    """Make this folder a project: a settings file and an empty board.

    With --board only that board is made. What is there already is left as it is.
    """
    try:
        written = _make_project(board)
    except OSError as error:
        raise BoardReadOnly(f"{error.filename} cannot be written: {error.strerror}") from error
    with Pegboard.open(board, create=True) as pegboard:
        facts = pegboard.status().facts
    if as_json:
        render.print_json({"board": facts["board"], "settings": written and str(written)})
        return
    if written:
        click.echo(f"settings  {written}")
    click.echo(f"board     {facts['board']}")
    click.echo("next      pegboard add folder PATH, or pegboard add mcp NAME; then pegboard sync")


def _make_project(board: str | None) -> Path | None:
    """The settings file, if it was not there yet, and a board folder that git leaves alone."""
    written = None
    if board is None and located().project != Path.cwd():
        written = Path.cwd() / PROJECT_FILE
        written.write_text(_template(), encoding="utf-8")
    place = located(board=board).board
    home = Path(place).parent
    if isinstance(place, Path) and home.name == ".pegboard" and not (home / ".gitignore").exists():
        home.mkdir(parents=True, exist_ok=True)
        (home / ".gitignore").write_text("*\n", encoding="utf-8")
    return written


def _template() -> str:
    lines = [
        "# Pegboard settings of this project. Every line shows a default; change what you like."
    ]
    section = ""
    for key, kind, metadata, default in known_settings():
        if metadata.get("personal"):
            continue  # not for a project to say
        head, _, name = key.rpartition(".")
        if head != section:
            section = head
            lines += ["", f"[{head}]"]
        shown = f'"{default}"' if kind is str else default
        lines.append(f"# {name} = {shown}  # {metadata['about']} ({env_name(key)})")
    return "\n".join(lines) + "\n"


@click.group()
def add() -> None:
    """Add a source of tools to the board."""


@add.command("folder")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--name", help="What to call the source. Default: the folder's name.")
@click.option("--namespace", default="public", show_default=True, help="Where its items hang.")
@command_options
def add_folder(
    path: Path, name: str | None, namespace: str, board: str | None, as_json: bool
) -> None:
    """Add a folder of Python tools.

    Tools are mcptools/<category>/<tool>.py and gentools/<category>/<tool>/api.py inside it.
    """
    with Pegboard.open(board) as pegboard:
        record = pegboard.add_folder(path, name=name, namespace=namespace)
    if as_json:
        render.print_json(record)
    else:
        click.echo(f"added {record.name}: {record.location}")
        click.echo("next: pegboard sync")


@click.command()
@click.argument("name")
@command_options
def remove(name: str, board: str | None, as_json: bool) -> None:
    """Remove a source and everything on the board that came from it."""
    with Pegboard.open(board) as pegboard:
        declared = [s.config.declared_in for s in pegboard.servers() if s.config.name == name]
        pegboard.remove_source(name)
    if as_json:
        render.print_json({"removed": name})
    else:
        click.echo(f"removed {name}")
    if any(declared):
        notice(f"{declared[0]} declares it, and so it comes back; delete its lines there")


@click.command()
@click.argument("names", nargs=-1, metavar="[SOURCE]...")
@click.option("--full", is_flag=True, help="Read and write everything again, changed or not.")
@click.option("--no-embed", is_flag=True, help="Leave the vectors to a worker.")
@command_options
def sync(
    names: tuple[str, ...], full: bool, no_embed: bool, board: str | None, as_json: bool
) -> None:
    """Bring the board up to date with its sources, and embed what is new.

    Unchanged files cost no embedding. Stopping it half-way loses nothing: run it again.
    """
    with Pegboard.open(board) as pegboard, stop_on_signals() as stop:
        notice(*pegboard.trust.follow_files())
        if not pegboard.sources():
            notice(NO_SOURCE)
        with progress_bar(show=not as_json) as progress:
            outcome = pegboard.sync(
                names, full=full, embed=not no_embed, progress=progress, stop=stop
            )
        changed = pegboard.trust.changes()
    if as_json:
        render.print_json(outcome)
    else:
        for report in outcome.sources:
            render.sync_report(report)
        click.echo(f"embedded {outcome.work.embedded}, {outcome.waiting} waiting")
    notice(*outcome.notices)
    if changed:
        held = sum(not each.entry.active for each in changed)
        notice(f"{len(changed)} changed since approved, {held} held back; see: pegboard changes")
    if stop.is_set():
        raise KeyboardInterrupt
    if broken := [f"{report.source}: {report.error}" for report in outcome.sources if report.error]:
        raise SourceError("\n".join(broken))
