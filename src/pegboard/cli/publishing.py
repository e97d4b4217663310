"""Commands that bring items to the registry and from it: publish, pull."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import click

from pegboard.app.pegboard import located
from pegboard.cli import render
from pegboard.cli.opening import (
    asked_gateway,
    asked_token_file,
    chosen_gateway,
    decider,
    embed_now,
    named_gateway,
)
from pegboard.cli.shared import expires_option, json_option, notice, progress_bar
from pegboard.errors import EXIT_CODES, EXIT_NOTHING_FOUND, NotTrusted, UsageError
from pegboard.gate.characters import visible
from pegboard.model.items import Visibility

if TYPE_CHECKING:
    from pegboard.board.measure.foreseeing import Forecast
    from pegboard.board.publish.comparing import Pulled
    from pegboard.board.publish.releasing import Publication
    from pegboard.config.places import Located
    from pegboard.tiers.opening import Board
    from pegboard.tiers.publishing import Ready
    from pegboard.tiers.pulling import PullReport

P = ParamSpec("P")
R = TypeVar("R")

VISIBILITIES = click.Choice([each.value for each in Visibility])
DONE = ("published", "unchanged", "checked")
UNTRUSTED = ("signer_unknown", "signer_not_allowed", "signer_revoked", "signature_expired")
STRICT = "search may have trouble with it, and --strict was given; see the notes"


def registry_option(command: Callable[P, R]) -> Callable[P, R]:
    return click.option(
        "--registry",
        metavar="PLACE",
        help="postgresql://..., a gateway's address, or a board's file. Default: registry.url.",
    )(command)


def registry_board(registry: str | None) -> "tuple[Board, Located]":
    """The registry that the options or the settings name, and what holds in this folder."""
    from pegboard.remote.board import RemoteBoard
    from pegboard.tiers.opening import GATEWAYS, open_registry

    place = located()
    if registry and asked_gateway():
        raise UsageError("--registry and --gateway do not go together", "leave out one of them")
    known, file = place.settings.registry.url, asked_token_file()
    if not registry and (asked_gateway() or not known):
        gateway = chosen_gateway(None)
        if gateway is not None:
            return RemoteBoard(gateway, place.settings), place
    asked = registry or known
    if asked.startswith(GATEWAYS) and (file or asked.rstrip("/") != known.rstrip("/")):
        # The registry's own token is for no other, and gives way to one that is named.
        return RemoteBoard(named_gateway(asked, file), place.settings), place
    return open_registry(located(flags={"registry.url": registry} if registry else None)), place


@click.command()
@click.argument("target", metavar="PATH_OR_ID")
@click.option("--version", default="", help="Its number, such as 1.2.0. Default: its manifest's.")
@click.option("--namespace", default="", help="Where it hangs. Default: registry.namespace.")
@click.option("--changelog", default="", help="What is new in this version.")
@click.option("--visibility", type=VISIBILITIES, help="Of a new item. Default: public.")
@click.option("--team", is_flag=True, help="A new item is the namespace's, not only yours.")
@click.option("--key", help="Which of your keys signs it. Default: the only one.")
@expires_option()
@click.option("--strict", is_flag=True, help="Publish nothing that search may have trouble with.")
@click.option(
    "--eval",
    "evaluation",
    default="",
    metavar="DIR",
    help="Queries to compare it by, as `pegboard eval` takes them. Default: publish.eval.",
)
@click.option("--no-report", is_flag=True, help="Do not look at what search will think of it.")
@click.option("--dry-run", is_flag=True, help="Check and report, and publish nothing.")
@registry_option
@json_option
def publish(
    target: str,
    version: str,
    namespace: str,
    changelog: str,
    visibility: str | None,
    team: bool,
    key: str | None,
    expires: float | None,
    strict: bool,
    evaluation: str,
    no_report: bool,
    dry_run: bool,
    registry: str | None,
    as_json: bool,
) -> None:
    """Sign an item and put this version of it on the registry, for good.

    The item is one in an .ai folder, by its path or id, or one that was made with
    `pegboard create`. A version never changes: the same content again is no error, other content
    under the same number is refused. Before that it is said what search will think of it: items
    that do the same, queries that it would take from others, what is not described.
    Exit code 0: it is there, 1: it was refused.
    """
    from pegboard.tiers import publishing

    if strict and no_report:
        raise UsageError("--strict goes by the report, and --no-report leaves it out")

    wish = publishing.Wish(version, namespace, changelog, visibility or "", team, key, expires)
    opened, place = registry_board(registry)
    with opened as board:
        release = publishing.found(place, target)
        ready = publishing.made_ready(place, board, release, wish)
        forecast = None
        if not no_report:
            with progress_bar(show=not as_json) as progress:
                forecast = publishing.foreseen(place, board, ready, evaluation, progress)
        if forecast and not as_json:
            _foretell(forecast)
        stop = strict and forecast is not None and bool(forecast.problems)
        by = decider(board, None)
        done = publishing.publish(board, ready, wish, by, dry_run=dry_run or stop)
        if stop and done.state == "checked":
            done = done._replace(state="refused", code="strict", reason=STRICT)
        if done.state == "published":
            embed_now(board, as_json=as_json)
    _tell(done, ready, forecast, as_json=as_json)
    if done.state not in DONE:
        untrusted = done.code in UNTRUSTED
        raise click.exceptions.Exit(EXIT_CODES[NotTrusted] if untrusted else EXIT_NOTHING_FOUND)


def _foretell(forecast: "Forecast") -> None:
    """On standard error, where notes are: what is published is told apart from it."""
    for each in forecast.problems:
        notice(visible(each))
    if forecast.suggestion:
        text = render.wrapped(visible(forecast.suggestion), "    ")
        click.echo(f"a better description, by rule:\n{text}", err=True)
    notice(*forecast.notices)


def _tell(
    done: "Publication", ready: "Ready", forecast: "Forecast | None", *, as_json: bool
) -> None:
    if as_json:
        render.print_json(done._asdict() | {"signer": ready.signer, "forecast": forecast})
        return
    name = f"{done.namespace}/{done.id}@{done.version}"
    match done.state:
        case "published":
            click.echo(f"published {name}, signed by {ready.signer}")
            click.echo(f"bundle     sha256 {done.bundle}")
            if done.latest != done.version:
                click.echo(f"latest     {done.latest}")
            click.echo(f"next: pegboard pull {done.namespace}/{done.id}", err=True)
        case "unchanged":
            click.echo(f"{name} is published already, just so")
        case "checked":
            click.echo(f"{name} could be published; nothing was")
        case _:
            click.secho(f"{name} was refused: {visible(done.reason)}", fg="red", err=True)
            if done.code in UNTRUSTED:
                click.echo(
                    "  whoever runs the registry has to trust your key for this namespace; send"
                    f" what this prints: pegboard keys export {ready.signer}",
                    err=True,
                )


@click.command()
@click.argument("items", nargs=-1, metavar="[ID[@RANGE]]...")
@click.option(
    "--to",
    type=click.Choice(["project", "user"]),
    default="project",
    show_default=True,
    help="Into .ai of this project, or into your own folder.",
)
@click.option("--pre", is_flag=True, help="Pre-releases will do as well.")
@click.option("--force", is_flag=True, help="Throw away what was changed here.")
@click.option("--merge", is_flag=True, help="Bring what was changed here and there together.")
@click.option("--dry-run", is_flag=True, help="Fetch and compare, and write nothing.")
@registry_option
@json_option
def pull(
    items: tuple[str, ...],
    to: str,
    pre: bool,
    force: bool,
    merge: bool,
    dry_run: bool,
    registry: str | None,
    as_json: bool,
) -> None:
    """Take items from the registry, with all that they need, and put them on the board here.

    RANGE is such as ^1.2, ~1.2.3, ">=1 <2" or 1.2.3; without one it is the latest release. What
    was pulled stands in pegboard.lock; without any ID, exactly that is pulled again. Signatures
    and hashes are checked before the first file is written.
    """
    from pegboard.tiers.pulling import pull, want_of

    if force and merge:
        raise UsageError("--force and --merge do not go together", "leave out one of them")
    wants = [want_of(each, early=pre) for each in items]
    opened, place = registry_board(registry)
    with opened as board, progress_bar(show=not as_json) as progress:
        report = pull(
            board.releases,
            place,
            wants,
            to=to,
            force=force,
            merge=merge,
            dry_run=dry_run,
            progress=progress,
        )
    _report(report, dry_run=dry_run, as_json=as_json)
    if report.refused:
        raise click.exceptions.Exit(EXIT_NOTHING_FOUND)


def _report(report: "PullReport", *, dry_run: bool, as_json: bool) -> None:
    if as_json:
        told = [_facts(each, report.root) for each in report.items]
        render.print_json(
            {
                "items": told,
                "refused": report.refused,
                "notices": report.notices,
                "dry_run": dry_run,
            }
        )
        return
    for each in report.items:
        was = f" (was {each.before})" if each.before and each.before != each.version else ""
        would = "would be " if dry_run and each.state != "unchanged" else ""
        click.echo(f"{would}{each.state} {each.reference}@{each.version}{was}")
        click.echo(f"  {report.root / each.path}")
        notice(*each.notes)
    notice(*report.notices)
    for refused in report.refused:
        why = visible(refused.reason)
        click.secho(f"{refused.origin} is not on the board here: {why}", fg="red", err=True)


def _facts(each: "Pulled", root: Path) -> dict[str, object]:
    return {
        "reference": each.reference,
        "version": each.version,
        "state": each.state,
        "before": each.before,
        "path": str(root / each.path),
        "bundle": each.locked.bundle,
        "signer": each.locked.signer,
        "notes": each.notes,
    }
