"""The tokens of a board: by whom it may be asked over the network, and as what."""

from typing import NamedTuple

from pegboard.model.calls import Caller, Role


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
