"""Commands for tokens: token new, list, revoke. What they do is loaded when it is needed."""

import re
import time

import click

from pegboard.app.pegboard import Pegboard
from pegboard.cli import render
from pegboard.cli.shared import command_options, login_name, notice
from pegboard.errors import UsageError
from pegboard.model.calls import Role
from pegboard.model.tokens import Token

UNITS = {"h": 3_600.0, "d": 86_400.0, "w": 7 * 86_400.0}
MOST_SECONDS = 3_650 * UNITS["d"]

ROLES = click.Choice([each.value for each in Role])


@click.group()
def token() -> None:
    """Say who may ask the board over the network, and as what."""


@token.command("new")
@click.option(
    "--role", type=ROLES, required=True, help="What it allows; see docs/how-to/sign-in.md."
)
@click.option(
    "--namespace",
    "namespaces",
    multiple=True,
    help="Of which its owner is a member. An admin without any is one of the whole board.",
)
@click.option("--name", default="", help="What its owner is called. Default: made up.")
@click.option(
    "--expires", default="90d", show_default=True, help="12h, 90d, 4w, or never.", metavar="TIME"
)
@command_options
def new_token(
    role: str,
    namespaces: tuple[str, ...],
    name: str,
    expires: str,
    board: str | None,
    as_json: bool,
) -> None:
    """Make a token and print it. It cannot be shown again: only its hash is kept."""
    from pegboard.board.trust.tokens import make_token

    seconds = _seconds(expires)
    with Pegboard.open(board) as pegboard:
        made = make_token(
            pegboard.store,
            Role(role),
            namespaces=namespaces,
            name=name,
            seconds=seconds,
            by=login_name(),
        )
    if as_json:
        render.print_json({"token": made.text, **_facts(made.token)})
        return
    click.echo(made.text)
    notice(f"{_told(made.token)}; it is shown only now")
    if role == Role.AUTHOR and not namespaces:
        notice("it approves calls, and makes and changes nothing: for that it needs a --namespace")


@token.command("list")
@command_options
def list_tokens(board: str | None, as_json: bool) -> None:
    """Show the tokens of the board: whose they are, what they allow, and until when."""
    with Pegboard.open(board) as pegboard:
        found = pegboard.store.tokens.listed()
    if as_json:
        render.print_json([_facts(each) for each in found])
        return
    if not found:
        click.echo("there is no token yet; make one with: pegboard token new", err=True)
    for each in found:
        used = f"used {render.ago(each.used_at)}" if each.used_at else "never used"
        click.echo(f"{each.id}  {_told(each)}; {used}")


@token.command("revoke")
@click.argument("which", metavar="ID_OR_NAME")
@command_options
def end_token(which: str, board: str | None, as_json: bool) -> None:
    """End a token for good. Whoever has it is not let in any more."""
    from pegboard.board.trust.tokens import revoke_token

    with Pegboard.open(board) as pegboard:
        ended = revoke_token(pegboard.store, which, login_name())
    if as_json:
        render.print_json(_facts(ended))
    else:
        click.echo(f"{ended.name} ({ended.id}) is not let in any more", err=True)


def _seconds(said: str) -> float | None:
    if said == "never":
        return None
    found = re.fullmatch(r"([0-9]{1,6})([hdw])", said)
    seconds = int(found[1]) * UNITS[found[2]] if found else 0.0
    if not 0 < seconds <= MOST_SECONDS:
        raise UsageError(
            f"--expires is {said[:40]!r}", "write 12h, 90d or 4w, at most ten years, or never"
        )
    return seconds


def _facts(found: Token) -> dict[str, object]:
    return {**found._asdict(), "expired": found.expired(time.time())}


def _told(found: Token) -> str:
    where = ", ".join(found.namespaces)
    if not where:
        where = "the whole board" if found.caller.everywhere else "what is public"
    if found.expires_at is None:
        until = "until it is revoked"
    else:
        day = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(found.expires_at))
        until = f"expired {day}" if found.expired(time.time()) else f"until {day}"
    return f"{found.name}: {found.role} of {where}, {until}"
