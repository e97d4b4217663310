"""Commands for the database of a board: db upgrade, backup, status, import-kiwi."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pegboard.cli import render
from pegboard.cli.shared import command_options, notice, progress_bar, stop_on_signals
from pegboard.gate.characters import visible
from pegboard.model.items import DEFAULT_NAMESPACE

if TYPE_CHECKING:
    from pegboard.board.migrate.migrating import MigrationReport
    from pegboard.store.postgres.inspecting import DatabaseStatus

SHOWN = 20
LARGEST = 12


@click.group()
def db() -> None:
    """Back a board up, upgrade it, look at it, or fill it from an old registry."""


@db.command()
@command_options
def upgrade(board: str | None, as_json: bool) -> None:
    """Bring the database to today's schema. Several machines may do it at once."""
    from pegboard.app import database

    done = database.upgrade(board)
    if as_json:
        render.print_json(done)
    elif done.itself:
        click.echo(f"{done.board} is a file: such boards upgrade themselves when they are opened")
    else:
        for name in done.applied:
            click.echo(f"applied {name}")
        click.echo(f"{done.board} has schema {done.schema}, the newest")


@db.command()
@click.argument("target", metavar="FILE", type=click.Path(path_type=Path))
@command_options
def backup(target: Path, board: str | None, as_json: bool) -> None:
    """Copy a board in a file to another file, while others go on using it.

    The copy is a board: search it with --board FILE. Large files go into FILE-files beside it. The
    same command brings it back to where the board was. For PostgreSQL there is pg_dump.
    """
    from pegboard.app import database

    done = database.backup(board, target)
    if as_json:
        render.print_json(done)
    else:
        files = f", {done.files} large files" if done.files else ""
        click.echo(f"copied {done.board} to {done.copy}")
        click.echo(f"schema {done.schema}, {_size(done.bytes)}{files}")
    if done.elsewhere:
        notice(f"{done.elsewhere} large files stay at blobs.place: back them up now, after this")
    for key in done.lost:
        notice(f"the large file {key} was missing or damaged before; see pegboard doctor")


@db.command()
@command_options
def status(board: str | None, as_json: bool) -> None:
    """Show the database's schema, server, sizes, indexes, connections and oldest task."""
    from pegboard.app import database

    found = database.status(board)
    if as_json:
        render.print_json(found)
    else:
        _tell_status(found)


@db.command("import-kiwi")
@click.option("--from", "old", required=True, metavar="ADDRESS", help="The old database.")
@click.option("--schema", default="public", help="The schema of the old tables. Default: public.")
@click.option("--namespace", default=DEFAULT_NAMESPACE, help="Where to put the items.")
@click.option("--dry-run", is_flag=True, help="Only say what would happen.")
@click.option("--embedding-model", default="", help="The model that made the old embeddings.")
@click.option("--trust-embeddings", is_flag=True, help="Take them over whatever their text was.")
@command_options
def import_kiwi(
    old: str,
    schema: str,
    namespace: str,
    dry_run: bool,
    embedding_model: str,
    trust_embeddings: bool,
    board: str | None,
    as_json: bool,
) -> None:
    """Move scripts, directives and knowledge of a Kiwi database to the board.

    The old database is only read. Run it again to go on where it was stopped, or to bring over
    what has changed since.
    """
    from pegboard.app import database

    with stop_on_signals() as stop, progress_bar(show=not as_json) as progress:
        done = database.import_kiwi(
            board,
            old,
            schema=schema,
            namespace=namespace,
            embedding_model=embedding_model,
            trust_embeddings=trust_embeddings,
            dry_run=dry_run,
            progress=progress,
            stop=stop,
        )
    if as_json:
        render.print_json(done.report)
    else:
        _tell_import(done.report)
    notice(*done.notices)
    if stop.is_set():
        raise KeyboardInterrupt


def _tell_status(found: "DatabaseStatus") -> None:
    missing = f", {len(found.pending)} to be applied" if found.pending else ""
    lines = {
        "board": found.board,
        "server": f"PostgreSQL {found.server}, {found.role}"
        + (", read-only" if found.read_only else ""),
        "schema": f"{found.schema} of {found.known}{missing}, in {found.db_schema}",
        "size": _size(found.bytes),
        "extensions": ", ".join(f"{name} {number}" for name, number in found.extensions.items()),
        "connections": f"{found.connections} of {found.max_connections}, "
        f"{found.of_pegboard} of them Pegboard's",
    }
    for name, value in lines.items():
        click.echo(f"{name:<12} {value}")
    for pending in found.pending:
        click.secho(f"{'pending':<12} {pending}; apply it with: pegboard db upgrade", fg="yellow")
    for standby in found.standbys:
        behind = "" if standby.behind_bytes is None else f", {_size(standby.behind_bytes)} behind"
        click.echo(f"{'standby':<12} {standby.name}: {standby.state}, {standby.sync}{behind}")
    for waiting in found.tasks:
        click.echo(
            f"{'tasks':<12} {waiting.tasks} {waiting.status}, the oldest for "
            f"{waiting.oldest_seconds:,.0f} s"
        )
    for each in found.vectors:
        click.echo(
            f"{'vectors':<12} {each.table}: {each.vectors:,} of {each.model}, index {each.indexed}"
        )
    indexes: Counter[str] = Counter()
    for index in found.indexes:
        indexes[index.table] += index.bytes
    for table in sorted(found.tables, key=lambda each: -each.bytes)[:LARGEST]:
        rows = f"{'' if table.exact else 'about '}{table.rows:,} rows"
        click.echo(
            f"{'table':<12} {table.name}: {rows}, {_size(table.bytes)}, "
            f"{_size(indexes[table.name])} of it indexes"
        )


def _size(count: int) -> str:
    return f"{count / 1_000_000:,.1f} MB" if count >= 100_000 else f"{count / 1_000:,.1f} kB"


def _tell_import(report: "MigrationReport") -> None:
    for table, counted in report.tables.items():
        parts = [
            f"{counted.added} {'to add' if report.dry_run else 'added'}",
            f"{counted.changed} changed",
            f"{counted.unchanged} unchanged",
            f"{counted.refused} refused",
        ]
        versions = f"; {counted.versions} versions" if counted.versions else ""
        click.echo(f"{table}: {', '.join(parts)}{versions}")
    embeddings = dict(report.embeddings)
    taken, queued = embeddings.pop("taken", 0), embeddings.pop("queued", 0)
    click.echo(f"vectors: {taken} taken over, {queued} left to a worker")
    if embeddings:
        click.echo(f"  not taken over: {_counted(embeddings)}")
    _tell_list("refused", [(each.origin, each.reason) for each in report.refused])
    others = [each for each in report.remarks if not each.origin.startswith("item_embeddings/")]
    _tell_list("moved, but not as it was", [(each.origin, each.reason) for each in others])
    if report.dry_run:
        click.echo("nothing was written; leave --dry-run out to do it")
    elif queued:
        click.echo("embed what waits with: pegboard worker, or pegboard backfill")


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {n}" for name, n in sorted(counts.items()))


def _tell_list(title: str, lines: Sequence[tuple[str, str]]) -> None:
    if not lines:
        return
    click.secho(f"{title}: {len(lines)}", fg="yellow")
    for origin, reason in lines[:SHOWN]:
        click.echo(f"  {visible(origin)}: {visible(reason)}")
    if len(lines) > SHOWN:
        click.echo(f"  and {len(lines) - SHOWN} more; --json lists them all")
