"""Tokens of OAuth2 by client credentials, kept in memory until shortly before they expire."""

import asyncio
import base64
import json
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from ipaddress import ip_address
from typing import NamedTuple

from pegboard.execute.api.auth import Client
from pegboard.execute.api.bodies import FORM, written
from pegboard.execute.api.faults import unavailable
from pegboard.execute.api.requests import Request
from pegboard.execute.api.styles import percent
from pegboard.execute.api.urls import Target, parsed
from pegboard.execute.secrets import Secrets
from pegboard.formats.shapes import mapping, text

MAX_KEPT = 200
EARLY_SECONDS = 30.0
"""A token that ends so soon is not used any more: it could end on its way."""
UNSAID_SECONDS = 300.0
MOST_SECONDS = 86_400.0
_SHOWN = 300

Post = Callable[[Request, Target], Awaitable[tuple[int, bytes]]]
"""Sends a request and follows no redirect. Raises `Refused`."""


class _Kept(NamedTuple):
    token: str
    until: float


class Tokens:
    """All callers that bring the same secrets share a token; it is fetched once for all of them."""

    def __init__(self, *, loopback: bool) -> None:
        self._loopback = loopback
        self._kept: OrderedDict[Client, _Kept] = OrderedDict()
        self._locks: dict[Client, asyncio.Lock] = {}

    async def token(
        self, client: Client, secrets: Secrets, post: Post, *, refused: frozenset[str]
    ) -> tuple[str, bool]:
        """A token other than those that were refused, and whether it is a new one.

        Raises `Refused`.
        """
        lock = self._locks.setdefault(client, asyncio.Lock())
        try:
            async with lock:
                kept = self._kept.get(client)
                now = asyncio.get_running_loop().time()
                new = kept is None or kept.until <= now or kept.token in refused
                if kept is None or new:
                    kept = await self._fetched(client, secrets, post)
                    self._keep(client, kept)
        finally:
            if not lock.locked():
                self._locks.pop(client, None)
        secrets.learn(kept.token)
        return kept.token, new

    def _keep(self, client: Client, kept: _Kept) -> None:
        self._kept[client] = kept
        self._kept.move_to_end(client)
        while len(self._kept) > MAX_KEPT:
            self._kept.popitem(last=False)

    async def _fetched(self, client: Client, secrets: Secrets, post: Post) -> _Kept:
        target = parsed(client.token_url)
        if target.scheme != "https" and not (self._loopback and _is_here(target.host)):
            raise unavailable(f"{target.shown} gives tokens over plain http; it is not asked")
        status, body = await post(_request(client, target, secrets, in_body=client.in_body), target)
        if status in (400, 401) and not client.in_body:
            # The standard wants a login; some servers know only the form.
            status, body = await post(_request(client, target, secrets, in_body=True), target)
        said = _object(body)
        token = text(said.get("access_token"))
        if not 200 <= status < 300 or not token:
            why = text(said.get("error_description")) or text(said.get("error"))
            told = f": {secrets.hide(why)[:_SHOWN]}" if why else ""
            raise unavailable(f"{target.shown} gave no token, but HTTP {status}{told}")
        seconds = _seconds(said.get("expires_in"))
        early = min(EARLY_SECONDS, seconds / 2)
        return _Kept(token, asyncio.get_running_loop().time() + seconds - early)


def _request(client: Client, target: Target, secrets: Secrets, *, in_body: bool) -> Request:
    fields = {"grant_type": "client_credentials"}
    if client.scopes:
        fields["scope"] = " ".join(client.scopes)
    headers = [("Accept", "application/json"), ("Content-Type", FORM)]
    if in_body:
        fields |= {"client_id": client.id, "client_secret": client.secret}
    else:
        told = f"{percent(client.id)}:{percent(client.secret)}"
        login = base64.b64encode(told.encode()).decode("ascii")
        secrets.learn(login)
        headers.append(("Authorization", f"Basic {login}"))
    return Request("POST", target.url, tuple(headers), written(fields, FORM).content)


def _object(body: bytes) -> dict[str, object]:
    try:
        return dict(mapping(json.loads(body)))
    except (ValueError, RecursionError):
        return {}


def _seconds(said: object) -> float:
    try:
        seconds = float(said) if isinstance(said, int | float | str) else UNSAID_SECONDS
    except (ValueError, OverflowError):
        return UNSAID_SECONDS
    return min(max(seconds, 0.0), MOST_SECONDS) if seconds == seconds else UNSAID_SECONDS


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
