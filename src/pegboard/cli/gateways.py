"""Which commands can be asked of a gateway, and why the others cannot.

Every command is in one of the two tables, and takes `--gateway`: those in the second to say why
there is nothing to ask for.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import click

from pegboard.app.pegboard import located_gateway
from pegboard.cli.opening import GATEWAY, TOKEN_FILE
from pegboard.cli.shared import notice
from pegboard.errors import PegboardError, UsageError

Callback = Callable[[click.Context, click.Parameter, object], object]

AT_GATEWAYS = frozenset(
    {
        "activate",
        "add lightapi",
        "add mcp",
        "add openapi",
        "approve",
        "audit",
        "backfill",
        "changes",
        "create",
        "deactivate",
        "delete",
        "deprecate",
        "description",
        "diff",
        "doctor",
        "eval",
        "history",
        "links",
        "mcp",
        "prompt",
        "publish",
        "pull",
        "refresh",
        "rejections",
        "remove",
        "retry",
        "run",
        "runs",
        "search",
        "show",
        "status",
        "sync",
        "tags",
        "transfer",
        "unyank",
        "versions",
        "visibility",
        "yank",
    }
)

_THERE = "do it where the board is, with --board"
_KEYS = ("keys, and what is signed with them, stay with you", "leave --gateway out")

ONLY_HERE: Mapping[str, tuple[str, str]] = {
    "add folder": (
        "a gateway reads no folder of yours, and its own only where it runs",
        f"{_THERE}; one tool comes there with: pegboard create",
    ),
    "allow": ("it is about the servers that a pegboard.toml here would start", _THERE),
    "db": ("it is about the database itself", "name that with --board postgresql://..."),
    "init": ("it makes a board here, and a gateway has its own", "leave --gateway out"),
    "keys": _KEYS,
    "model": ("which model makes vectors is for whoever runs the gateway to say", _THERE),
    "rebuild": (
        "it makes a project's board, and a gateway has its own",
        "leave --gateway out",
    ),
    "schema": ("it prints what every Pegboard of this version takes", "leave --gateway out"),
    "secret": ("it is about the keyring of this machine", "do it where the gateway runs"),
    "serve": ("it is a gateway itself", "leave --gateway out"),
    "sign": _KEYS,
    "sync-user": ("it copies from a project here to a board here", "leave --gateway out"),
    "token": ("tokens are made where the board is, and nowhere else", _THERE),
    "verify": ("whom you trust is known here alone", "get the files, and verify those"),
    "worker": ("a gateway embeds what is queued by itself", "workers run where the board is"),
}
"""Why, and what to do instead: by command, or for all of a group."""


def offer_gateways(commands: click.Group) -> None:
    """Give every command the option, once all of them are there."""
    for name, command in leaves(commands):
        if name in AT_GATEWAYS:
            command.params += [_gateway_option(), _token_option()]
        else:
            for option in ("--gateway", "--token-file"):
                command.params.append(_refusing_option(option, *reason(name)))


def leaves(group: click.Group, prefix: str = "") -> Iterator[tuple[str, click.Command]]:
    """All commands that are no groups, by their whole names."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from leaves(command, f"{prefix}{name} ")
        else:
            yield f"{prefix}{name}", command


def reason(name: str) -> tuple[str, str]:
    return ONLY_HERE.get(name) or ONLY_HERE[name.partition(" ")[0]]


def _gateway_option() -> click.Option:
    return click.Option(
        ["--gateway"],
        metavar="URL",
        expose_value=False,
        callback=_kept(GATEWAY),
        help="Ask the gateway there, and its board. Default: $PEGBOARD_GATEWAY.",
    )


def _token_option() -> click.Option:
    return click.Option(
        ["--token-file"],
        metavar="FILE",
        type=click.Path(path_type=Path),
        expose_value=False,
        callback=_kept(TOKEN_FILE),
        help="Has the token that the gateway asks for. Default: $PEGBOARD_TOKEN is the token.",
    )


def _kept(name: str) -> Callback:
    def keep(context: click.Context, parameter: click.Parameter, value: object) -> object:
        context.meta[name] = value
        return value

    return keep


def _refusing_option(option: str, why: str, instead: str) -> click.Option:
    def refuse(context: click.Context, parameter: click.Parameter, value: object) -> None:
        if value is not None:
            raise UsageError(f"{context.command_path} asks no gateway: {why}", instead)
        if option == "--gateway":
            _tell_of_variable(context)

    return click.Option([option], hidden=True, expose_value=False, callback=refuse)


def _tell_of_variable(context: click.Context) -> None:
    """Whoever has set it might take the board here for the gateway's."""
    has_board = any(each.name == "board" for each in context.command.params)
    if not has_board or context.params.get("board") or context.info_name == "init":
        return
    try:
        place = located_gateway()
    except PegboardError:
        return
    if place is not None:
        notice(f"this is about the board here, and not about the one at {place.address}")
