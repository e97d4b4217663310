"""`doctor` for a gateway: whether it answers, is ready, and what a token allows there."""

from typing import TYPE_CHECKING

import click

from pegboard import __version__
from pegboard.cli import render
from pegboard.cli.shared import notice
from pegboard.errors import InvariantBroken, UsageError

if TYPE_CHECKING:
    from pegboard.remote.board import RemoteBoard
    from pegboard.remote.health import Myself


def examine(pegboard: "RemoteBoard", *, fix: bool, as_json: bool) -> None:
    if fix:
        raise UsageError(
            "--fix is for a board here",
            "what lacks its vector is queued at a gateway with: pegboard backfill",
        )
    address, found = pegboard.gateway.address, pegboard.examined()
    me = found.myself
    if as_json:
        render.print_json(
            {
                "gateway": address,
                "ready": found.ready,
                "reasons": found.reasons,
                "version": me.version if me else None,
                "subject": me.subject if me else None,
                "role": me.role if me else None,
                "namespaces": me.namespaces if me else None,
            }
        )
    else:
        click.echo(f"{'gateway':<10} {address}" + (f", Pegboard {me.version}" if me else ""))
        click.echo(f"{'ready':<10} {'yes' if found.ready else 'no: ' + ', '.join(found.reasons)}")
        if me:
            click.echo(f"{'you':<10} {_who(me)}")
    if me and me.version != __version__:
        notice(f"this is Pegboard {__version__}, and the gateway {me.version}")
    if found.refusal:
        raise found.refusal
    if not found.ready:
        why = ", ".join(found.reasons) or "it does not say why"
        raise InvariantBroken(f"{address} is not ready: {why}", "look at it where it runs")


def _who(me: "Myself") -> str:
    where = ", ".join(me.namespaces)
    if not where:
        where = "the whole board" if me.role == "admin" else "what is public"
    return f"{me.subject or 'nobody in particular'}: {me.role} of {where}"
