"""Commands for tokens: token new, list, revoke. What they do is loaded when it is needed."""

import time

import click

from pegboard.app.pegboard import Pegboard
from pegboard.cli import render
from pegboard.cli.shared import command_options, expires_option, login_name, notice
from pegboard.model.calls import Role
from pegboard.model.tokens import Token

ROLES = click.Choice([each.value for each in Role])


@click.group()
def token() -> None:
    """Say who may ask the board over the network, and as what."""


@token.command("new")
@click.option(
    "--role",
    type=ROLES,
    required=True,
    help="A reader finds and calls, an author adds and approves, an admin decides.",
)
@click.option(
    "--namespace",
    "namespaces",
    multiple=True,
    help="Of which its owner is a member. An admin without any is one of the whole board.",
)
@click.option("--name", default="", help="What its owner is called. Default: made up.")
@expires_option("90d")
@command_options
def new_token(
    role: str,
    namespaces: tuple[str, ...],
    name: str,
    expires: float | None,
    board: str | None,
    as_json: bool,
) -> None:
    """Make a token and print it. It cannot be shown again: only its hash is kept."""
    with Pegboard.open(board) as pegboard:
        made = pegboard.tokens.make(Role(role), namespaces, name, expires, login_name())
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
        found = pegboard.tokens.listed()
    if as_json:
        render.print_json({"tokens": [_facts(each) for each in found]})
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
    with Pegboard.open(board) as pegboard:
        ended = pegboard.tokens.revoke(which, login_name())
    if as_json:
        render.print_json(_facts(ended))
    else:
        click.echo(f"{ended.name} ({ended.id}) is not let in any more", err=True)


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
