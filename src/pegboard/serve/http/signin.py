"""Who asks: by a token of this board, by one of an identity provider, or from this machine."""

import asyncio
import hashlib
import logging
import re
import time
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from starlette.requests import HTTPConnection

from pegboard.app.pegboard import Pegboard
from pegboard.board.trust.tokens import looks_like_token
from pegboard.config.settings import ServeSettings
from pegboard.errors import BoardError, NotSignedIn, TooMany, UsageError
from pegboard.model.calls import Caller, Role
from pegboard.model.tokens import Token
from pegboard.serve.http.claims import Provider
from pegboard.serve.http.failures import WAIT_SECONDS, Failures
from pegboard.serve.http.provider import ProviderKeys
from pegboard.serve.http.sessions import Sessions, said_session
from pegboard.serve.http.site import Site, is_local, site_of
from pegboard.serve.threads import Threads

log = logging.getLogger(__name__)

LONGEST_TOKEN = 16_384
CHECKED_SECONDS = 2.0
"""So long a token counts as good that was good: its end is heard of that much later."""
WATCHING = "/metrics"
"""What is told while the board is away as well, to whoever was known before."""
WATCHED_SECONDS = 2.0
"""So long the board is waited for there."""
STANDING_SECONDS = 3_600.0
"""So long a token that was good stays good there."""
NOTED_SECONDS = 3_600.0
"""The last use of a token is noted at most so often."""
MOST_KNOWN = 10_000
HERE = "local"
"""The subject of whoever asks from this machine without a token."""

NEEDED = "make one with: pegboard token new; bring it as: Authorization: Bearer TOKEN"
_BEARER = re.compile(r"bearer +([A-Za-z0-9._~+/-]+=*) *", re.IGNORECASE | re.ASCII)


class Known(NamedTuple):
    """What was last found out about a token that was good then."""

    token: Token | None
    """None for one of an identity provider."""
    at: float


class SignedIn(NamedTuple):
    """Whoever brought a good token."""

    caller: Caller
    token_id: str | None = None
    until: float | None = None
    """When the token ends, if it ends."""


