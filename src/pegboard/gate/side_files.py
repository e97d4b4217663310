"""What is signed of an item, and the side file in which its signature is written down.

Nothing that a side file says makes this raise anything but `Refused`.
"""

import base64
import hashlib
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from pegboard.formats.semver import parse
from pegboard.gate.refusal import Refused
from pegboard.model.content import ItemFile
from pegboard.model.items import Item

ALGORITHM = "ed25519"
FORMAT = 1
MOST_BYTES = 1 << 20
INVALID = "signature_invalid"

_KEY_ID = re.compile(r"ed25519:[0-9a-f]{32}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")
_NAME = re.compile(r"[a-z0-9][a-z0-9_.@-]{0,62}")


class Sum(NamedTuple):
    """One file, as far as it is signed."""

    path: str
    executable: bool
    sha256: str


class Claim(NamedTuple):
    """What a signer says, and signs."""

    id: str
    kind: str
    namespace: str
    content: str
    """The hash over all files."""
    signer: str
    """The id of a key."""
    signed_at: str
    expires_at: str = ""
    version: str = ""
    """Of a release, its number; what is signed in a folder has none."""
    release: str = ""
    """Of a release, the hash of its record (`pegboard.gate.releases`)."""

    @property
    def said(self) -> dict[str, str]:
        return {name: value for name, value in self._asdict().items() if value}

    @property
    def payload(self) -> bytes:
        return canonical({"pegboard": FORMAT, **self.said})


class SideFile(NamedTuple):
    claim: Claim
    value: bytes
    signer_name: str
    """What the signer calls the key; whoever trusts it may call it something else."""
    public_key: bytes
    sums: tuple[Sum, ...]
    """So that it can be said which file changed."""


_FIELDS = frozenset(
    (*Claim._fields, *("pegboard", "algorithm", "signer_name", "public_key", "files", "value"))
)


def key_id(public_key: bytes) -> str:
    return f"{ALGORITHM}:{hashlib.sha256(public_key).hexdigest()[:32]}"


def is_key_name(text: str) -> bool:
    return _NAME.fullmatch(text) is not None


def moment(seconds: float) -> str:
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def is_moment(text: str) -> bool:
    try:
        return _MOMENT.fullmatch(text) is not None and bool(datetime.fromisoformat(text))
    except ValueError:
        return False


def sums(files: Iterable[ItemFile]) -> tuple[Sum, ...]:
    """The files by path, whatever order they come in and however their names are composed."""
    found = (
        Sum(normal(file.path), file.executable, hashlib.sha256(file.content).hexdigest())
        for file in files
    )
    return tuple(sorted(found))


def content_hash(listed: Sequence[Sum]) -> str:
    """A hash over all files of an item, its manifest or document among them."""
    return hashlib.sha256(canonical([list(each) for each in listed])).hexdigest()


def claimed(
    item: Item,
    files: Iterable[ItemFile],
    signer: str,
    signed_at: str,
    expires_at: str = "",
    *,
    version: str = "",
    release: str = "",
) -> Claim:
    """What somebody who signs this item, or a release of it, says about it."""
    return Claim(
        id=normal(item.id),
        kind=item.kind.value,
        namespace=item.namespace,
        content=content_hash(sums(files)),
        signer=signer,
        signed_at=signed_at,
        expires_at=expires_at,
        version=version,
        release=release,
    )


def written(
    claim: Claim,
    files: Iterable[ItemFile],
    *,
    signer_name: str,
    public_key: bytes,
    sign: Callable[[bytes], bytes],
) -> bytes:
    """The side file of a new signature."""
    said = {
        "pegboard": FORMAT,
        "algorithm": ALGORITHM,
        **claim.said,
        "signer_name": signer_name,
        "public_key": base64.b64encode(public_key).decode(),
        "files": [each._asdict() for each in sums(files)],
        "value": base64.b64encode(sign(claim.payload)).decode(),
    }
    return json.dumps(said, ensure_ascii=False, indent=2).encode() + b"\n"


