"""Commands for the tiers of one person: rebuild, sync-user."""

from typing import TYPE_CHECKING

import click

from pegboard.app.pegboard import Pegboard, located
from pegboard.cli import render
from pegboard.cli.filling import Reading, finish, make_project, read_now
from pegboard.cli.shared import command_options, no_embed_option, notice
from pegboard.config.places import Located
from pegboard.errors import BoardCorrupt, BoardReadOnly, SourceError, UsageError

if TYPE_CHECKING:
    from pegboard.tiers.rebuilding import Ready


@click.command()
@no_embed_option
@command_options
def rebuild(no_embed: bool, board: str | None, as_json: bool) -> None:
    """Make the project's board anew from its content.

    Every source is read again through the gate, and what is gone is removed at once. Vectors of
    what has not changed stay, and so do tools that were made or published here, what people
    decided, and the history. A board that is not there, or damaged, is made: a damaged one is
    kept beside it. Stopping it half-way loses nothing: run it again.
    """
    place = located(board=board, flags={"sync.keep_missing_days": 0.0})
    try:
        make_project(board, settings=False)
        ready, reading = _rebuilt(place, embed=not no_embed, as_json=as_json)
    except OSError as error:
        raise BoardReadOnly(f"{error.filename} cannot be written: {error.strerror}") from error
    if as_json:
        told = {"board": str(place.board), "made": ready.made, "moved_to": ready.moved_to}
        render.print_json(told | {"added": ready.added, "sync": reading.outcome})
    finish(reading)


def _rebuilt(place: Located, *, embed: bool, as_json: bool) -> "tuple[Ready, Reading]":
    from pegboard.tiers.rebuilding import made_ready

    ready = made_ready(place)
    try:
        return ready, _filled(ready, embed=embed, as_json=as_json)
    except BoardCorrupt:
        ready.board.close()
        ready = made_ready(place, aside=True)._replace(made=True)
        return ready, _filled(ready, embed=embed, as_json=as_json)


def _filled(ready: "Ready", *, embed: bool, as_json: bool) -> Reading:
    if ready.moved_to:
        notice(
            f"the board could not be used and was made anew; the old one is {ready.moved_to}",
            "what was made, decided and run there is not on the new one",
        )
    with ready.board as pegboard:
        notice(*pegboard.trust.follow_files())
        if not pegboard.sources():
            notice("this project has no content yet: .ai, mcptools or gentools")
        return read_now(pegboard, (), as_json=as_json, full=True, embed=embed)


@click.command("sync-user")
@click.argument("items", nargs=-1, metavar="[ITEM]...")
@click.option("--all", "every", is_flag=True, help="All items of the project's folders.")
@click.option("--force", is_flag=True, help="Also over what was changed there by hand.")
@command_options
def sync_user(
    items: tuple[str, ...], every: bool, force: bool, board: str | None, as_json: bool
) -> None:
    """Copy items of this project to your own folder, and so to your own board.

    They are then found in every project, with --tier user or all. Each goes through the gate as
    your own board asks for it; what is refused is not copied.
    """
    if every == bool(items):
        raise UsageError("which items? Give either ITEM... or --all")
    place = located(board=board)
    from pegboard.tiers.copying import copy_to_user
    from pegboard.tiers.opening import is_users

    if is_users(place):
        raise UsageError("this is your own board already", "run it in a project")
    with Pegboard.at(place) as pegboard:
        done = copy_to_user(pegboard, place, items, every=every, force=force)
    if as_json:
        render.print_json({"items": done})
    else:
        for each in done:
            click.echo(f"{each.state:<10} {each.id}  {each.reason or each.path}")
        if not done:
            click.echo("nothing to copy", err=True)
    if refused := [each for each in done if each.state == "refused"]:
        raise SourceError("\n".join(f"{each.id} was refused: {each.reason}" for each in refused))