class BoardSignIn:
    """Used in the event loop alone; the board is asked in threads.

    Raises `ConfigError` if the settings do not go together.
    """

    def __init__(
        self,
        board: Pegboard,
        settings: ServeSettings,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.site: Site = site_of(settings)
        self.settings = settings
        self.sessions = Sessions()
        self.failures = Failures(clock)
        self.threads = Threads()
        self._tokens = board.tokens
        self._clock = clock
        self._role = Role(settings.loopback) if settings.loopback != "off" else None
        self._known: OrderedDict[bytes, Known] = OrderedDict()
        self._noted: OrderedDict[str, float] = OrderedDict()
        self._noting: set[asyncio.Task[None]] = set()
        self.provider: Provider | None = None
        if settings.issuer:
            keys = ProviderKeys(settings.issuer, settings.jwks_url, clock=clock)
            self.provider = Provider(settings, keys)

    async def caller(self, connection: HTTPConnection) -> Caller:
        """By the token in the header; else by the page's cookie; else from this machine.

        A token that is not good is never taken for none. Raises `NotSignedIn`, `TooMany`, and
        `ProviderUnavailable`.
        """
        if "access_token" in connection.query_params:
            raise UsageError(
                "a token in the address is not read: addresses end up in logs",
                "bring it as: Authorization: Bearer TOKEN",
            )
        if (said := _bearer(connection)) is not None:
            return (await self.check(connection, said)).caller
        if (found := await self._by_cookie(connection)) is not None:
            return found
        if self._role is not None and is_local(connection):
            return Caller(HERE, (), self._role)
        raise NotSignedIn("a token is needed", NEEDED)

    async def check(self, connection: HTTPConnection, text: str) -> SignedIn:
        """Who brings this token, however it came here. Failures of an address are counted."""
        host = connection.client.host if connection.client else ""
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        if digest not in self._known and self.failures.too_many(host):
            raise TooMany(
                f"too many tokens that are not good came from {host}",
                f"try again in {WAIT_SECONDS} seconds",
            )
        try:
            return await self._checked(digest, text, connection.scope["path"] == WATCHING)
        except NotSignedIn:
            self._known.pop(digest, None)
            if self.failures.add(host):
                log.warning("%s brings tokens that are not good, again and again", host)
            raise

    async def _checked(self, digest: bytes, text: str, watching: bool) -> SignedIn:
        if len(text) > LONGEST_TOKEN:
            raise NotSignedIn(f"the token has {len(text):,} characters; none is so long", NEEDED)
        if looks_like_token(text):
            return await (self._watcher(digest, text) if watching else self._token(digest, text))
        if self.provider is None or text.count(".") != 2:
            raise NotSignedIn("this is no token of this board", NEEDED)
        said = await self.provider.check(text)
        self._remember(digest, None)
        return SignedIn(said.caller, None, said.until)

    async def _token(self, digest: bytes, text: str) -> SignedIn:
        token = self._fresh(digest) or await self._look(partial(self._found, text))
        if token is None:
            raise NotSignedIn("this token is not good: unknown, expired or revoked", NEEDED)
        self._remember(digest, token)
        self._note_use(token)
        return SignedIn(token.caller, token.id, token.expires_at)

    async def _watcher(self, digest: bytes, text: str) -> SignedIn:
        """Else nobody would learn from here that the board is away."""
        known = self._known.get(digest)
        if known is None or known.token is None or self._clock() - known.at > STANDING_SECONDS:
            return await self._token(digest, text)
        try:
            async with asyncio.timeout(WATCHED_SECONDS):
                return await self._token(digest, text)
        except (TimeoutError, BoardError):
            if known.token.expired(time.time()):
                raise NotSignedIn("this token has expired", NEEDED) from None
            return SignedIn(known.token.caller, known.token.id, known.token.expires_at)

    def _found(self, text: str) -> Token | None:
        return self._tokens.check(text, time.time())

    async def _look(self, work: Callable[[], Token | None]) -> Token | None:
        return await self.threads.run(work)

    def _fresh(self, digest: bytes) -> Token | None:
        known = self._known.get(digest)
        if known is None or known.token is None or self._clock() - known.at > CHECKED_SECONDS:
            return None
        return None if known.token.expired(time.time()) else known.token

    def _remember(self, digest: bytes, token: Token | None) -> None:
        known = self._known.get(digest)
        if known is None or self._clock() - known.at > CHECKED_SECONDS:
            self._known[digest] = Known(token, self._clock())
        self._known.move_to_end(digest)
        if len(self._known) > MOST_KNOWN:
            self._known.popitem(last=False)

    async def _by_cookie(self, connection: HTTPConnection) -> Caller | None:
        said = said_session(self.site, connection)
        session = self.sessions.find(said) if said else None
        if said is None or session is None or session.token_id is None:
            return session.caller if session else None
        digest = b"id " + session.token_id.encode()
        look = partial(self._tokens.still_good, session.token_id, time.time())
        token = self._fresh(digest) or await self._look(look)
        if token is None:
            self._known.pop(digest, None)
            self.sessions.close(said)
            return None
        self._remember(digest, token)
        return session.caller

    def _note_use(self, token: Token) -> None:
        """Beside the request, which does not wait for it and does not mind if it fails."""
        now, here = time.time(), self._clock()
        noted = self._noted.get(token.id)
        if noted is not None and here - noted < NOTED_SECONDS:
            return
        self._noted[token.id] = here
        self._noted.move_to_end(token.id)
        if len(self._noted) > MOST_KNOWN:
            self._noted.popitem(last=False)
        if now - (token.used_at or 0.0) >= NOTED_SECONDS:
            task = asyncio.create_task(self._note(token.id, now))
            self._noting.add(task)
            task.add_done_callback(self._noting.discard)

    async def _note(self, token_id: str, now: float) -> None:
        try:
            await self.threads.run_slow(partial(self._tokens.used, token_id, now))
        except Exception:
            log.info("that token %s was used could not be noted", token_id, exc_info=True)


def _bearer(connection: HTTPConnection) -> str | None:
    """The token that comes in the header; None if there is no such header."""
    said = connection.headers.getlist("authorization")
    if not said:
        return None
    found = _BEARER.fullmatch(said[0]) if len(said) == 1 else None
    if found is None:
        raise NotSignedIn("the Authorization header is not one bearer token", NEEDED)
    return found[1]
