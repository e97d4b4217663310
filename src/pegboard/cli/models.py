"""Commands for the model whose vectors are searched: use, allow, list, calibrate, rollback."""

import threading

import click

from pegboard.app.pegboard import Pegboard
from pegboard.board.maintain.models import Calibrated, Changed, ModelLine
from pegboard.cli import render
from pegboard.cli.shared import (
    command_options,
    no_embed_option,
    notice,
    progress_bar,
    stop_on_signals,
)
from pegboard.model.items import ModelSpec
from pegboard.ports.stages import Progress

skip_failed_option = click.option(
    "--skip-failed", is_flag=True, help="Switch although some items could not be embedded."
)


@click.group()
def model() -> None:
    """Change the model that makes vectors, while search goes on with the old one."""


@model.command()
@click.argument("name")
@click.option("--dimension", type=click.IntRange(0, 16_384), default=0, help="Vector length.")
@click.option("--base-url", default="", metavar="URL", help="Where the service is.")
@click.option("--api-key", default="", metavar="REFERENCE", help="env:NAME or file:PATH.")
@no_embed_option
@skip_failed_option
@command_options
def use(
    name: str,
    dimension: int,
    base_url: str,
    api_key: str,
    no_embed: bool,
    skip_failed: bool,
    board: str | None,
    as_json: bool,
) -> None:
    """Build the vectors of a model beside those in use, then search by them.

    NAME is a provider, provider:model, or all-MiniLM-L6-v2. Can be stopped; run it again, or
    pegboard backfill, or a worker, and it goes on.
    """
    with Pegboard.open(board) as pegboard:
        named = pegboard.models.named(name)
        spec = named._replace(
            dimension=dimension,
            base_url=base_url or named.base_url,
            api_key=api_key or named.api_key,
        )
        _change(pegboard, spec, no_embed, skip_failed, as_json)


@model.command()
@command_options
def allow(board: str | None, as_json: bool) -> None:
    """Let this board send texts, and the key it names, to the services it asks for vectors.

    Once for each person and machine; where they are is shown. `model use` allows what it is given.
    """
    with Pegboard.open(board) as pegboard:
        services = pegboard.models.services()
        for spec in services:
            pegboard.trust.allow_service(spec)
    if as_json:
        render.print_json({"services": services})
        return
    for spec in services:
        click.echo(f"allowed   {spec.base_url or spec.provider}  key: {spec.api_key or 'none'}")
    if not services:
        click.echo("this board asks no service for vectors")


@model.command()
@no_embed_option
@skip_failed_option
@command_options
def rollback(no_embed: bool, skip_failed: bool, board: str | None, as_json: bool) -> None:
    """Go back to the model before this one, or give up a change that is under way.

    At once, if nothing has changed since; else what is missing is embedded first.
    """
    with Pegboard.open(board) as pegboard:
        _change(pegboard, pegboard.models.back(), no_embed, skip_failed, as_json)


def _change(
    pegboard: Pegboard, spec: ModelSpec, no_embed: bool, skip_failed: bool, as_json: bool
) -> None:
    with stop_on_signals() as stop:
        with progress_bar(show=not as_json) as progress:
            changed = pegboard.models.change(
                spec,
                lambda: _fill(pegboard, progress, stop, not no_embed),
                embed=not no_embed,
                skip_failed=skip_failed,
                stop=stop,
            )
        if as_json:
            render.print_json(changed)
        else:
            _tell(changed)
        notice(*changed.notices)
        if stop.is_set() and not changed.switched:
            raise KeyboardInterrupt


def _fill(pegboard: Pegboard, progress: Progress, stop: threading.Event, embed: bool) -> list[str]:
    return pegboard.backfill(progress=progress, stop=stop, embed=embed).notices


def _tell(changed: Changed) -> None:
    counts = changed.embeddings
    if changed.switched:
        click.echo(f"searching by {changed.model} now ({counts.ready} items)")
        return
    click.echo(f"building {changed.model}: {counts.ready} of {counts.total - counts.blank} items")
    click.echo("until that is done search goes on as before; go on with: pegboard backfill")
    if counts.failed:
        notice(
            f"{counts.failed} could not be embedded; try again with: pegboard retry --all, "
            "or switch without them: --skip-failed"
        )


@model.command("list")
@command_options
def list_(board: str | None, as_json: bool) -> None:
    """List the models that have vectors on the board: in use, being built, and kept."""
    with Pegboard.open(board) as pegboard:
        lines = pegboard.models.listed()
    if as_json:
        render.print_json({"models": lines})
        return
    for line in lines:
        said = f"{line.vectors} vectors{_progress(line)}, {_calibrated(line)}"
        click.echo(f"{line.role:<10} {line.model}  {said}")


def _calibrated(line: ModelLine) -> str:
    if line.calibrated_at is not None:
        return f"calibrated on this board {render.moment(line.calibrated_at)}"
    return "calibrated (packaged)" if line.calibrated == "packaged" else "not calibrated"


def _progress(line: ModelLine) -> str:
    if line.building is None:
        return ""
    counts = line.building.embeddings
    return f", {counts.pending} to come" + (f", {counts.failed} failed" if counts.failed else "")


@model.command()
@command_options
def calibrate(board: str | None, as_json: bool) -> None:
    """Calibrate the scores of the active model on this board's content.

    Pegboard does this once by itself; run it again after the board has changed a lot.
    """
    with Pegboard.open(board) as pegboard:
        found = pegboard.calibrate()
    if as_json:
        render.print_json(found)
    else:
        _show_calibration(found)


def _show_calibration(found: Calibrated) -> None:
    click.echo(f"calibrated {found.model} on {found.items} items and {found.questions} questions")
    click.echo(f"meaning = {found.slope:g} x cosine {found.offset:+g}")
    for name, shares in (("before", found.before), ("after", found.after)):
        click.echo(
            f"{name:<7} answered at {found.threshold:g}: {shares.served:.1%} of questions the "
            f"board serves, {shares.unserved:.1%} of those that none does"
        )


@model.command()
@command_options
def prune(board: str | None, as_json: bool) -> None:
    """Remove vectors of models that are neither in use nor the one before."""
    with Pegboard.open(board) as pegboard:
        removed = pegboard.models.prune()
    if as_json:
        render.print_json({"removed": removed})
    else:
        click.echo(f"removed {removed} vectors")
