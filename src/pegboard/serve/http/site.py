"""Where the gateway is: the names it is reached by, and which requests come from its own pages."""

import re
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import NamedTuple
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection
from starlette.types import Scope

from pegboard.config.settings import ServeSettings
from pegboard.errors import ConfigError

FORWARDED = frozenset(
    {b"forwarded", b"via", b"x-real-ip", b"x-client-ip", b"true-client-ip", b"cf-connecting-ip"}
)
"""Headers of proxies, beside all that begin with `x-forwarded-`."""
_PLACE = re.compile(r"(\[[0-9a-fA-F:.]{2,45}\]|[A-Za-z0-9_.-]{1,253})(?::([0-9]{1,5}))?", re.ASCII)
_PORTS = {"http": 80, "https": 443}


class Place(NamedTuple):
    """A host and a port, as they stand in a header or a URL."""

    host: str
    port: int | None = None

    def at(self, port: int) -> "Place":
        """With this port, if it has none of its own."""
        return self if self.port is not None else self._replace(port=port)


class Site(NamedTuple):
    """Where it listens, and where clients find it."""

    bound: str
    public: str = ""
    """`https://tools.example.com`, without a slash at its end."""
    places: tuple[Place, ...] = ()
    """Further names; one without a port is good with any."""

    @property
    def on_loopback(self) -> bool:
        return is_loopback(self.bound)

    @property
    def https(self) -> bool:
        """Whether the world outside reaches it by https."""
        return self.public.startswith("https:")

    def reached(self, scope: Scope) -> bool:
        """Whether it is asked under a name of its own.

        A page of a stranger can have its own name lead here, and then counts as one of ours to a
        browser. It comes with that name, though, and never with an address or `localhost`.
        """
        asked = asked_place(scope)
        if asked is None:
            return False
        if self._is_public(asked) or any(
            asked == each or (asked.host == each.host and each.port is None) for each in self.places
        ):
            return True
        if self.on_loopback:
            port = _own_port(scope)
            return is_loopback(asked.host) and port in (None, asked.at(80).port)
        return bool(as_address(asked.host)) or asked.host in ("localhost", self.bound.lower())

    def owns(self, origin: str, scope: Scope) -> bool:
        """Whether a page with this origin is ours, asked under the same name."""
        scheme, _, rest = origin.partition("://")
        said, asked = read_place(rest), asked_place(scope)
        if said is None or asked is None or scheme not in _PORTS:
            return False
        if self._is_public(asked) or origin.lower() == self.public:
            return origin.lower() == self.public
        return said.at(_PORTS[scheme]) == asked.at(_PORTS[scheme])

    def base(self, scope: Scope) -> str:
        """What its addresses begin with, for whoever asks."""
        if self._from_outside(scope):
            return self.public
        here = _header(scope, b"host") or self.bound
        return f"{scope.get('scheme', 'http')}://{here}"

    def lasting(self, scope: Scope) -> str:
        """As `base`, for what is kept, or passed on to others."""
        return self.public or self.base(scope)

    def secure(self, scope: Scope) -> bool:
        """Whether this request came by https, as its client sees it."""
        return self.https if self._from_outside(scope) else scope.get("scheme") == "https"

    def _from_outside(self, scope: Scope) -> bool:
        """Whether it came by the public address, also where a proxy does not pass that on."""
        asked = asked_place(scope)
        here = asked is not None and is_loopback(asked.host) and not self._is_public(asked)
        return bool(self.public) and (not here or passed_on(scope))

    def _is_public(self, asked: Place) -> bool:
        if not self.public:
            return False
        scheme, _, rest = self.public.partition("://")
        known = read_place(rest)
        port = _PORTS[scheme]
        return known is not None and known.at(port) == asked.at(port)


def site_of(settings: ServeSettings) -> Site:
    """Raises `ConfigError` for an address or a name that is none."""
    names = [each.strip() for each in settings.hosts.split(",") if each.strip()]
    places = []
    for name in names:
        place = read_place(name)
        if place is None:
            raise ConfigError(
                f"serve.hosts names {name!r}, which is no host",
                "write names with commas between them: tools.internal, tools.internal:8420",
            )
        places.append(place)
    return Site(settings.host, _public(settings.public_url), tuple(places))


def _public(url: str) -> str:
    if not url:
        return ""
    try:
        parts = urlsplit(url)
        rest = (parts.path.strip("/"), parts.query, parts.fragment, parts.username, parts.password)
    except ValueError:
        parts, rest = urlsplit(""), ("",) * 5
    place = read_place(parts.netloc)
    if parts.scheme not in _PORTS or place is None or any(rest):
        raise ConfigError(
            f"serve.public_url is {url!r}",
            "write scheme and host alone: https://tools.example.com",
        )
    default = place.port == _PORTS[parts.scheme]
    netloc = parts.netloc.rpartition(":")[0] if default else parts.netloc
    return f"{parts.scheme}://{netloc}".lower()


def read_place(text: str) -> Place | None:
    found = _PLACE.fullmatch(text)
    if found is None or int(found[2] or 0) > 65_535:
        return None
    host = found[1].strip("[]").lower().removesuffix(".")
    if found[1].startswith("[") and as_address(host) is None:
        return None
    return Place(str(as_address(host) or host), int(found[2]) if found[2] else None)


def asked_place(scope: Scope) -> Place | None:
    """The one Host header of a request; None if there is none, or more than one."""
    said = _header(scope, b"host")
    return read_place(said) if said else None


def as_address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        found = ip_address(host.strip("[]"))
    except ValueError:
        return None
    return (found.ipv4_mapped or found) if isinstance(found, IPv6Address) else found


def is_loopback(host: str) -> bool:
    address = as_address(host)
    return address.is_loopback if address else host.lower() == "localhost"


def is_local(connection: HTTPConnection) -> bool:
    """Whether a program of this machine asks, and for itself.

    Behind a proxy of this machine everybody seems to be here; what a proxy adds gives it away.
    """
    client = connection.client
    return client is not None and is_loopback(client.host) and not passed_on(connection.scope)


def passed_on(scope: Scope) -> bool:
    return any(
        name in FORWARDED or name.startswith(b"x-forwarded-") for name, _ in scope["headers"]
    )


def _header(scope: Scope, wanted: bytes) -> str | None:
    found = [value for name, value in scope["headers"] if name == wanted]
    return found[0].decode("latin-1") if len(found) == 1 else None


def _own_port(scope: Scope) -> int | None:
    server = scope.get("server")
    return server[1] if server else None
