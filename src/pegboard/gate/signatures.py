"""Whether the signature of an item is to be believed, and what the gate makes of that.

Pure: trusted signers, policy and time are handed in.
"""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from pegboard.gate.namespaces import is_namespace
from pegboard.gate.refusal import Refused
from pegboard.gate.side_files import (
    ALGORITHM,
    INVALID,
    Claim,
    SideFile,
    Sum,
    canonical,
    claimed,
    decoded,
    moment,
    normal,
    quoted,
    read,
    sums,
)
from pegboard.gate.versions import UNNUMBERED
from pegboard.model.content import ItemFile, Signature
from pegboard.model.items import DEFAULT_NAMESPACE, Candidate, Form, Item

GRACE_SECONDS = 300
"""So far may the clock of a signer be ahead."""
EVERYWHERE = "*"


class Policy(StrEnum):
    """What becomes of items whose signature is missing or not to be believed."""

    REQUIRE = "require"
    WARN = "warn"
    OFF = "off"


class State(StrEnum):
    TRUSTED = "trusted"
    UNSIGNED = "unsigned"
    CHANGED = "changed"
    INVALID = "invalid"
    UNKNOWN = "unknown signer"
    EXPIRED = "expired"
    EARLY = "not yet valid"
    REVOKED = "revoked"
    NOT_ALLOWED = "not allowed in this namespace"


CODES: Mapping[State, str] = {
    State.UNSIGNED: "unsigned",
    State.CHANGED: "signature_changed",
    State.INVALID: INVALID,
    State.UNKNOWN: "signer_unknown",
    State.EXPIRED: "signature_expired",
    State.EARLY: "signature_early",
    State.REVOKED: "signer_revoked",
    State.NOT_ALLOWED: "signer_not_allowed",
}
NEVER = frozenset({State.CHANGED, State.INVALID, State.REVOKED})
"""No policy lets these pass: worse than no signature is one that speaks against the item."""


class TrustedKey(NamedTuple):
    """A signer whom this person believes, or once believed."""

    id: str
    name: str
    public_key: bytes
    namespaces: tuple[str, ...] = (EVERYWHERE,)
    valid_from: str = ""
    valid_until: str = ""
    revoked_at: str = ""
    reason: str = ""

    @property
    def told(self) -> str:
        """For people who look up whom a board believed, and when."""
        bounds = f"{self.valid_from[:10]} to {self.valid_until[:10]}".strip()
        parts = [f"{self.name} {self.id} for {', '.join(self.namespaces)}"]
        parts += [bounds] if bounds != "to" else []
        parts += ["revoked"] if self.revoked_at else []
        return ", ".join(parts)

    def allows(self, namespace: str) -> bool:
        return any(
            pattern in (EVERYWHERE, namespace)
            or (pattern.endswith("/*") and namespace.startswith(pattern[:-1]))
            for pattern in self.namespaces
        )


_ANEW = "sign it again with another key"

Trusted = Mapping[str, TrustedKey]
"""By id."""


class Verdict(NamedTuple):
    state: State
    reason: str
    """Why it is not trusted, with what to do about it."""
    signature: Signature | None = None


def is_namespace_pattern(text: str) -> bool:
    """`*`, a namespace, or `team/*` for all that is below it."""
    return text == EVERYWHERE or is_namespace(text.removesuffix("/*"))


def check(
    side_file: bytes,
    item: Item,
    files: Sequence[ItemFile],
    trusted: Trusted,
    now: float,
    *,
    pulled: bool = False,
) -> Verdict:
    """Whether the signature beside an item is that of a trusted signer for exactly this item.

    With `pulled`, also that of a release for another namespace, from where it was taken.
    """
    if not side_file:
        return Verdict(State.UNSIGNED, "it is not signed; sign it with: pegboard sign")
    try:
        found = read(side_file)
    except Refused as refused:
        return Verdict(State.INVALID, f"its signature cannot be used: {refused.reason}")
    if differs := _difference(found.sums, sums(files)):
        return _verdict(State.CHANGED, f"{differs}; if that is right, sign it again", found)
    if other := _other_item(found.claim, item, pulled):
        return _verdict(State.INVALID, other, found)
    known = trusted.get(found.claim.signer)
    # A key of the side file's own tells nothing of who signed, only that nothing changed since.
    if not _verifies(known.public_key if known else found.public_key, found.value, found.claim):
        return _verdict(State.INVALID, "its signature is not that of its signer", found)
    return _verdict(*_worth(found.claim, known, now), found)


