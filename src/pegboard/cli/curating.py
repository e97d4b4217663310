"""Commands for what people decide about items, and for what became of items.

description, tags, deactivate, activate, delete; history, links, rejections.
"""

import sys
from collections.abc import Callable
from typing import TypeVar

import click

from pegboard.board.curate.editing import etag
from pegboard.cli import render
from pegboard.cli.opening import Board, decider, embed_now, open_board
from pegboard.cli.shared import command_options
from pegboard.errors import UsageError
from pegboard.gate.characters import visible_rejections
from pegboard.model.items import Drift, Entry, qualified
from pegboard.text import harmless

F = TypeVar("F", bound=Callable[..., object])

LARGEST_TEXT = 1_000_000
"""Letters: more than the gate lets through as a description."""


def by_option(command: F) -> F:
    return click.option(
        "--by", metavar="NAME", help="Who decides this. Default: the name you are logged in with."
    )(command)


@click.command()
@click.argument("item", metavar="ID")
@click.option(
    "--set", "text", metavar="TEXT", help="The new description; - reads it from standard input."
)
@click.option("--reset", is_flag=True, help="Go back to what the source says.")
@by_option
@command_options
def description(
    item: str, text: str | None, reset: bool, by: str | None, board: str | None, as_json: bool
) -> None:
    """Show or change what an item is said to do.

    A description of your own holds until it is reset: syncs go on updating everything else.
    """
    if text is not None and reset:
        raise UsageError("--set and --reset do not go together", "give one of them")
    given = sys.stdin.read(LARGEST_TEXT) if text == "-" else text
    with open_board(board) as pegboard:
        who = decider(pegboard, by)
        if given is not None:
            entry = pegboard.curate.describe(item, given.rstrip("\n"), who)
        elif reset:
            entry = pegboard.curate.reset(item, who)
        else:
            entry = pegboard.curate.chosen(item)
        if given is not None or reset:
            _embed(pegboard, entry, as_json)
    if as_json:
        render.print_json(_description(entry))
    else:
        _show_description(entry)


def _embed(pegboard: Board, entry: Entry, as_json: bool) -> None:
    if entry.active:
        embed_now(pegboard, as_json=as_json)


def _description(entry: Entry) -> dict[str, object]:
    return _named(entry) | {
        "description": entry.item.description,
        "description_source": entry.description_source,
        "manual_override": entry.manual_override,
        "override_by": entry.override_by,
        "override_at": entry.override_at,
        "imported_description": entry.imported_description,
    }


def _named(entry: Entry) -> dict[str, object]:
    return {"id": entry.item.id, "namespace": entry.item.namespace}


def _show_description(entry: Entry) -> None:
    click.secho(entry.item.id, bold=True)
    if entry.override_at is not None:
        by = f" by {harmless(entry.override_by)}" if entry.override_by else ""
        click.echo(f"  described{by}, {render.ago(entry.override_at)}")
    else:
        click.echo("  as its source describes it")
    click.echo()
    click.echo(entry.item.description)
    if entry.imported_description != entry.item.description:
        click.echo()
        click.echo("Its source says:")
        click.echo(entry.imported_description)


@click.command()
@click.argument("item", metavar="ID")
@click.option("--set", "text", metavar="TAG,TAG...", help="The new tags; an empty text for none.")
@click.option("--reset", is_flag=True, help="Go back to the tags of the source.")
@by_option
@command_options
def tags(
    item: str, text: str | None, reset: bool, by: str | None, board: str | None, as_json: bool
) -> None:
    """Show or change the tags of an item.

    Tags of your own hold until they are reset: syncs go on updating everything else.
    """
    if text is not None and reset:
        raise UsageError("--set and --reset do not go together", "give one of them")
    given = None if text is None else text.split(",") if text.strip() else []
    with open_board(board) as pegboard:
        if given is None and not reset:
            entry = pegboard.curate.chosen(item)
        else:
            entry = pegboard.curate.tag(item, given, decider(pegboard, by))
            _embed(pegboard, entry, as_json)
    if as_json:
        names = ("imported_tags", "tags_override", "tags_override_by", "tags_override_at")
        facts = {name: getattr(entry, name) for name in names}
        render.print_json(_named(entry) | {"tags": entry.item.tags} | facts)
    else:
        click.secho(entry.item.id, bold=True)
        click.echo(f"  {', '.join(entry.item.tags) or 'no tags'}")
        click.echo(f"  {render.whose_tags(entry) or 'as its source tags it'}")


@click.command()
@click.argument("item", metavar="ID")
@click.option("--reason", default="", help="Why; `pegboard history` shows it.")
@by_option
@command_options
def deactivate(item: str, reason: str, by: str | None, board: str | None, as_json: bool) -> None:
    """Switch an item off: it cannot be found or called until it is activated.

    Syncs keep its content up to date, and it switched off.
    """
    with open_board(board) as pegboard:
        entry = pegboard.curate.deactivate(item, decider(pegboard, by), reason)
    _tell_state(entry, as_json)


