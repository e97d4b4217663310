"""Commands that make a board and fill it: init, add, remove, sync."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import click

from pegboard.app.pegboard import Pegboard, located
from pegboard.board.maintain.filling import Outcome
from pegboard.board.sync.adding import user_folder
from pegboard.board.sync.one_source import SyncReport
from pegboard.board.sync.source_kinds import AI, left_beside
from pegboard.cli import render
from pegboard.cli.changed import changed
from pegboard.cli.opening import Board, open_board, tell_if_no_source
from pegboard.cli.shared import (
    command_options,
    no_embed_option,
    notice,
    progress_bar,
    stop_on_signals,
)
from pegboard.config.loading import env_name, known_settings
from pegboard.config.places import PROJECT_FILE
from pegboard.errors import BoardReadOnly, SourceError, UsageError
from pegboard.model.items import SourceRecord


@click.command()
@command_options
def init(board: str | None, as_json: bool) -> None:
    """Make this folder a project: a settings file and an empty board.

    With --board only that board is made. What is there already is left as it is.
    """
    try:
        written = make_project(board)
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
    if board is None and (Path.cwd() / AI).is_dir():
        click.echo(f"next      pegboard add folder {AI}, which this project has already")
    else:
        click.echo("next      pegboard add folder PATH, add openapi FILE_OR_URL, or add mcp NAME")


def make_project(board: str | None, *, settings: bool = True) -> Path | None:
    """The settings file, if it was not there yet, and a board folder that git leaves alone."""
    written = None
    if settings and board is None and located().project != Path.cwd():
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
        "# Pegboard settings of this project. Lines show defaults: to change one, take its # away."
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
    """Add a source to the board, and read what it has."""


no_sync_option = click.option(
    "--no-sync", is_flag=True, help="Only add it; a later sync reads what is there."
)


class Reading(NamedTuple):
    """What a sync has brought, and what is to be said about it in the end."""

    outcome: Outcome
    notices: tuple[str, ...]
    stopped: bool

    def report(self, source: str) -> SyncReport | None:
        return next((each for each in self.outcome.sources if each.source == source), None)


def read_now(
    pegboard: Board,
    names: Sequence[str],
    *,
    as_json: bool,
    full: bool = False,
    embed: bool = True,
) -> Reading:
    """Sync these sources or all, and show how it went; `finish` has the last word."""
    with stop_on_signals() as stop, progress_bar(show=not as_json) as progress:
        outcome = pegboard.sync(names, full=full, embed=embed, progress=progress, stop=stop)
        stopped = stop.is_set()
    notices = list(outcome.notices)
    if differ := changed(pegboard):
        held = sum(each.held for each in differ)
        text = f"{len(differ)} changed since approved, {held} held back; see: pegboard changes"
        notices.append(text)
    if not as_json:
        for report in outcome.sources:
            render.sync_report(report)
        click.echo(f"embedded {outcome.work.embedded}, {outcome.waiting} waiting")
    return Reading(outcome, tuple(notices), stopped)


def finish(reading: Reading, hint: str = "") -> None:
    """Notes, and an error if it was stopped or a source could not be read."""
    notice(*reading.notices)
    if reading.stopped:
        raise KeyboardInterrupt
    sources = reading.outcome.sources
    if broken := [f"{report.source}: {report.error}" for report in sources if report.error]:
        raise SourceError("\n".join(broken), hint)


def finish_adding(reading: Reading | None, *, as_json: bool) -> None:
    """The end of every command that adds sources, with the next step."""
    if reading is not None:
        finish(reading, "it is added all the same; when that is mended: pegboard sync")
    if not as_json:
        click.echo('next: pegboard search "..."' if reading else "next: pegboard sync")


def tell_added(
    pegboard: Board, record: SourceRecord, *, sync: bool, as_json: bool, note: str = ""
) -> None:
    """What was added and, unless that is left to a later sync, what it has brought."""
    if not as_json:
        click.echo(f"added {record.name}: {record.location}")
    reading = read_now(pegboard, [record.name], as_json=as_json) if sync else None
    if as_json:
        report = reading.report(record.name) if reading else None
        render.print_json(record._asdict() | {"sync": report})
    notice(*filter(None, [note]))
    finish_adding(reading, as_json=as_json)


@add.command("folder")
@click.argument("path", type=click.Path(path_type=Path), required=False)
@click.option("--user", is_flag=True, help="Your own folder, ~/.ai, instead of PATH.")
@click.option("--name", help="What to call the source. Default: the folder's name.")
@click.option("--namespace", default="public", show_default=True, help="Where its items hang.")
@no_sync_option
@command_options
def add_folder(
    path: Path | None,
    user: bool,
    name: str | None,
    namespace: str,
    no_sync: bool,
    board: str | None,
    as_json: bool,
) -> None:
    """Add a folder of tools, directives, knowledge and skills, and read it.

    It is a project with a .ai folder, or such a folder itself: one that holds tools, scripts,
    directives, knowledge or skills. Or it holds Python tools: mcptools/<category>/<tool>.py and
    gentools/<category>/<tool>/api.py.

    What a project has goes before what your own folder has under the same id.
    """
    folder = user_folder() if user else path
    if folder is None or (user and path is not None):
        raise UsageError(
            "which folder? Give either PATH or --user", "as in: pegboard add folder .ai"
        )
    with Pegboard.open(board) as pegboard:
        record = pegboard.add_folder(folder, name=name, namespace=namespace)
        tell_added(pegboard, record, sync=not no_sync, as_json=as_json, note=left_beside(record))


@click.command()
@click.argument("name")
@command_options
def remove(name: str, board: str | None, as_json: bool) -> None:
    """Remove a source and everything on the board that came from it."""
    with open_board(board) as pegboard:
        here = pegboard.servers() if isinstance(pegboard, Pegboard) else []
        declared = [s.config.declared_in for s in here if s.config.name == name]
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
@no_embed_option
@command_options
def sync(
    names: tuple[str, ...], full: bool, no_embed: bool, board: str | None, as_json: bool
) -> None:
    """Bring the board up to date with its sources, and embed what is new.

    Unchanged files cost no embedding. Stopping it half-way loses nothing: run it again.
    """
    with open_board(board) as pegboard:
        if isinstance(pegboard, Pegboard):
            notice(*pegboard.trust.follow_files())
        tell_if_no_source(pegboard)
        reading = read_now(pegboard, names, as_json=as_json, full=full, embed=not no_embed)
    if as_json:
        render.print_json(reading.outcome)
    finish(reading)