def check_release(
    side_file: bytes, record: str, item: Item, trusted: Trusted, now: float
) -> Verdict:
    """As `check`, for a release: its number and its record must be those that were signed."""
    version = item.version
    verdict = check(side_file, item, version.files if version else (), trusted, now)
    if verdict.signature is None or version is None:
        return verdict
    found = read(side_file)
    if found.claim.namespace != item.namespace:
        other = f"it is signed for {quoted(found.claim.namespace)}, not {quoted(item.namespace)}"
        return _verdict(State.INVALID, other, found)
    if found.claim.version != version.version:
        was = f"version {quoted(found.claim.version)}" if found.claim.version else "no release"
        other = f"it is signed as {was}, and this is version {quoted(version.version)}"
        return _verdict(State.INVALID, other, found)
    if found.claim.release != hashlib.sha256(record.encode()).hexdigest():
        return _verdict(State.INVALID, "its record is not the one that was signed", found)
    return verdict


def check_kept(
    kept: Signature, item: Item, files: Sequence[ItemFile], trusted: Trusted, now: float
) -> Verdict:
    """As `check`, for what a board has kept of a signature."""
    if not kept.value or kept.algorithm != ALGORITHM:
        return Verdict(State.UNSIGNED, "it has no signature that can be checked")
    claim = claimed(item, files, kept.signer, kept.signed_at, kept.expires_at)
    known = trusted.get(kept.signer)
    try:
        value = decoded("value", kept.value, 64)
    except Refused as refused:
        return Verdict(State.INVALID, refused.reason)
    if known is not None and not _verifies(known.public_key, value, claim):
        state, reason = State.CHANGED, "what is on the board is not what was signed"
    else:
        state, reason = _worth(claim, known, now)
    return Verdict(state, reason, kept._replace(state=state.value))


def _verdict(state: State, reason: str, found: SideFile) -> Verdict:
    signature = Signature(
        signer=found.claim.signer,
        algorithm=ALGORITHM,
        value=base64.b64encode(found.value).decode(),
        signed_at=found.claim.signed_at,
        state=state.value,
        expires_at=found.claim.expires_at,
    )
    return Verdict(state, reason, signature)


def _worth(claim: Claim, key: TrustedKey | None, now: float) -> tuple[State, str]:
    """What a signature that fits its item is worth."""
    if key is None:
        return (
            State.UNKNOWN,
            f"its signer {claim.signer} is not trusted here;"
            " if you know the key, trust it with: pegboard keys trust",
        )
    if key.revoked_at:
        why = f" ({key.reason})" if key.reason else ""
        return (
            State.REVOKED,
            f"the key {key.name!r} was revoked on {key.revoked_at[:10]}{why}; {_ANEW}",
        )
    if not key.allows(claim.namespace):
        return (
            State.NOT_ALLOWED,
            f"the key {key.name!r} is not trusted for namespace {claim.namespace!r},"
            f" only for: {', '.join(key.namespaces)}",
        )
    if claim.signed_at > moment(now + GRACE_SECONDS):
        return (
            State.EARLY,
            f"it is signed at {claim.signed_at}, which is yet to come; is the clock right here?",
        )
    if claim.signed_at < key.valid_from:
        return State.EARLY, f"{key.name!r} is trusted only from {key.valid_from}; {_ANEW}"
    if key.valid_until and claim.signed_at > key.valid_until:
        return State.EXPIRED, f"{key.name!r} is trusted only until {key.valid_until}; {_ANEW}"
    if claim.expires_at and claim.expires_at <= moment(now):
        return State.EXPIRED, f"its signature ended at {claim.expires_at}; sign it again"
    return State.TRUSTED, ""


