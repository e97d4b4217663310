"""The command that makes tools: create."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pegboard.cli import render
from pegboard.cli.opening import embed_now, open_board
from pegboard.cli.shared import command_options
from pegboard.errors import EXIT_NOTHING_FOUND, UsageError
from pegboard.gate.characters import visible
from pegboard.model.content import Json

if TYPE_CHECKING:
    from pegboard.board.create.making import Created

GOOD = ("created", "updated", "unchanged")


@click.command()
@click.argument("path", type=click.Path(path_type=Path), metavar="DIR")
@click.option("--category", default="", help="Where it hangs, if its manifest does not say.")
@click.option(
    "--try-with",
    "tried",
    metavar="OBJECT",
    help="Try it with these arguments, as JSON, first: in the sandbox, without permissions.",
)
@click.option("--anyway", is_flag=True, help="Also if a tool for the same is there already.")
@command_options
def create(
    path: Path, category: str, tried: str | None, anyway: bool, board: str | None, as_json: bool
) -> None:
    """Hang a tool on the board alone: a folder with its tool.yaml, or a Python file.

    The folder is read once and not followed. Called again with a changed tool, it makes a new
    version; versions stay as they are. Such tools are run only in a sandbox.
    Exit code 0: it hangs on the board, 1: it does not.
    """
    from pegboard.board.create.drafts import draft_at  # with it comes what reads manifests

    arguments = _arguments(tried)
    with open_board(board) as pegboard:
        draft = draft_at(path, category, pegboard.settings.sync.max_file_bytes)
        made = pegboard.create(draft, anyway=anyway, try_with=arguments)
        if made.state in ("created", "updated"):
            embed_now(pegboard, as_json=as_json)
    if as_json:
        render.print_json(_facts(made))
    else:
        _tell(made)
    if made.state not in GOOD:
        raise click.exceptions.Exit(EXIT_NOTHING_FOUND)


def _arguments(text: str | None) -> Json | None:
    if text is None:
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"--try-with is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise UsageError(f"--try-with is {text[:60]!r}", "it must be a JSON object")
    return found


def _facts(made: "Created") -> dict[str, object]:
    said = made._asdict() | {"alike": [each._asdict() for each in made.alike]}
    said["trial"] = made.trial._asdict() if made.trial else None
    del said["entry"]
    return said


def _tell(made: "Created") -> None:
    name = f"{made.id}@{made.version}" if made.version else made.id
    match made.state:
        case "created" | "updated":
            click.echo(f"{made.state} {name}")
            click.echo(f"next: pegboard run {made.id}", err=True)
        case "unchanged":
            click.echo(f"{name} is on the board already, just so")
        case "alike":
            click.echo("nothing was made; look at these first, or say --anyway:", err=True)
            for hit in made.alike:
                click.echo(f"{hit.id}  {hit.description.strip().partition(chr(10))[0]}")
        case "failed":
            why = "trying it failed; without --try-with it is kept untried"
            click.secho(f"{name} was not kept: {why}", fg="red", err=True)
        case _:
            click.secho(f"{name} was refused: {made.reason}", fg="red", err=True)
    if made.trial is not None:
        said = (made.trial.logs, made.trial.error)
        told = "\n".join([f"tried it: {made.trial.outcome}", *filter(None, said)])
        click.echo(visible(told), err=True)
