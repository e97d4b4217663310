"""Who is signed in on the page: sessions of this process, known to a browser by a cookie.

The cookie is a random number and not the token: what it opens ends with the process, with the
token, or after some hours.
"""

import hashlib
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

from starlette.requests import HTTPConnection
from starlette.responses import Response

from pegboard.model.calls import Caller
from pegboard.serve.http.site import Site

COOKIE = "pegboard_session"
"""What the name of the cookie has in it."""
SESSION_SECONDS = 12 * 3_600.0
MOST_SESSIONS = 1_000
MOST_OF_ONE = 20
"""So many can one caller have; a new one ends the oldest, and not that of another."""
CODE_SECONDS = 600.0


class Session(NamedTuple):
    caller: Caller
    token_id: str | None
    """The token of the board that it was opened with: it ends with it."""
    until: float
    """By the wall clock."""


class Sessions:
    """Used in the event loop alone."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._open: OrderedDict[bytes, Session] = OrderedDict()
        self._codes: dict[bytes, float] = {}

    def open(self, caller: Caller, token_id: str | None = None, until: float | None = None) -> str:
        """A new one; what the cookie has to say. It ends at `until`, if not sooner."""
        latest = self._clock() + SESSION_SECONDS
        self._make_room(caller)
        said = secrets.token_urlsafe(32)
        ends = latest if until is None else min(until, latest)
        self._open[_digest(said)] = Session(caller, token_id, ends)
        return said

    def find(self, said: str) -> Session | None:
        found = self._open.get(_digest(said))
        if found is not None and found.until <= self._clock():
            self.close(said)
            return None
        return found

    def close(self, said: str) -> None:
        self._open.pop(_digest(said), None)

    def make_code(self) -> str:
        """For one link, once, and for ten minutes."""
        code = secrets.token_urlsafe(32)
        self._codes[_digest(code)] = self._clock() + CODE_SECONDS
        return code

    def take_code(self, code: str) -> bool:
        until = self._codes.pop(_digest(code), 0.0)
        return until > self._clock()

    def _make_room(self, caller: Caller) -> None:
        now = self._clock()
        for key in [key for key, each in self._open.items() if each.until <= now]:
            del self._open[key]
        of_one = [key for key, each in self._open.items() if each.caller == caller]
        for key in of_one[: max(len(of_one) - MOST_OF_ONE + 1, 0)]:
            del self._open[key]
        while len(self._open) >= MOST_SESSIONS:
            self._open.popitem(last=False)

    def __len__(self) -> int:
        return len(self._open)


def cookie_name(site: Site, connection: HTTPConnection) -> str:
    """Browsers keep cookies for a host, whatever the port: so the port is part of the name.

    With the prefix `__Host-` no other host and no plain http can have set it.
    """
    if site.secure(connection.scope):
        return f"__Host-{COOKIE}"
    server = connection.scope.get("server")
    return f"{COOKIE}_{server[1] if server else 0}"


def said_session(site: Site, connection: HTTPConnection) -> str | None:
    return connection.cookies.get(cookie_name(site, connection))


def set_cookie(site: Site, connection: HTTPConnection, response: Response, said: str) -> None:
    response.set_cookie(
        cookie_name(site, connection),
        said,
        max_age=int(SESSION_SECONDS),
        path="/",
        secure=site.secure(connection.scope),
        httponly=True,
        samesite="strict",
    )


def forget_cookie(site: Site, connection: HTTPConnection, response: Response) -> None:
    response.delete_cookie(
        cookie_name(site, connection),
        path="/",
        secure=site.secure(connection.scope),
        httponly=True,
        samesite="strict",
    )


def _digest(said: str) -> bytes:
    """So that looking it up tells nothing by how long it takes."""
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).digest()
