"""Tokens: made, shown once, checked, revoked.

A token reads `pegb_`, its id, `_`, its secret. By the prefix it is known to programs that look for
lost secrets; by the id its row is found, without a look at the secret.
"""

import hashlib
import hmac
import re
import secrets
from collections.abc import Sequence
from typing import NamedTuple

from pegboard.errors import UsageError
from pegboard.gate.characters import first_forbidden, visible
from pegboard.gate.namespaces import NAMESPACE_RULE, is_namespace
from pegboard.model.calls import Role
from pegboard.model.releases import TEAM
from pegboard.model.tokens import KeptToken, Token
from pegboard.ports.store import Store

PREFIX = "pegb_"
SECRET_BYTES = 32
ID_BYTES = 6
KEPT_SECONDS = 90 * 86_400.0
"""So long a token is good, unless somebody says otherwise."""
LONGEST_NAME = 100
MOST_NAMESPACES = 100
TAKEN = frozenset({"local", "cli", "mcp", "python", "http"})
"""Names that stand for callers without a token."""

_ID = re.compile(r"[0-9a-f]{12}")
_TOKEN = re.compile(r"pegb_([0-9a-f]{12})_[A-Za-z0-9_-]{43}", re.ASCII)
_NO_DIGEST = bytes(32)


class NewToken(NamedTuple):
    token: Token
    text: str
    """The token itself, which is kept nowhere."""


def looks_like_token(text: str) -> bool:
    return text.startswith(PREFIX)


class BoardTokens:
    """Those of one board."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._tokens = store.tokens

    def make(
        self,
        role: Role,
        namespaces: Sequence[str] = (),
        name: str = "",
        seconds: float | None = KEPT_SECONDS,
        by: str = "",
    ) -> NewToken:
        """With `seconds` None it is good until it is revoked. Raises `UsageError`."""
        token_id = secrets.token_hex(ID_BYTES)
        text = f"{PREFIX}{token_id}_{secrets.token_urlsafe(SECRET_BYTES)}"
        now = self._store.now()
        token = Token(
            token_id,
            _checked_name(name or f"{role}-{token_id}"),
            role,
            _checked_namespaces(namespaces),
            now,
            None if seconds is None else now + seconds,
        )
        if not self._tokens.add(KeptToken(token, _digest(text)), by):
            raise UsageError(
                f"there is a token named {token.name} already",
                f"take another name, or end it first: pegboard token revoke {token.name}",
            )
        return NewToken(token, text)

    def listed(self) -> Sequence[Token]:
        """All there are, expired ones too, in the order of their names."""
        return self._tokens.listed()

    def any_good(self) -> bool:
        """Whether somebody could be let in by one of them now."""
        now = self._store.now()
        return any(not each.expired(now) for each in self._tokens.listed())

    def check(self, text: str, now: float) -> Token | None:
        """What is known of this token; None if it is not good, or no longer."""
        said = _TOKEN.fullmatch(text)
        kept = self._tokens.find(said[1]) if said else None
        # In constant time, and also where there is nothing to compare with.
        same = hmac.compare_digest(_digest(text), kept.digest if kept else _NO_DIGEST)
        return kept.token if kept and same and not kept.token.expired(now) else None

    def still_good(self, token_id: str, now: float) -> Token | None:
        """The same for one that was checked before."""
        kept = self._tokens.find(token_id)
        return kept.token if kept and not kept.token.expired(now) else None

    def used(self, token_id: str, at: float) -> None:
        """Note that it was brought then."""
        self._tokens.used(token_id, at)

    def revoke(self, which: str, by: str = "") -> Token:
        """By id or name. Raises `UsageError`."""
        found = [each for each in self._tokens.listed() if which in (each.id, each.name)]
        if not found:
            raise UsageError(
                f"there is no token {visible(which)[:LONGEST_NAME]}",
                "see them: pegboard token list",
            )
        self._tokens.remove(found[0].id, by)
        return found[0]


def _digest(text: str) -> bytes:
    # Slow hashes are for passwords, which can be guessed. A secret of 256 random bits cannot be, so
    # whoever has the hash gains nothing from its being quick, and every request is answered sooner.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _checked_name(name: str) -> str:
    if len(name) > LONGEST_NAME:
        raise UsageError(f"the name has {len(name)} characters; at most {LONGEST_NAME} are allowed")
    if forbidden := first_forbidden(name):
        raise UsageError(f"the name contains {forbidden}, which a reader cannot see", "remove it")
    if name != " ".join(name.split()):
        raise UsageError(f"{name!r} is no name", "leave out space around it, tabs and line breaks")
    if name in TAKEN or _ID.fullmatch(name) or name.startswith(TEAM):
        raise UsageError(f"{name} is no name for a token, it means something else", "take another")
    return name


def _checked_namespaces(namespaces: Sequence[str]) -> tuple[str, ...]:
    for each in namespaces:
        if not is_namespace(each):
            raise UsageError(f"{visible(each)[:80]!r} is no namespace", NAMESPACE_RULE)
    chosen = tuple(dict.fromkeys(namespaces))
    if len(chosen) > MOST_NAMESPACES:
        raise UsageError(f"{len(chosen)} namespaces; at most {MOST_NAMESPACES} are allowed")
    return chosen
