"""The keys of an identity provider: fetched when they are needed, kept for some time.

What anybody sends us must not make us ask the provider as often as they like, and a provider that
is slow or down must not keep those waiting whose keys we have.
"""

import asyncio
import json
import logging
import ssl
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import anyio.to_thread
import httpx2
import jwt

from pegboard.errors import ConfigError, ProviderUnavailable
from pegboard.serve.http.site import is_loopback

log = logging.getLogger(__name__)


class _Unfit(Exception):
    """Why nothing can be done with what the provider says."""


DISCOVERY = "/.well-known/openid-configuration"
FRESH_SECONDS = 600.0
"""So long keys are used without asking again."""
STALE_SECONDS = 3_600.0
"""So long they are used if the provider does not answer."""
PAUSE_SECONDS = 10.0
"""Between two times that it is asked, whatever anybody brings."""
FETCH_SECONDS = 10.0
ANSWER_SECONDS = 5.0
LARGEST_ANSWER = 512_000
MOST_KEYS = 100
LARGEST_RSA = 8_192
FAULTS = (_Unfit, httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError, RecursionError)
_RSA = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")
_CURVES = {"P-256": ("ES256",), "P-384": ("ES384",), "P-521": ("ES512",)}


class Key(NamedTuple):
    """A public key, and the algorithms that it may be used with. No others are."""

    kid: str | None
    public: Any
    algorithms: tuple[str, ...]


