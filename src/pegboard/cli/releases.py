"""Commands about what is published: versions, diff, yank, unyank, and what its owner decides."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

import click

from pegboard.app.pegboard import located
from pegboard.cli import render
from pegboard.cli.opening import asked_gateway, decider, open_board
from pegboard.cli.publishing import VISIBILITIES, registry_board, registry_option
from pegboard.cli.shared import command_options
from pegboard.errors import EXIT_NOTHING_FOUND, ItemNotFound, UsageError
from pegboard.formats.semver import latest
from pegboard.gate.characters import visible
from pegboard.model.items import Visibility
from pegboard.model.releases import Decision

if TYPE_CHECKING:
    from pegboard.board.publish.releasing import Shelf
    from pegboard.model.content import Version, VersionLine
    from pegboard.model.releases import AuditLine
    from pegboard.tiers.opening import Board

T = TypeVar("T")


def _opened(board: str | None, registry: str | None) -> "Board":
    """The board that is named; else the registry, if one is set; else the board at hand."""
    if board and registry:
        raise UsageError("--board and --registry do not go together", "leave out one of them")
    named = board or asked_gateway()
    if registry or (not named and located().settings.registry.url):
        return registry_board(registry)[0]
    return open_board(board)


def _asked(
    board: str | None, registry: str | None, ask: "Callable[[Board], T]", *, here: bool = False
) -> T:
    """With `here`, what the registry does not have is looked for on the board at hand."""
    try:
        with _opened(board, registry) as opened:
            return ask(opened)
    except ItemNotFound:
        if not here or board or registry or asked_gateway():
            raise
        with open_board(board) as opened:
            return ask(opened)


@click.command()
@click.argument("item", metavar="ID")
@registry_option
@command_options
def versions(item: str, registry: str | None, board: str | None, as_json: bool) -> None:
    """List the versions of an item, the highest first.

    They are those on the registry, if one is set and has the item, or else those on the board here.
    """
    shelf = _asked(board, registry, lambda opened: opened.releases.shelf(item), here=True)
    if as_json:
        render.print_json(shelf)
    else:
        _print_shelf(shelf)


def _print_shelf(shelf: "Shelf") -> None:
    owner = f", of {shelf.author}" if shelf.author else ""
    click.echo(visible(f"{shelf.reference}  {shelf.visibility}{owner}"))
    if shelf.deprecated:
        instead = f"; use {shelf.replacement} instead" if shelf.replacement else ""
        click.echo(visible(f"deprecated{instead}"))
    if not shelf.versions and not shelf.published:
        click.echo("its source keeps no versions")
    for line in shelf.versions:
        click.echo(visible(_line(line, shelf.latest)))
        if line.changelog:
            click.echo(render.wrapped(visible(line.changelog), "    "))


def _line(line: "VersionLine", hung: str) -> str:
    parts = [f"{line.number:<12}", render.moment(line.created_at)]
    parts += ["latest"] if line.number == hung else []
    parts += [f"by {line.published_by}"] if line.published_by else []
    parts += [f"{line.download_count} downloads"] if line.published_by else []
    if line.yanked_at is not None:
        parts.append(f"taken back: {line.yank_reason or 'no reason was given'}")
    return "  ".join(parts)


@click.command()
@click.argument("one", metavar="ID[@VERSION]")
@click.argument("other", metavar="[OTHER]", required=False)
@registry_option
@command_options
def diff(
    one: str, other: str | None, registry: str | None, board: str | None, as_json: bool
) -> None:
    """Show what differs between two versions of an item, or between two items.

    OTHER is a version of the same item, or ID@VERSION. Without it, ID@VERSION is compared with the
    latest, and ID alone with the version before. Exit code 0: nothing differs, 1: something does.
    """
    from pegboard.board.describe.comparing_versions import differing

    def ask(opened: "Board") -> "tuple[str, Version, str, Version]":
        return _both(opened, one, other)

    was, before, now, after = _asked(board, registry, ask, here=True)
    found = differing(before, after)
    if as_json:
        render.print_json({"from": was, "to": now, "files": found})
    else:
        click.echo(f"{was} to {now}")
        for each in found:
            click.echo(visible(f"{each.state} {each.path}{' (no text)' if each.binary else ''}"))
            for line in each.lines:
                click.echo(visible(line))
            if each.cut:
                click.echo("... and more than is shown")
    if found:
        raise click.exceptions.Exit(EXIT_NOTHING_FOUND)


def _both(opened: "Board", one: str, other: str | None) -> "tuple[str, Version, str, Version]":
    name, number = _cut(one)
    second, wanted = _cut(f"{name}@{other}" if other and _is_number(other) else other or name)
    shelf = opened.releases.shelf(name)
    if other is None and not number:
        numbers = [each.number for each in shelf.versions if each.yanked_at is None]
        older = numbers[numbers.index(shelf.latest) + 1 :] if shelf.latest in numbers else []
        if not older:
            raise UsageError(f"{shelf.reference} has no version before", "name two to compare")
        number, wanted = older[0], shelf.latest
    releases = opened.releases
    number = number or shelf.latest
    wanted = wanted or releases.shelf(second).latest
    before, after = releases.version(name, number), releases.version(second, wanted)
    return f"{name}@{number}", before, f"{second}@{wanted}", after


def _is_number(text: str) -> bool:
    return text == "latest" or latest([text], early=True) is not None


def _cut(text: str) -> tuple[str, str]:
    head, at, number = text.rpartition("@")
    if not at or not _is_number(number):
        return text, ""
    return head, "" if number == "latest" else number


@click.command()
@click.argument("item", metavar="ID")
@click.argument("version")
@click.option("--reason", default="", help="Why, for those who have it.")
@registry_option
@command_options
def yank(
    item: str, version: str, reason: str, registry: str | None, board: str | None, as_json: bool
) -> None:
    """Take a version back: nobody gets it any more who does not ask for exactly that.

    It is not removed: lock files that name it go on working.
    """
    _yank(item, version, reason, board, registry, yanked=True, as_json=as_json)


@click.command()
@click.argument("item", metavar="ID")
@click.argument("version")
@registry_option
@command_options
def unyank(item: str, version: str, registry: str | None, board: str | None, as_json: bool) -> None:
    """Offer a version again that was taken back."""
    _yank(item, version, "", board, registry, yanked=False, as_json=as_json)


def _yank(
    item: str,
    version: str,
    reason: str,
    board: str | None,
    registry: str | None,
    *,
    yanked: bool,
    as_json: bool,
) -> None:
    def ask(opened: "Board") -> "tuple[bool, Shelf]":
        name = opened.releases.shelf(item).reference  # by any other it may not be found then
        by = decider(opened, None)
        done = opened.releases.yank(name, version, yanked=yanked, reason=reason, by=by)
        return done, opened.releases.shelf(name)

    done, shelf = _asked(board, registry, ask)
    if as_json:
        render.print_json({"changed": done, "latest": shelf.latest})
        return
    state = "taken back" if yanked else "offered again"
    was = "" if done else ", as it was before"
    click.echo(f"{shelf.reference}@{version} is {state}{was}")
    click.echo(f"latest     {shelf.latest or 'none: it is no longer found'}")


@click.command()
@click.argument("item", metavar="ID")
@click.argument("visibility", type=VISIBILITIES)
@registry_option
@command_options
def visibility(
    item: str, visibility: str, registry: str | None, board: str | None, as_json: bool
) -> None:
    """Say who finds a published item.

    public: everybody who may see its namespace. unlisted: only who knows its exact id. private:
    its owner alone.
    """
    decision = Decision(visibility=Visibility(visibility))
    _decide(item, decision, board, registry, as_json=as_json)


@click.command()
@click.argument("item", metavar="ID")
@click.argument("owner")
@registry_option
@command_options
def transfer(item: str, owner: str, registry: str | None, board: str | None, as_json: bool) -> None:
    """Give a published item to somebody else.

    OWNER is the name of a person's token, or @NAMESPACE for all authors of its namespace.
    """
    _decide(item, Decision(owner=owner), board, registry, as_json=as_json)


@click.command()
@click.argument("item", metavar="ID")
@click.option("--replacement", default="", metavar="ID", help="What to use instead.")
@click.option("--undo", is_flag=True, help="It is not deprecated after all.")
@registry_option
@command_options
def deprecate(
    item: str,
    replacement: str,
    undo: bool,
    registry: str | None,
    board: str | None,
    as_json: bool,
) -> None:
    """Say that a published item should not be used any more, and what instead."""
    if undo and replacement:
        raise UsageError("--undo and --replacement do not go together", "leave out one of them")
    decision = Decision(deprecated=not undo, replacement=replacement)
    _decide(item, decision, board, registry, as_json=as_json)


def _decide(
    item: str, decision: Decision, board: str | None, registry: str | None, *, as_json: bool
) -> None:
    def ask(opened: "Board") -> "Shelf":
        return opened.releases.decide(item, decision, decider(opened, None))

    shelf = _asked(board, registry, ask)
    if as_json:
        render.print_json(shelf)
    else:
        latest_line = tuple(each for each in shelf.versions if each.number == shelf.latest)
        _print_shelf(shelf._replace(versions=latest_line))


@click.command()
@click.argument("item", metavar="[ID]", required=False)
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True)
@registry_option
@command_options
def audit(
    item: str | None, limit: int, registry: str | None, board: str | None, as_json: bool
) -> None:
    """Show who published, took back, trusted and decided what, newest first.

    These lines cannot be changed or removed.
    """

    def ask(opened: "Board") -> "Sequence[AuditLine]":
        name = opened.releases.shelf(item).reference if item and ":" not in item else item
        return opened.releases.audit(name, limit)

    lines = _asked(board, registry, ask)
    if as_json:
        render.print_json({"audit": lines})
        return
    for line in lines:
        about = f"{line.namespace}/{line.id}" if line.id else ""
        about += f"@{line.version}" if line.version else ""
        said = [render.moment(line.at), line.action.value, about, f"by {line.who}", line.detail]
        click.echo(visible("  ".join(filter(None, said))))