def _verifies(public_key: bytes, value: bytes, claim: Claim) -> bool:
    # Loaded here because it takes long, and most boards have nothing that is signed.
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(value, claim.payload)
    except (InvalidSignature, ValueError):
        return False
    return True


def _other_item(claim: Claim, item: Item, pulled: bool) -> str:
    """A release that was pulled keeps the namespace it was made for, where nothing else is meant.

    A folder whose items hang in a namespace that somebody chose is held to that.
    """
    signed = (claim.kind, claim.id, claim.namespace)
    here = (item.kind.value, normal(item.id), item.namespace)
    elsewhere = pulled and bool(claim.version) and item.namespace == DEFAULT_NAMESPACE
    if signed == here or (elsewhere and signed[:2] == here[:2]):
        return ""
    was, now = (
        f"{' '.join(map(quoted, each[:2]))} in {quoted(each[2])}" for each in (signed, here)
    )
    return f"it is signed as {was}, and this is {now}"


def _difference(signed: Sequence[Sum], there: Sequence[Sum]) -> str:
    """The first thing that is not as it was signed."""
    if signed == there:
        return ""
    before, after = ({each.path: each for each in listed} for listed in (signed, there))
    for path in sorted(before.keys() | after.keys()):
        if path not in after:
            return f"{quoted(path)} was signed and is gone"
        if path not in before:
            return f"{quoted(path)} was added after it was signed"
        if before[path].sha256 != after[path].sha256:
            return f"{quoted(path)} changed since it was signed"
        if before[path].executable != after[path].executable:
            return f"whether {quoted(path)} can be executed changed since it was signed"
    return "two of its files have the same name"


def is_signable(candidate: Candidate) -> bool:
    """Whether it is a document, or a file that stands for one, and so can have a side file.

    For what a source reads from elsewhere, whoever added the source vouches.
    """
    return candidate.form is not Form.FIELDS or candidate.fields.get("signable") is True


def _with_release(item: Item, side_file: bytes, state: State) -> Item:
    """With the side file of a release, which cannot be told again from what else is kept of it.

    If it is believed, it also says which version this is where the document says none.
    """
    number = read(side_file).claim.version if side_file else ""
    if item.version is None or not number:
        return item
    own = item.version.version
    named = number if state is State.TRUSTED and own.startswith(UNNUMBERED) else own
    version = item.version._replace(version=named, side_file=side_file.decode())
    return item._replace(version=version)


class Seal(NamedTuple):
    """What a gate asks about signatures: the policy, whom to believe, and the time."""

    policy: Policy
    trusted: Trusted
    now: float
    pulled: bool = False
    """Whether releases of other namespaces may lie here: with people, not on a registry."""

    def judge(self, candidate: Candidate, item: Item) -> Item:
        """The item with its signature and what that is worth, or `Refused`."""
        if not is_signable(candidate) or (not candidate.signature and self.policy is Policy.OFF):
            return item
        found = check(
            candidate.signature, item, candidate.files, self.trusted, self.now, pulled=self.pulled
        )
        if not self.passes(found.state):
            raise Refused(CODES[found.state], found.reason)
        unsigned = Signature("", "", "", "", found.state.value)
        known = _with_release(item, candidate.signature, found.state)
        return known._replace(signature=found.signature or unsigned)

    def passes(self, state: State) -> bool:
        return state is State.TRUSTED or (self.policy is not Policy.REQUIRE and state not in NEVER)

    @property
    def mark(self) -> str:
        """Another one whenever, but for the time, an item could meet with another verdict."""
        keys = [
            (each.id, each.namespaces, each.valid_from, each.valid_until, bool(each.revoked_at))
            for _, each in sorted(self.trusted.items())
        ]
        return hashlib.sha256(canonical((self.policy, keys))).hexdigest()[:16]
