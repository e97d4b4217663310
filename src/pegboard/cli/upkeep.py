"""Commands that keep a board well: status, worker, backfill, retry, refresh, doctor."""

import logging

import click

from pegboard.app.pegboard import Pegboard
from pegboard.board.maintain.worker import together
from pegboard.cli import render
from pegboard.cli.examining import examine
from pegboard.cli.opening import Board, open_board
from pegboard.cli.shared import (
    command_options,
    no_embed_option,
    notice,
    progress_bar,
    stop_on_signals,
)
from pegboard.errors import BoardPartlyHidden, InvariantBroken, UsageError
from pegboard.model.content import Blob

SHOWN = 20


@click.command()
@command_options
def status(board: str | None, as_json: bool) -> None:
    """Show what is on the board, how far its vectors are, and where it came from."""
    with open_board(board) as pegboard:
        found = pegboard.status()
    if as_json:
        render.print_json(found)
    else:
        render.status(found)


@click.command()
@click.option("--once", is_flag=True, help="End when nothing is due.")
@click.option(
    "--concurrency",
    type=click.IntRange(1, 64),
    default=1,
    help="Batches at a time; for services that keep a worker waiting.",
)
@command_options
def worker(once: bool, concurrency: int, board: str | None, as_json: bool) -> None:
    """Embed what is queued, until stopped.

    SIGTERM or Ctrl-C ends it after the batch in hand; a second one gives the batch back.
    """
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    with Pegboard.open(board) as pegboard, stop_on_signals() as stop:
        hands = [pegboard.worker() for _ in range(concurrency)]
        with progress_bar(show=once and not as_json) as progress:
            report = together(
                hands, lambda hand: hand.drain(stop, progress) if once else hand.run(stop), stop
            )
    if as_json:
        render.print_json(report)
    else:
        click.echo(
            f"embedded {report.embedded}, superseded {report.superseded}, failed {report.failed}"
        )


@click.command()
@no_embed_option
@command_options
def backfill(no_embed: bool, board: str | None, as_json: bool) -> None:
    """Give every item a vector of the present model. Can be stopped and run again."""
    with open_board(board) as pegboard, stop_on_signals() as stop:
        with progress_bar(show=not as_json) as progress:
            outcome = pegboard.backfill(progress=progress, stop=stop, embed=not no_embed)
        counts = pegboard.status().embeddings
    if as_json:
        render.print_json(counts._asdict() | {"embedded": outcome.work.embedded})
    else:
        click.echo(", ".join(f"{n} {name}" for name, n in counts._asdict().items()))
    notice(*outcome.notices)
    if stop.is_set():
        raise KeyboardInterrupt


def _one_or_all(item: str | None, everything: bool) -> None:
    if (item is None) == (not everything):
        raise UsageError("say which: give an ID, or --all")


@click.command()
@click.argument("item", metavar="[ID]", required=False)
@click.option("--all", "everything", is_flag=True, help="Everything that failed.")
@command_options
def retry(item: str | None, everything: bool, board: str | None, as_json: bool) -> None:
    """Queue failed embeddings again."""
    _one_or_all(item, everything)
    with open_board(board) as pegboard:
        queued = pegboard.retry(item)
    _queued(pegboard, queued, as_json)


@click.command()
@click.argument("item", metavar="[ID]", required=False)
@click.option("--all", "everything", is_flag=True, help="The whole board.")
@command_options
def refresh(item: str | None, everything: bool, board: str | None, as_json: bool) -> None:
    """Queue new embeddings, needed or not; the old ones serve until the new are there."""
    _one_or_all(item, everything)
    with open_board(board) as pegboard, progress_bar(show=not as_json) as progress:
        queued = pegboard.refresh(item, progress=progress)
    _queued(pegboard, queued, as_json)


def _queued(pegboard: Board, queued: int, as_json: bool) -> None:
    if as_json:
        render.print_json({"queued": queued})
    elif isinstance(pegboard, Pegboard):
        click.echo(f"queued {queued}; embed with: pegboard backfill, or pegboard worker")
    else:
        click.echo(f"queued {queued}; the gateway embeds it")


@click.command()
@click.option("--fix", is_flag=True, help="Queue what lacks its vector; remove unused files.")
@command_options
def doctor(fix: bool, board: str | None, as_json: bool) -> None:
    """Check the board against its own rules, and the model against its hash.

    Of a gateway: whether it answers, is ready, and what your token allows.
    Exit code 9 if something is wrong.
    """
    with open_board(board) as pegboard:
        if not isinstance(pegboard, Pegboard):
            examine(pegboard, fix=fix, as_json=as_json)
            return
        fixed = pegboard.backfill(embed=False).waiting if fix else 0
        broken = pegboard.check()
        unused = _unused_files(pegboard, remove=fix)
        facts = pegboard.status().facts
        complaints = pegboard.models.complaints()
        broken += [f"the model cannot be used: {error.message}" for error in complaints]
        well = "ok" if pegboard.embedder else "disabled"
        model = "; ".join(map(str, complaints)) or well
    if as_json:
        counted = render.counted_files(unused)
        render.print_json(
            {"broken": broken, "model": model, "queued": fixed, "unused": counted, "board": facts}
        )
    else:
        render.unused_files(unused, removed=fix)
        for rule in broken[:SHOWN]:
            click.secho(f"- {rule}", fg="red")
        if len(broken) > SHOWN:
            click.secho(f"- and {len(broken) - SHOWN} more; --json lists them all", fg="red")
    if broken:
        raise InvariantBroken(
            f"{len(broken)} things are wrong with {facts['board']}",
            "queue what is missing with: pegboard doctor --fix; "
            "write everything again with: pegboard sync --full",
        )
    if not as_json:
        click.echo(
            f"{facts['board']} is well ({facts['engine']}, {facts['vectors']}; model {model})"
        )


def _unused_files(pegboard: Pegboard, *, remove: bool) -> list[Blob] | BoardPartlyHidden:
    """The reason, if that is not for this login to say: the rest of the check is."""
    try:
        return pegboard.unused_files(remove=remove)
    except BoardPartlyHidden as error:
        return error
