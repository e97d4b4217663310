"""Commands for keys and signatures: keys, sign, verify."""

from datetime import datetime
from pathlib import Path

import click

from pegboard.cli.shared import command_options, expires_option, json_option
from pegboard.model.items import DEFAULT_NAMESPACE

# What the commands do is loaded by those who use them, so that a search need not wait for it.

DATE = click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%SZ"])

namespaces_option = click.option(
    "--namespace",
    "namespaces",
    multiple=True,
    help="Trusted only for this namespace; team/* for all below team. Default: all.",
)


@click.group()
def keys() -> None:
    """Make keys to sign with, and say whose signatures to trust."""


@keys.command("new")
@click.argument("name")
@expires_option()
@namespaces_option
@json_option
def new_key(name: str, expires: float | None, namespaces: tuple[str, ...], as_json: bool) -> None:
    """Make a key of your own. Only you can read it, and it is never overwritten."""
    from pegboard.cli import signatures

    signatures.new_key(name, expires, namespaces, as_json=as_json)


@keys.command("list")
@json_option
def list_keys(as_json: bool) -> None:
    """Show your own keys and those you trust."""
    from pegboard.cli import signatures

    signatures.list_keys(as_json=as_json)


@keys.command("trust")
@click.argument("key", nargs=-1, required=True, metavar="FILE_OR_PUBLIC_KEY")
@click.option("--name", required=True, help="What to call its owner.")
@namespaces_option
@click.option("--from", "since", type=DATE, help="Only what was signed since then (UTC).")
@click.option("--until", type=DATE, help="Only what was signed until then (UTC).")
@json_option
def trust_key(
    key: tuple[str, ...],
    name: str,
    namespaces: tuple[str, ...],
    since: datetime | None,
    until: datetime | None,
    as_json: bool,
) -> None:
    """Trust what the owner of a key signs.

    The key is the line that `pegboard keys export` prints, or a file with it. For a key that is
    trusted already, namespaces and dates are replaced.
    """
    from pegboard.cli import signatures

    signatures.trust_key(" ".join(key), name, namespaces, since, until, as_json=as_json)


@keys.command("export")
@click.argument("name")
@json_option
def export_key(name: str, as_json: bool) -> None:
    """Print a public key, for others to trust."""
    from pegboard.cli import signatures

    signatures.export_key(name, as_json=as_json)


@keys.command("revoke")
@click.argument("key", metavar="NAME_OR_ID")
@click.option("--reason", default="", help="Why, for those who ask later.")
@json_option
def revoke_key(key: str, reason: str, as_json: bool) -> None:
    """Believe nothing any more that a key signed, whenever that was. There is no way back."""
    from pegboard.cli import signatures

    signatures.revoke_key(key, reason, as_json=as_json)


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--key", help="Which of your keys. Default: the only one.")
@expires_option()
@click.option(
    "--namespace",
    default=DEFAULT_NAMESPACE,
    show_default=True,
    help="Where the item will hang; the signature is good for no other.",
)
@json_option
def sign(path: Path, key: str | None, expires: float | None, namespace: str, as_json: bool) -> None:
    """Sign a tool, directive, knowledge or skill: its file, or its folder.

    The signature is written beside the document, as tool.yaml.sig or release.py.sig.
    """
    from pegboard.cli import signatures

    signatures.sign(path, key, expires, namespace, as_json=as_json)


@click.command()
@click.argument("target", metavar="PATH_OR_ID")
@click.option("--namespace", help="Where it is to hang. Default: the one it is signed for.")
@command_options
def verify(target: str, namespace: str | None, board: str | None, as_json: bool) -> None:
    """Check a signature: of an item in a folder, or of what is on the board.

    Exit code 0: trusted, 12: anything else.
    """
    from pegboard.cli import signatures

    signatures.verify(target, namespace, board, as_json=as_json)