@click.command()
@click.argument("item", metavar="ID")
@by_option
@command_options
def activate(item: str, by: str | None, board: str | None, as_json: bool) -> None:
    """Switch an item on again that was switched off."""
    with open_board(board) as pegboard:
        entry = pegboard.curate.activate(item, decider(pegboard, by))
        _embed(pegboard, entry, as_json)
    _tell_state(entry, as_json)


def _tell_state(entry: Entry, as_json: bool) -> None:
    if as_json:
        names = ("active", "drift", "off_at", "off_by", "off_reason")
        facts = {name: getattr(entry, name) for name in names}
        render.print_json(_named(entry) | facts)
    elif entry.active:
        click.echo(f"{entry.item.id} is active")
    elif entry.off_at is not None:
        click.echo(f"{entry.item.id} is switched off")
        named = qualified(entry.item.namespace, entry.item.id)
        click.echo(f"on again with: pegboard activate {named}")
    elif entry.drift is Drift.MISSING:
        click.echo(f"{entry.item.id} is no longer switched off, but gone from its source")
    else:
        click.echo(f"{entry.item.id} is no longer switched off, but held back; approve it")


@click.command()
@click.argument("item", metavar="ID")
@click.option("--yes", is_flag=True, help="Remove it without asking.")
@by_option
@command_options
def delete(item: str, yes: bool, by: str | None, board: str | None, as_json: bool) -> None:
    """Remove an item for good that was made on this board, with all of its versions.

    What a source brings would come back with its next sync: deactivate it instead.
    """
    with open_board(board) as pegboard:
        entry = pegboard.curate.removable(item)
        agreed = yes or _agreed(entry)
        if agreed:  # to what was shown, and to nothing else
            pegboard.curate.remove(entry, decider(pegboard, by), expected=etag(entry))
    if as_json:
        render.print_json(_named(entry) | {"removed": agreed})
    else:
        click.echo(f"removed {entry.item.id}" if agreed else "nothing was removed")


def _agreed(entry: Entry) -> bool:
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError("nobody is here to be asked", "--yes removes it without asking")
    named = qualified(entry.item.namespace, entry.item.id)
    return click.confirm(f"Remove {named} for good, with all of its versions?", err=True)


@click.command()
@click.argument("item", metavar="ID")
@command_options
def history(item: str, board: str | None, as_json: bool) -> None:
    """Show what became of an item, newest first; by its whole id also of one that is gone."""
    with open_board(board) as pegboard:
        found = pegboard.curate.history(item)
    if as_json:
        render.print_json({"history": found})
        return
    for each in found:
        by = f" by {harmless(each.by)}" if each.by else ""
        detail = f": {harmless(each.detail)}" if each.detail else ""
        click.echo(f"{render.moment(each.at)}  {each.event.value}{by}{detail}")
    if not found:
        click.echo("nothing is known to have happened to it since it came")


@click.command()
@click.argument("item", metavar="[ID]", required=False)
@click.option("--unresolved", is_flag=True, help="Links that lead nowhere, of all items.")
@command_options
def links(item: str | None, unresolved: bool, board: str | None, as_json: bool) -> None:
    """Show what an item refers to, and what refers to it.

    A link names its target by id, by category__name, or by a name that only one item has.
    """
    if (item is None) == (not unresolved):
        raise UsageError("say which: give an ID, or --unresolved")
    with open_board(board) as pegboard:
        loose = pegboard.curate.loose_links() if item is None else []
        ties = [] if item is None else pegboard.curate.ties(pegboard.curate.chosen(item))
    if as_json:
        render.print_json({"links": loose if unresolved else ties})
        return
    for link in loose:
        click.echo(f"{link.id}  {link.relation}  {link.target}")
    render.ties(ties)
    if not loose and not ties:
        click.echo("every link leads to an item" if unresolved else "it has no links")


@click.command()
@click.option("--source", metavar="NAME", help="Only of this source.")
@command_options
def rejections(source: str | None, board: str | None, as_json: bool) -> None:
    """List what the gate refused, and why. An entry goes when its candidate becomes valid."""
    with open_board(board) as pegboard:
        found = pegboard.curate.rejections(source)
        if source is not None and not found:
            known = [each.name for each in pegboard.sources()]
            if source not in known:
                raise UsageError(
                    f"there is no source {source!r} on this board",
                    f"known: {', '.join(known) or 'none'}",
                )
    if as_json:
        render.print_json({"rejections": visible_rejections(found)})
    else:
        render.rejections(found)
        click.echo(f"{len(found)} refused")
