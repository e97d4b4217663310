"""What the commands for keys and signatures do, and what they print."""

import base64
import time
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import click

from pegboard.app.pegboard import Pegboard, located
from pegboard.board.trust import signing
from pegboard.board.trust.keyring import KeptKey, Keyring, public_key
from pegboard.cli import render
from pegboard.cli.shared import notice
from pegboard.config.places import keyring_folder
from pegboard.errors import NotTrusted, UsageError
from pegboard.gate.admission import NAMESPACE_RULE, is_namespace
from pegboard.gate.characters import visible
from pegboard.gate.side_files import key_id, moment
from pegboard.gate.signatures import EVERYWHERE, State, Trusted, TrustedKey, Verdict
from pegboard.model.items import DEFAULT_NAMESPACE, Drift

LONGEST_FILE = 10_000
NEXT = "what is on boards is judged anew by: pegboard sync"


def new_key(
    name: str, expires: float | None, namespaces: tuple[str, ...], *, as_json: bool
) -> None:
    keyring = _keyring()
    until = moment(time.time() + expires) if expires else ""
    key = keyring.new(name, namespaces, until)
    if as_json:
        render.print_json(_facts(KeptKey(key, own=True)))
        return
    click.echo(f"made {key.name}, {key.id}")
    click.echo(f"for others to trust: {keyring.public_line(name)}")
    click.echo("next: pegboard sign PATH")


def list_keys(*, as_json: bool) -> None:
    found = _keyring().listed()
    if as_json:
        render.print_json({"keys": [_facts(each) for each in found]})
        return
    for each in found:
        click.secho(f"{each.key.name}  {each.key.id}", bold=True)
        click.echo("    " + "; ".join(_described(each)))
    if not found:
        click.echo("no keys yet; make one with: pegboard keys new NAME")


def trust_key(
    key: str,
    name: str,
    namespaces: tuple[str, ...],
    since: datetime | None,
    until: datetime | None,
    *,
    as_json: bool,
) -> None:
    public = _public_key(key)
    trusted = TrustedKey(
        key_id(public), name, public, namespaces or (EVERYWHERE,), _moment(since), _moment(until)
    )
    _keyring().trust(trusted)
    _tell(trusted, f"trusted {name}, {trusted.id}", as_json)


def export_key(name: str, *, as_json: bool) -> None:
    line = _keyring().public_line(name)
    if as_json:
        render.print_json({"name": name, "public_key": line})
    else:
        click.echo(line)


def revoke_key(key: str, reason: str, *, as_json: bool) -> None:
    revoked = _keyring().revoke(key, reason, moment(time.time()))
    _tell(revoked, f"revoked {revoked.name}, {revoked.id}", as_json)


def sign(
    path: Path, key: str | None, expires: float | None, namespace: str, *, as_json: bool
) -> None:
    done = signing.sign(_keyring(), _found(path, namespace), key, expires)
    if as_json:
        render.print_json({**_outcome(done.verdict), "file": str(done.side_file)})
    else:
        click.echo(f"signed {done.item.kind} {done.item.name} in {done.item.namespace}: {path}")
        click.echo(f"{done.side_file} by {done.key}")
    if done.verdict.state is not State.TRUSTED:
        notice(done.verdict.reason)


def verify(target: str, namespace: str | None, board: str | None, *, as_json: bool) -> None:
    trusted = _keyring().trusted()
    if Path(target).exists():
        verdict = _verify_path(Path(target), namespace, trusted)
    elif namespace is not None:
        raise UsageError(
            f"there is no file {target}", "--namespace is for a path, and not for an id"
        )
    else:
        verdict = _verify_on_board(target, board, trusted)
    if as_json:
        render.print_json(_outcome(verdict))
    else:
        _print(verdict, trusted)
    if verdict.state is not State.TRUSTED:
        raise NotTrusted(f"{target}: {visible(verdict.reason)}")


def _verify_path(path: Path, namespace: str | None, trusted: Trusted) -> Verdict:
    found = _found(path, namespace or DEFAULT_NAMESPACE)
    if namespace is None:
        signed_for = signing.signed_namespace(found)
        found = found._replace(item=found.item._replace(namespace=signed_for))
    return signing.verify(found, trusted)


def _verify_on_board(target: str, board: str | None, trusted: Trusted) -> Verdict:
    with Pegboard.open(board) as pegboard:
        entry = pegboard.show(target)
    if entry.drift is Drift.MISSING:
        raise NotTrusted(
            f"{target} is no longer on the board: it is gone from its source, or was refused",
            "see what was refused, and why: pegboard rejections",
        )
    return signing.verify_entry(entry, trusted)


def _found(path: Path, namespace: str) -> signing.Found:
    if not is_namespace(namespace):
        raise UsageError(f"{namespace!r} is no namespace", NAMESPACE_RULE)
    return signing.item_at(path, namespace, located().settings.sync.max_file_bytes)


def _keyring() -> Keyring:
    return Keyring(keyring_folder(located().settings))


def _public_key(text: str) -> bytes:
    """The key that the text is, or else the one that the file of this name holds.

    In this order: a cloned project may have a file that is called like somebody's key.
    """
    with suppress(UsageError):
        return public_key(text)
    try:
        with Path(text).open("rb") as file:
            return public_key(file.read(LONGEST_FILE).decode("utf-8", "replace"))
    except FileNotFoundError:
        return public_key(text)
    except (OSError, ValueError) as error:
        raise UsageError(f"{visible(text)} cannot be read: {error}") from error


def _moment(date: datetime | None) -> str:
    return date.strftime("%Y-%m-%dT%H:%M:%SZ") if date else ""


def _tell(key: TrustedKey, text: str, as_json: bool) -> None:
    if as_json:
        render.print_json(_facts(KeptKey(key, own=key.name in _keyring().names())))
    else:
        click.echo(text)
        click.echo(NEXT)


def _facts(kept: KeptKey) -> dict[str, object]:
    public = base64.b64encode(kept.key.public_key).decode()
    return {**kept.key._asdict(), "public_key": public, "own": kept.own, "problem": kept.problem}


def _described(kept: KeptKey) -> list[str]:
    key = kept.key
    trusted = "all namespaces" if EVERYWHERE in key.namespaces else ", ".join(key.namespaces)
    facts = {
        "your own": kept.own,
        f"trusted for {trusted}": key.namespaces and not key.revoked_at,
        f"from {key.valid_from}": key.valid_from,
        f"until {key.valid_until}": key.valid_until,
        f"revoked at {key.revoked_at}": key.revoked_at,
        visible(key.reason): key.reason,
        kept.problem: kept.problem,
    }
    return [fact for fact, holds in facts.items() if holds]


def _outcome(verdict: Verdict) -> dict[str, object]:
    signature = verdict.signature
    return {
        "state": verdict.state.value,
        "reason": visible(verdict.reason),
        "signer": signature.signer if signature else "",
        "signed_at": signature.signed_at if signature else "",
        "expires_at": signature.expires_at if signature else "",
    }


def _print(verdict: Verdict, trusted: Trusted) -> None:
    facts = {"state": verdict.state.value}
    if signature := verdict.signature:
        known = trusted.get(signature.signer)
        facts["signer"] = f"{known.name} ({known.id})" if known else signature.signer
        facts |= {"signed": signature.signed_at, "until": signature.expires_at}
    for name, fact in facts.items():
        if fact:
            click.echo(f"{name:<10} {fact}")
