"""Addresses of requests, taken apart once; what is checked is what is asked."""

import re
from typing import NamedTuple
from urllib.parse import quote, urljoin

import httpx2

from pegboard.execute.api.faults import Refused, brief, unavailable
from pegboard.model.calls import Outcome

MAX_URL = 60_000
_PARTS = re.compile(r"(https?)://([^/?#]*)([^?#]*)(\?[^#]*)?(?:#.*)?", re.IGNORECASE | re.DOTALL)
_HOST = re.compile(r"[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?")
_PORTS = {"http": 80, "https": 443}
_DIRTY = re.compile(r"[\s\\\x00-\x1f\x7f\ud800-\udfff]")
_IN_PATH = "/:@!$&'()*+,;=~%-._"
_IN_QUERY = _IN_PATH + "?"


class Target(NamedTuple):
    scheme: str
    host: str
    """In lower case and ASCII, without a final dot, and without brackets."""
    port: int
    path: str
    """With its query, percent-encoded."""

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.authority}{self.path}"

    @property
    def shown(self) -> str:
        """Without the query, which may hold a secret."""
        return self.url.partition("?")[0]

    def is_same_origin(self, other: "Target") -> bool:
        """Also if the other is the same host made safe."""
        return self[:3] == other[:3] or (
            self.host == other.host
            and (self.scheme, self.port) == ("http", 80)
            and (other.scheme, other.port) == ("https", 443)
        )


def parsed(url: str) -> Target:
    """Raises `Refused`."""
    if len(url) > MAX_URL:
        raise unavailable(f"the address has more than {MAX_URL:,} characters")
    parts = _PARTS.fullmatch(url)
    if parts is None or _DIRTY.search(url):
        raise unavailable(f"{brief(url)} is no http or https address")
    scheme, authority, path, query = parts[1].lower(), parts[2], parts[3], parts[4] or ""
    if "@" in authority:
        told = f"{scheme}://...@{authority.rpartition('@')[2]}"
        raise Refused(
            Outcome.DENIED,
            f"an address with a login in it is not asked: {told}; give the login as a secret",
        )
    host, port = _host_and_port(scheme, authority)
    return Target(scheme, host, port, quote(path or "/", _IN_PATH) + quote(query, _IN_QUERY))


def joined(base: Target, location: str) -> Target:
    """Where a redirect leads. Raises `Refused`."""
    try:
        return parsed(urljoin(base.url, location))
    except ValueError:  # brackets without an address in them
        raise unavailable(f"{brief(location)} is no address") from None


def _host_and_port(scheme: str, authority: str) -> tuple[str, int]:
    try:
        # Names in other scripts become what the name service knows.
        found = httpx2.URL(f"{scheme}://{authority}")
        host = found.raw_host.decode("ascii").removesuffix(".")
        port = found.port or _PORTS[scheme]
    except (httpx2.InvalidURL, ValueError) as error:
        raise _no_host(authority) from error
    if not (":" in host or _HOST.fullmatch(host)) or not 0 < port < 65_536:
        raise _no_host(authority)
    return host, port


def _no_host(authority: str) -> Refused:
    return unavailable(f"{brief(authority)} is no name or address of a host")
