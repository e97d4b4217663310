"""The tokens of a board: by whom it may be asked over the network, and as what."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from pegboard.calls import Caller, Role


class Token(NamedTuple):
    """What is known of a token, which is not the token itself: nobody can tell that any more."""

    id: str
    """The part of it that is no secret."""
    name: str
    """Unique on its board; what whoever brings it has as its subject."""
    role: Role
    namespaces: tuple[str, ...] = ()
    created_at: float = 0.0
    expires_at: float | None = None
    """None for one that lasts until it is revoked."""
    used_at: float | None = None
    """When it was last brought, to within an hour or so; None for never."""

    @property
    def caller(self) -> Caller:
        return Caller(self.name, self.namespaces, self.role)

    def expired(self, now: float) -> bool:
        return self.expires_at is not None and self.expires_at <= now


class KeptToken(NamedTuple):
    token: Token
    digest: bytes
    """SHA-256 of its secret."""


class Tokens(Protocol):
    """For the owner of the board alone, and for what speaks for the owner.

    Which come and go, and by whom, is in the audit log.
    """

    def add(self, kept: KeptToken, by: str = "") -> bool:
        """False if there is one of this name or id, whatever has become of it."""
        ...

    def find(self, token_id: str) -> KeptToken | None: ...

    def listed(self) -> Sequence[Token]:
        """All there are, expired ones too, in the order of their names."""
        ...

    def remove(self, token_id: str, by: str = "") -> None:
        """It is never good again; nothing happens if there is none."""
        ...

    def used(self, token_id: str, at: float) -> None:
        """Note that it was brought then, unless a later time is noted."""
        ...
