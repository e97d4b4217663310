"""A person's own keys, and the list of signers whom that person trusts, on disk.

Both are private to the person: a private key that others can read is no longer one, and whoever can
write the list decides what is trusted. So neither is read if others could have had a hand in it.
"""

import base64
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pegboard.board.trust.private_files import locked, read_private, replace, write_new
from pegboard.errors import KeyUnusable, UsageError
from pegboard.gate.refusal import Refused
from pegboard.gate.side_files import decoded, is_key_name, is_moment, key_id
from pegboard.gate.signatures import EVERYWHERE, TrustedKey, is_namespace_pattern

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

FORMAT = 1
PUBLIC = "pegboard-ed25519"
"""How the line begins by which a public key is handed on."""

_RESTORE = "restore it from a backup; nothing is trusted by a list or key that cannot be read"
_NAME_RULE = "it takes lower-case letters, digits, '-', '_', '.' and '@', at most 63 of them"
_MOMENTS = ("valid_from", "valid_until", "revoked_at")


class KeptKey(NamedTuple):
    key: TrustedKey
    own: bool
    """Whether its private half is here."""
    problem: str = ""


class Keyring:
    def __init__(self, home: Path) -> None:
        self.list = home / "trusted.json"
        self._keys = home / "keys"

    def new(self, name: str, namespaces: tuple[str, ...] = (), valid_until: str = "") -> TrustedKey:
        """A new key of this person, trusted from now on."""
        from cryptography.hazmat.primitives import serialization as form
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        private = Ed25519PrivateKey.generate()
        public = private.public_key().public_bytes_raw()
        key = _checked(
            TrustedKey(
                key_id(public), name, public, namespaces or (EVERYWHERE,), valid_until=valid_until
            )
        )
        pem = private.private_bytes(
            form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption()
        )
        with self._writing() as entries:
            _refuse_taken(entries, key)
            self._keys.mkdir(mode=0o700, exist_ok=True)
            try:
                write_new(self._path(name), pem)
            except FileExistsError as error:
                raise UsageError(
                    f"there is a key {name!r} already: {self._path(name)}",
                    "choose another name; keys are never overwritten",
                ) from error
            entries[key.id] = key
        return key

    def names(self) -> list[str]:
        """The keys whose private half is here."""
        return sorted(path.stem for path in self._keys.glob("*.key") if is_key_name(path.stem))

    def chosen(self, name: str | None) -> str:
        """The key of that name, or the only one that is not revoked."""
        names = self.names()
        if name is not None:
            if name in names:
                return name
            known = ", ".join(names) or "none; make one with: pegboard keys new NAME"
            raise UsageError(f"there is no key {name!r} here", f"known: {known}")
        revoked = {each.name for each in self.trusted().values() if each.revoked_at}
        good = [each for each in names if each not in revoked]
        if len(good) > 1:
            raise UsageError("which key? " + ", ".join(good), "name one with --key")
        if not good:
            gone = f": {', '.join(names)} was revoked" if names else ""
            hint = "make one with: pegboard keys new NAME"
            raise UsageError(f"there is no key to sign with{gone}", hint)
        return good[0]

    def private(self, name: str) -> "Ed25519PrivateKey":
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        path = self._path(name)
        try:
            found = load_pem_private_key(read_private(path), password=None)
        except FileNotFoundError as error:
            raise UsageError(f"there is no key {name!r} here", str(path)) from error
        except (ValueError, TypeError, UnsupportedAlgorithm) as error:
            raise KeyUnusable(f"{path} is no private key, or is damaged", _RESTORE) from error
        if not isinstance(found, Ed25519PrivateKey):
            raise KeyUnusable(f"{path} is not an Ed25519 key", "make one with: pegboard keys new")
        return found

    def public_line(self, name: str) -> str:
        """What to hand to others, so that they can trust this key."""
        known = [each.public_key for each in self.trusted().values() if each.name == name]
        public = known[0] if known else self._public(self.chosen(name))
        return f"{PUBLIC} {base64.b64encode(public).decode()} {name}"

    def listed(self) -> list[KeptKey]:
        """All keys, with what is wrong with those that cannot be used."""
        found = {key.name: KeptKey(key, own=False) for key in self.trusted().values()}
        for name in self.names():
            before = found.get(name)
            try:
                public = self._public(name)
            except KeyUnusable as error:
                unknown = TrustedKey("", name, b"", ())
                found[name] = KeptKey(before.key if before else unknown, True, error.message)
                continue
            if before is None:
                key = TrustedKey(key_id(public), name, public, ())
                found[name] = KeptKey(key, True, "not trusted here")
            elif before.key.public_key == public:
                found[name] = before._replace(own=True)
            else:
                found[name] = before._replace(
                    problem=f"{self._path(name)} is another key of the same name"
                )
        return [found[name] for name in sorted(found)]

    def trusted(self) -> dict[str, TrustedKey]:
        """By id, revoked ones included. A list that cannot be read is an error, and not empty."""
        try:
            found = read_private(self.list)
        except FileNotFoundError:
            return {}
        try:
            said = json.loads(found.decode())
            if not isinstance(said, dict) or said.get("pegboard") != FORMAT:
                raise ValueError(f"it is not of format {FORMAT}")
            keys = [_entry(each) for each in said["keys"]]
            if len({key.id for key in keys}) < len(keys):
                raise ValueError("a key is in it twice")
        except (ValueError, KeyError, TypeError, RecursionError, Refused, UsageError) as error:
            raise KeyUnusable(f"{self.list} is damaged: {error}", _RESTORE) from error
        return {key.id: key for key in keys}

    def trust(self, key: TrustedKey) -> None:
        """From now on; for a key that is trusted already, with these bounds instead of the old."""
        _checked(key)
        with self._writing() as entries:
            before = entries.get(key.id)
            if before is not None and before.revoked_at:
                raise UsageError(
                    f"this key was revoked on {before.revoked_at[:10]}, as {before.name!r}",
                    "a revoked key stays so; ask its owner for a new one",
                )
            if before is None or before.name != key.name:
                _refuse_taken(entries, key)
            entries[key.id] = key

    def revoke(self, name_or_id: str, reason: str, moment: str) -> TrustedKey:
        """From now on nothing that it signed is believed, whenever that was. There is no way back.

        Revoking it again changes nothing.
        """
        with self._writing() as entries:
            key = next((k for k in entries.values() if name_or_id in (k.name, k.id)), None)
            if key is None:
                known = ", ".join(sorted(each.name for each in entries.values())) or "none"
                raise UsageError(f"there is no key {name_or_id!r} here", f"known: {known}")
            if not key.revoked_at:
                key = key._replace(revoked_at=moment, reason=reason)
                entries[key.id] = key
        return key

    def _public(self, name: str) -> bytes:
        return self.private(name).public_key().public_bytes_raw()

    def _path(self, name: str) -> Path:
        if not is_key_name(name):
            raise UsageError(f"{name!r} is no name of a key", _NAME_RULE)
        return self._keys / f"{name}.key"

    @contextmanager
    def _writing(self) -> Iterator[dict[str, TrustedKey]]:
        """The list, to be changed; written when the block ends well, by one process at a time."""
        try:
            self.list.parent.mkdir(parents=True, exist_ok=True)
            with locked(self.list.with_suffix(".lock")):
                entries = self.trusted()
                yield entries
                replace(self.list, _text(entries))
        except OSError as error:
            raise KeyUnusable(
                f"{error.filename or self.list} cannot be written: {error.strerror}",
                "check its owner and permissions, and that the disk is not full",
            ) from error


