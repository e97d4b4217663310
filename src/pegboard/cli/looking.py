"""Commands that read a board: search, show, eval."""

from pathlib import Path

import click

from pegboard.app import Pegboard, evaluation_board, located
from pegboard.cli import render
from pegboard.cli.shared import NO_SOURCE, command_options, json_option, notice, progress_bar
from pegboard.errors import EXIT_NOTHING_FOUND
from pegboard.model import Filters, Kind, Mode, ToolType

MODES = click.Choice([mode.value for mode in Mode])
KINDS = click.Choice([kind.value for kind in Kind])
TYPES = click.Choice([each.value for each in ToolType])


@click.command()
@click.argument("query", nargs=-1, required=True)
@click.option("--mode", type=MODES, help="How to look. Default: hybrid.")
@click.option("--limit", type=click.IntRange(1, 1000), help="How many hits. Default: 5.")
@click.option("--source", "sources", multiple=True, help="Only from here: mcptools, gentools, ...")
@click.option("--kind", "kinds", multiple=True, type=KINDS, help="Only this kind.")
@click.option("--category", "categories", multiple=True, help="Only this category.")
@click.option("--tag", "tags", multiple=True, help="Only with this tag.")
@click.option("--type", "tool_types", multiple=True, type=TYPES, help="Only this type.")
@click.option("--namespace", "namespaces", multiple=True, help="Only in this namespace.")
@command_options
def search(
    query: tuple[str, ...],
    mode: str | None,
    limit: int | None,
    board: str | None,
    as_json: bool,
    **filters: tuple[str, ...],
) -> None:
    """Find tools by what they do, in your own words.

    Options that filter can be given several times; any of the values will do.
    Exit code 0: found, 1: nothing found.
    """
    with Pegboard.open(board) as pegboard:
        answer = pegboard.search(
            " ".join(query), mode=mode, limit=limit, filters=Filters(**filters)
        )
        if not answer.hits and not pegboard.sources():
            notice(NO_SOURCE)
    notice(*answer.notices)
    if as_json:
        render.print_json(answer.hits)
    elif answer.hits:
        render.hits(answer)
    else:
        click.echo("nothing found", err=True)
    if not answer.hits:
        raise click.exceptions.Exit(EXIT_NOTHING_FOUND)


@click.command()
@click.argument("item", metavar="ID")
@command_options
def show(item: str, board: str | None, as_json: bool) -> None:
    """Show everything about one item.

    ID is the whole id (mcptools:chat:post_message), category__name, or the bare name where only
    one item has it.
    """
    with Pegboard.open(board) as pegboard:
        found = pegboard.show(item)
    if as_json:
        render.print_json(found)
    else:
        render.entry(found)


@click.command("eval")
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--mode", type=MODES, default=Mode.HYBRID.value, show_default=True)
@click.option("--limit", type=click.IntRange(1, 1000), default=10, show_default=True)
@click.option("--board", type=click.Path(path_type=Path), help="Keep the board here.")
@json_option
def eval_(folder: Path, mode: str, limit: int, board: Path | None, as_json: bool) -> None:
    """Measure search on your own queries.

    FOLDER has tools.jsonl (or tools.jsonl.gz), one {"id", "name", "category", "description",
    "parameters": [{"name", "description", "type", "required"}]} a line, and queries.jsonl, one
    {"id", "query", "gold": [tool ids]} a line, optionally with "alt": {gold id: [equivalents]}.
    """
    with (
        evaluation_board(board, located().settings) as pegboard,
        progress_bar(show=not as_json) as progress,
    ):
        found, notices = pegboard.evaluate(folder, mode=mode, limit=limit, progress=progress)
    notice(*notices)
    if as_json:
        render.print_json(found)
    else:
        render.measures(found)
