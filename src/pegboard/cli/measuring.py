"""The command that measures search: eval."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from pegboard.app.pegboard import located
from pegboard.cli import render
from pegboard.cli.opening import asked_gateway, open_board
from pegboard.cli.shared import json_option, notice, progress_bar
from pegboard.errors import UsageError
from pegboard.model.items import Mode
from pegboard.ports.stages import Progress

MODES = click.Choice([mode.value for mode in Mode])
MEASURE = "ndcg@10"


@click.command("eval")
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--mode", type=MODES, help="How to look. Default: hybrid.")
@click.option("--limit", type=click.IntRange(1, 1000), help="How many hits. Default: 10.")
@click.option("--sweep", is_flag=True, help="Look for better settings of hybrid search.")
@click.option("--as-is", is_flag=True, help="Ask what hangs on the board, not tools.jsonl.")
@click.option("--board", metavar="PLACE", help="Keep the board here, or ask this.")
@click.option(
    "--store",
    type=click.Choice(["sqlite", "postgres"]),
    help="Build a board for the purpose on this; postgres takes the server of --board.",
)
@json_option
def eval_(
    folder: Path,
    mode: str | None,
    limit: int | None,
    sweep: bool,
    as_is: bool,
    board: str | None,
    store: str | None,
    as_json: bool,
) -> None:
    """Measure search on your own queries.

    FOLDER has tools.jsonl (or tools.jsonl.gz), one {"id", "name", "category", "description",
    "parameters": [{"name", "description", "type", "required"}]} a line, and queries.jsonl, one
    {"id", "query", "gold": [tool ids]} a line, optionally with "alt": {gold id: [equivalents]}.
    With --as-is only queries.jsonl is needed; its ids are those of the board, with or without
    their first part.
    """
    if sweep and (mode or limit):
        raise UsageError(
            "--sweep is about the first ten hits of hybrid search", "leave --mode and --limit out"
        )
    if not as_is and asked_gateway():
        raise UsageError(
            "a gateway is asked about what hangs on its board",
            "add --as-is, or leave --gateway out",
        )
    if sweep and as_is:
        raise UsageError("--sweep fills a board of its own", "leave --as-is or --sweep out")
    with progress_bar(show=not as_json) as progress, _place(board, store, as_is) as place:
        found, notices = _measured(folder, mode, limit, sweep, as_is, place, progress)
    notice(*notices)
    if as_json:
        render.print_json(found)
    elif sweep:
        _tell_sweep(found)
    else:
        _tell_measures(found)


@contextmanager
def _place(board: str | None, store: str | None, as_is: bool) -> Iterator[str | None]:
    """Where the board is or will be; None for one that is built for the purpose and then gone."""
    if store is None or as_is:
        yield board
        return
    server = located(board=board).board
    if store == "sqlite":
        if isinstance(server, str) and board:
            raise UsageError(f"{board} is no file", "leave --store or --board out")
        yield board
        return
    if not isinstance(server, str):
        raise UsageError(
            "--store postgres needs a server to make a database on",
            "say which: --board postgresql://user@host/database, or PEGBOARD_BOARD",
        )
    from pegboard.app import measure

    with measure.scratch_beside(server) as address:
        yield address


def _measured(
    folder: Path,
    mode: str | None,
    limit: int | None,
    sweep: bool,
    as_is: bool,
    board: str | None,
    progress: Progress,
) -> tuple[Mapping[str, Any], Sequence[str]]:
    from pegboard.app import measure

    how, most = mode or Mode.HYBRID.value, limit or 10
    if as_is:
        with open_board(board) as pegboard:
            return measure.evaluate_as_is(pegboard, folder, mode=how, limit=most, progress=progress)
    with measure.evaluation_board(board, located().settings) as pegboard:
        if sweep:
            return measure.sweep(pegboard, folder, progress=progress)
        return measure.evaluate(pegboard, folder, mode=how, limit=most, progress=progress)


def _tell_measures(found: Mapping[str, object]) -> None:
    for name, value in found.items():
        shown = " to ".join(map(str, value)) if isinstance(value, tuple) else value
        click.echo(f"{name:<16} {shown}")


def _tell_sweep(found: Mapping[str, Any]) -> None:
    held_out = found["held_out"]
    low, high = held_out["interval"]
    click.echo(f"{'queries':<9} {found['queries']} over {found['tools']} tools")
    for name in ("present", "best", "chosen"):
        click.echo(f"{name:<9} {MEASURE} {found[name][MEASURE]:.4f} with {_settings(found[name])}")
    click.echo(
        f"{'seen':<9} {found['difference']:+.4f} by the best of {len(found['grid'])}, "
        "on the queries it was chosen by"
    )
    click.echo(
        f"{'held out':<9} {held_out['gain']:+.4f}, 95 % interval {low:+.4f} to {high:+.4f}, "
        f"{held_out['rounds']} rounds of {held_out['folds']} folds"
    )
    click.secho(f"\n{found['recommendation']}", bold=True)
    if found["recommended"]:
        _tell_change(found)


def _settings(row: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in row.items() if name != MEASURE)


def _tell_change(found: Mapping[str, Any]) -> None:
    click.echo(f"\nin pegboard.toml:\n\n{found['toml']}")
    present, chosen = found["seen"]["present"], found["seen"]["chosen"]
    click.echo(
        f"with search.threshold {found['threshold']}, {present['answered']:.1%} of the queries are "
        f"answered now ({present['answered_right']:.1%} with the right tool first), and "
        f"{chosen['answered']:.1%} then ({chosen['answered_right']:.1%})"
    )