def public_key(text: str) -> bytes:
    """The key in a line of `public_line`, or in its middle part alone."""
    if "PRIVATE KEY" in text:
        raise UsageError(
            "this is a private key, which belongs to nobody but its owner",
            "ask for the line that this prints: pegboard keys export NAME",
        )
    parts = text.split()
    try:
        return decoded("public key", parts[1] if parts[:1] == [PUBLIC] else text.strip(), 32)
    except (Refused, IndexError) as error:
        raise UsageError(
            "this is no public key",
            "it is a line such as pegboard keys export prints, or a file that holds it",
        ) from error


def _checked(key: TrustedKey) -> TrustedKey:
    if not is_key_name(key.name):
        raise UsageError(f"{key.name!r} is no name of a key", _NAME_RULE)
    for pattern in key.namespaces:
        if not is_namespace_pattern(pattern):
            raise UsageError(f"{pattern!r} is no namespace", "write one as team, team/* or *")
    if key.valid_until and key.valid_until <= key.valid_from:
        raise UsageError(f"a key cannot end on {key.valid_until} and begin on {key.valid_from}")
    return key


def _refuse_taken(entries: Mapping[str, TrustedKey], key: TrustedKey) -> None:
    for other in entries.values():
        if other.id == key.id:
            raise UsageError(f"this key is here already, as {other.name!r}", "use that name")
        if other.name == key.name:
            raise UsageError(f"{key.name!r} is another key: {other.id}", "choose another name")


def _entry(said: Mapping[str, Any]) -> TrustedKey:
    public = decoded("public key", said["public_key"], 32)
    texts = {name: said.get(name, "") for name in ("name", "reason", *_MOMENTS)}
    namespaces = said["namespaces"]
    if not isinstance(namespaces, list):
        raise ValueError("namespaces are no list")
    if not all(isinstance(each, str) for each in (*texts.values(), *namespaces)):
        raise ValueError("something is no text")
    if wrong := [name for name in _MOMENTS if texts[name] and not is_moment(texts[name])]:
        raise ValueError(f"{wrong[0]} is no time")
    return _checked(
        TrustedKey(key_id(public), public_key=public, namespaces=(*namespaces,), **texts)
    )


def _text(entries: Mapping[str, TrustedKey]) -> bytes:
    keys = [
        key._asdict() | {"public_key": base64.b64encode(key.public_key).decode()}
        for key in sorted(entries.values(), key=lambda each: each.name)
    ]
    return json.dumps({"pegboard": FORMAT, "keys": keys}, indent=2).encode() + b"\n"
