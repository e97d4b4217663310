"""Which addresses may be talked to, decided on the very address that is then connected to.

A name is looked up here, once, and the connection goes to one of the addresses that were found and
judged. There is no second look-up, so a name that means something else a moment later changes
nothing. TLS still checks the certificate against the name.
"""

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable, Iterable
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from typing import NamedTuple

import httpcore2

from pegboard.execute.api.faults import Refused
from pegboard.model.calls import Outcome

Resolve = Callable[[str, int], Awaitable[list[str]]]
"""The addresses of a host, best first. Raises `OSError`."""

CONNECT_SECONDS = 10.0
MAX_TRIED = 4
"""Addresses of one name that are tried, one after another."""
FIRST_SECONDS = 3.0
"""For each address but the last."""

_SHARED = IPv4Network("100.64.0.0/10")
_PRIVATE_4 = tuple(map(IPv4Network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")))
_PRIVATE_6 = tuple(map(IPv6Network, ("fc00::/7", "fec0::/10")))
_GLOBAL_6 = IPv6Network("2000::/3")
_NAT64 = IPv6Network("64:ff9b::/96")
_NUMBER = re.compile(r"(?:0x[0-9a-f]*|[0-9]+)\.?", re.IGNORECASE)
_NEVER = ("unspecified", "multicast", "broadcast")
_BY_NAME = ("private", "shared")

_Address = IPv4Address | IPv6Address


class Reach(NamedTuple):
    """Which addresses may be talked to beside public ones."""

    loopback: bool = False
    private: tuple[str, ...] = ()
    """Host names whose addresses may be private; addresses and networks, as in 10.0.0.0/8."""


class NameUnknown(httpcore2.ConnectError):
    """Nobody knows the name; asking again would not help."""


class Guard(httpcore2.AsyncNetworkBackend):
    """Opens connections, and only to addresses that are within reach."""

    def __init__(self, reach: Reach, resolve: Resolve | None = None) -> None:
        self._reach = reach
        self._resolve = resolve or _looked_up
        self._backend = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Raises `Refused` if no address of the host may be talked to."""
        allowed = await self.allowed(host, port)
        whole = CONNECT_SECONDS if timeout is None else timeout
        for number, address in enumerate(allowed, 1):
            share = whole if number == len(allowed) else min(whole, FIRST_SECONDS)
            try:
                return await self._backend.connect_tcp(address, port, share, local_address)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                if number == len(allowed):
                    raise
        raise AssertionError("the last round returns or raises")

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def allowed(self, host: str, port: int) -> list[str]:
        """The addresses of a host that may be talked to. Raises `Refused` if there are none."""
        if _is_odd(host):
            told = f"{host} is no usual spelling of an address"
            raise Refused(Outcome.DENIED, f"{told}; write it in full, as in 192.0.2.1")
        found = [host] if _literal(host) else await self._found(host, port)
        judged = [(address, judgement(address, host, self._reach)) for address in found]
        allowed = [address for address, reason in judged if not reason]
        if not allowed:
            raise Refused(Outcome.DENIED, judged[0][1])
        return allowed[:MAX_TRIED]

    async def _found(self, host: str, port: int) -> list[str]:
        try:
            found = await self._resolve(host, port)
        except socket.gaierror as error:
            told = f"the name {host} cannot be looked up: {error.strerror}"
            if error.errno == socket.EAI_AGAIN:
                raise httpcore2.ConnectError(told) from error
            raise NameUnknown(told) from error
        except (OSError, UnicodeError) as error:
            raise NameUnknown(f"the name {host} cannot be looked up: {error}") from error
        if not found:
            raise NameUnknown(f"the name {host} has no address")
        return found


def judgement(address: str, host: str, reach: Reach) -> str:
    """Why the address of a host must not be talked to; empty if it may."""
    found = _literal(address)
    if found is None:
        return f"{host} leads to {address!a}, which is no address"
    kind = kind_of(found)
    if not kind or (kind not in _NEVER and _is_allowed(found, kind, host, reach)):
        return ""
    a = "an" if kind == "unspecified" else "a"
    told = f"{host} is" if host == address else f"{host} leads to {address},"
    told += f" {a} {kind} address, and is not asked"
    if kind in _NEVER:
        return told
    if kind == "loopback":
        return f'{told}; if that is meant, set run.loopback = "on" in your settings'
    named = host if kind in _BY_NAME else address
    return f'{told}; if that is meant, add "{named}" to run.private in your settings'


def kind_of(address: _Address) -> str:
    """What keeps an address from being public; empty if nothing does."""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return kind_of(address.ipv4_mapped)
        return _common_kind(address) or _kind_6(address)
    if str(address) == "255.255.255.255":
        return "broadcast"
    if kind := _common_kind(address):
        return kind
    if any(address in network for network in _PRIVATE_4):
        return "private"
    if address in _SHARED:
        return "shared"
    return "" if address.is_global and not address.is_reserved else "reserved"


def _common_kind(address: _Address) -> str:
    if address.is_unspecified:
        return "unspecified"
    if address.is_loopback:
        return "loopback"
    if address.is_multicast:
        return "multicast"
    return "link-local" if address.is_link_local else ""


def _kind_6(address: IPv6Address) -> str:
    """Those that carry an IPv4 address through a tunnel are as public as that."""
    if any(address in network for network in _PRIVATE_6):
        return "private"
    inner = address.sixtofour
    if address in _NAT64:
        inner = IPv4Address(int(address) & 0xFFFF_FFFF)
    if inner is not None:
        return "reserved" if kind_of(inner) else ""
    return "" if address in _GLOBAL_6 and address.is_global else "reserved"


def _is_allowed(address: _Address, kind: str, host: str, reach: Reach) -> bool:
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    if kind == "loopback" and reach.loopback:
        return True
    for entry in reach.private:
        network = _network(entry)
        if network is None:
            if kind in _BY_NAME and entry.lower().rstrip(".") == host:
                return True
        elif address in network:
            return True
    return False


def _network(entry: str) -> IPv4Network | IPv6Network | None:
    try:
        return ip_network(entry.strip("[]"), strict=False)
    except ValueError:
        return None


def _literal(host: str) -> _Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


def _is_odd(host: str) -> bool:
    """Whether it is a number, as in 2130706433, 0x7f.1 or 127.1: libraries read these differently.

    No name ends in a number.
    """
    last = host.rstrip(".").rpartition(".")[2]
    return ":" not in host and bool(_NUMBER.fullmatch(last)) and _literal(host) is None


async def _looked_up(host: str, port: int) -> list[str]:
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(each[4][0]) for each in found))