def read(side_file: bytes) -> SideFile:
    """A side file that is consistent in itself; whether its signature is good is not looked at."""
    if len(side_file) > MOST_BYTES:
        raise _unusable(f"it has {len(side_file):,} bytes; at most {MOST_BYTES:,} are read")
    try:
        said = json.loads(side_file.decode(), object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise _unusable("it is not JSON, or not as Pegboard writes it") from error
    if not isinstance(said, dict) or said.get("pegboard") != FORMAT:
        raise _unusable(f"it is not of format {FORMAT}")
    if unknown := said.keys() - _FIELDS:
        raise _unusable(f"it has the unknown field {quoted(min(unknown))}")
    if said.get("algorithm") != ALGORITHM:
        raise _unusable(f"its algorithm is not {ALGORITHM}")
    found = SideFile(
        claim=Claim(**{name: _text(said, name) for name in Claim._fields}),
        value=decoded("value", said.get("value"), 64),
        signer_name=_text(said, "signer_name"),
        public_key=decoded("public_key", said.get("public_key"), 32),
        sums=_listed(said.get("files")),
    )
    _refuse_nonsense(found)
    return found


def _refuse_nonsense(found: SideFile) -> None:
    claim = found.claim
    if not _KEY_ID.fullmatch(claim.signer) or key_id(found.public_key) != claim.signer:
        raise _unusable("its signer is not the id of its public key")
    if not is_key_name(found.signer_name):
        raise _unusable("its signer_name is no name of a key")
    if not is_moment(claim.signed_at):
        raise _unusable("its signed_at is no time such as 2030-01-31T12:00:00Z")
    if claim.expires_at and not claim.signed_at < claim.expires_at:
        raise _unusable("its expires_at is not after its signed_at")
    if claim.expires_at and not is_moment(claim.expires_at):
        raise _unusable("its expires_at is no time such as 2030-01-31T12:00:00Z")
    if bool(claim.version) != bool(claim.release):
        raise _unusable("it has a version or a release, and not both")
    number = parse(claim.version)
    if claim.version and (str(number) != claim.version or not _SHA256.fullmatch(claim.release)):
        raise _unusable("its version or its release is none")
    if claim.content != content_hash(found.sums):
        raise _unusable("its list of files is not what was signed")


def _text(said: Mapping[str, Any], name: str) -> str:
    found = said.get(name, Claim._field_defaults.get(name))
    if not isinstance(found, str):
        raise _unusable(f"its {name} is missing or no text")
    canonical(found)
    return found


def _listed(said: object) -> tuple[Sum, ...]:
    if not isinstance(said, list):
        raise _unusable("its files are no list")
    found: dict[str, Sum] = {}
    for each in said:
        match each:
            case {"path": str(path), "executable": bool(executable), "sha256": str(sha256)} if (
                len(each) == len(Sum._fields) and path not in found and _SHA256.fullmatch(sha256)
            ):
                canonical(path)
                found[path] = Sum(path, executable, sha256)
            case _:
                raise _unusable("one of its files lacks path, executable or sha256, or is double")
    return tuple(sorted(found.values()))


def decoded(name: str, said: object, length: int) -> bytes:
    """Bytes from base64 that is written in the one way in which they can be."""
    try:
        found = base64.b64decode(said, validate=True) if isinstance(said, str) else b""
    except ValueError as error:
        raise _unusable(f"its {name} is not base64") from error
    if len(found) != length or base64.b64encode(found).decode() != said:
        raise _unusable(f"its {name} is not {length} bytes as base64")
    return found


def canonical(value: object) -> bytes:
    """JSON in the one way in which it can be written."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise _unusable("it has half a character in it") from error


def normal(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def quoted(text: str) -> str:
    return repr(text if len(text) <= 120 else f"{text[:117]}...")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a field is there twice")
    return found


def _unusable(reason: str) -> Refused:
    return Refused(INVALID, reason)