class ProviderKeys:
    """Used in the event loop alone."""

    def __init__(
        self, issuer: str, jwks_url: str = "", *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Raises `ConfigError` for an address that tokens cannot be trusted to."""
        for name, url in (("serve.issuer", issuer), ("serve.jwks_url", jwks_url)):
            if url and not _is_private(url):
                raise ConfigError(
                    f"{name} is {url!r}",
                    "write an address with https; http is for this machine alone",
                )
        self._issuer = issuer
        self._jwks_url = jwks_url
        self._clock = clock
        self._keys: tuple[Key, ...] = ()
        self._fetched_at: float | None = None
        self._tried_at: float | None = None
        self._fetching: asyncio.Task[None] | None = None
        self._why = "it was not asked yet"
        self._tls: ssl.SSLContext | None = None

    async def find(self, kid: str | None) -> list[Key]:
        """Those that a token may be signed with which names this key, or none.

        Raises `ProviderUnavailable` if there are no keys, or only very old ones.
        """
        if self._age() > STALE_SECONDS:
            await self._fetch()
            if self._age() > STALE_SECONDS:
                raise ProviderUnavailable(
                    f"the keys of {self._issuer} cannot be had: {self._why}", "try again later"
                )
        if kid is not None and not self._named(kid) and self._may_ask():
            await self._fetch()
        elif self._age() > FRESH_SECONDS:
            self._begin()  # nobody waits for it
        return list(self._keys) if kid is None else self._named(kid) or self._named(None)

    def _named(self, kid: str | None) -> list[Key]:
        return [each for each in self._keys if each.kid == kid]

    def _age(self) -> float:
        return float("inf") if self._fetched_at is None else self._clock() - self._fetched_at

    def _may_ask(self) -> bool:
        return self._tried_at is None or self._clock() - self._tried_at >= PAUSE_SECONDS

    def _begin(self) -> None:
        if self._fetching is None or self._fetching.done():
            self._fetching = asyncio.create_task(self._ask()) if self._may_ask() else None

    async def _fetch(self) -> None:
        self._begin()
        if self._fetching is not None:
            await asyncio.shield(self._fetching)  # whoever gives up does so for himself alone

    async def _ask(self) -> None:
        try:
            async with asyncio.timeout(FETCH_SECONDS):
                self._keys = await self._read_keys()
                self._fetched_at = self._clock()
        except FAULTS as error:
            self._why = _told(error)
            log.warning("the keys of %s cannot be had: %s", self._issuer, self._why)
        finally:
            self._tried_at = self._clock()

    async def _read_keys(self) -> tuple[Key, ...]:
        url = self._jwks_url
        if not url:
            said = await self._get(self._issuer.rstrip("/") + DISCOVERY)
            if said.get("issuer") != self._issuer:
                raise _Unfit(f"it calls itself {str(said.get('issuer'))[:100]!r}")
            url = str(said.get("jwks_uri"))
            if not _is_private(url) or (_is_here(url) and not _is_here(self._issuer)):
                raise _Unfit(f"its keys are said to be at {url[:100]!r}, which is not asked")
        keys = read_keys(await self._get(url))
        if not keys:
            raise _Unfit("it has no key that signs tokens")
        return keys

    async def _get(self, url: str) -> Mapping[str, Any]:
        if self._tls is None:
            # It reads many certificates, for longer than the event loop may stand still.
            self._tls = await anyio.to_thread.run_sync(httpx2.create_ssl_context)
        headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
        async with (
            httpx2.AsyncClient(
                verify=self._tls,
                timeout=httpx2.Timeout(ANSWER_SECONDS),
                follow_redirects=False,
                trust_env=not _is_here(url),
            ) as client,
            client.stream("GET", url, headers=headers) as response,
        ):
            if response.status_code != 200:
                raise _Unfit(f"{url} answered with HTTP status {response.status_code}")
            body = bytearray()
            async for chunk in response.aiter_raw():
                body += chunk
                if len(body) > LARGEST_ANSWER:
                    raise _Unfit(f"{url} answered with more than {LARGEST_ANSWER:,} bytes")
        said = json.loads(body)
        if not isinstance(said, dict):
            raise _Unfit(f"{url} did not answer with an object")
        return said


def read_keys(said: Mapping[str, Any]) -> tuple[Key, ...]:
    """The keys of a set that can sign tokens; what is not understood is left out."""
    listed = said.get("keys")
    listed = listed[:MOST_KEYS] if isinstance(listed, list) else []
    found = (_read_key(each) for each in listed if isinstance(each, dict))
    return tuple(each for each in found if each)


def _read_key(said: dict[str, Any]) -> Key | None:
    allowed, kid, acts = _algorithms(said), said.get("kid"), said.get("key_ops", ["verify"])
    signs = said.get("use", "sig") == "sig" and isinstance(acts, list) and "verify" in acts
    if not allowed or not signs or "d" in said or not (kid is None or isinstance(kid, str)):
        return None
    try:
        public = jwt.PyJWK(said, algorithm=allowed[0]).key
    except (jwt.PyJWTError, ValueError, TypeError, KeyError, OverflowError):
        return None
    if said["kty"] == "RSA" and not 2_048 <= public.key_size <= LARGEST_RSA:
        return None
    return Key(kid, public, allowed)


def _algorithms(said: Mapping[str, Any]) -> tuple[str, ...]:
    """By the kind of the key; the one it names, if it names one. None for what shares a secret."""
    kind, curve = said.get("kty"), said.get("crv")
    known: tuple[str, ...] = ()
    if kind == "RSA":
        known = _RSA
    elif kind == "EC" and isinstance(curve, str):
        known = _CURVES.get(curve, ())
    elif kind == "OKP" and curve in ("Ed25519", "Ed448"):
        known = ("EdDSA",)
    named = said.get("alg")
    return known if named is None else tuple(each for each in known if each == named)


def _is_private(url: str) -> bool:
    """Whether nobody on the way can read or change what is sent there."""
    try:
        parts = urlsplit(url)
        good = bool(parts.hostname) and not parts.username and not parts.fragment
    except ValueError:
        return False
    return good and (parts.scheme == "https" or (parts.scheme == "http" and _is_here(url)))


def _is_here(url: str) -> bool:
    return is_loopback(urlsplit(url).hostname or "")


def _told(error: Exception) -> str:
    if isinstance(error, TimeoutError | httpx2.TimeoutException):
        return "it did not answer in time"
    return str(error)[:200] or type(error).__name__
