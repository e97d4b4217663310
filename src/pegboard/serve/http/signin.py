"""Who asks: by a token of this board, by one of an identity provider, or from this machine."""

from starlette.requests import HTTPConnection

from pegboard.calls import Caller, Role
from pegboard.errors import NotSignedIn


class LocalSignIn:
    """Everybody on this machine has one role; without a role, nobody is let in."""

    def __init__(self, role: str) -> None:
        self._role = Role(role) if role != "off" else None

    async def caller(self, connection: HTTPConnection) -> Caller:
        if self._role is None:
            raise NotSignedIn("a token is needed", "make one with: pegboard token new")
        return Caller("local", (), self._role)
