"""How often one caller may ask: a bucket for each, which fills again as time passes."""

import ipaddress
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable

from starlette.requests import HTTPConnection

from pegboard.errors import NotSignedIn, TooMany
from pegboard.model.calls import Caller
from pegboard.serve.http.gateway import SignIn
from pegboard.serve.http.measuring import CALLER

MOST_BUCKETS = 10_000
"""Whoever asked longest ago is forgotten first, and begins anew."""
COUNTED = "pegboard.counted"
"""In the scope of a request that was counted: it may be asked more than once who sent it."""
RETRY_AFTER = "pegboard.retry_after"
"""In the scope of a request that is refused: the seconds after which it may be sent again."""


class Buckets:
    """A bucket holds what is allowed in a minute. For one thread alone."""

    def __init__(
        self,
        per_minute: int,
        *,
        most: int = MOST_BUCKETS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most_in_one = per_minute
        self._most = most
        self._clock = clock
        self._left: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()
        """What each had left, and when that was."""

    def __len__(self) -> int:
        return len(self._left)

    def take(self, owner: Hashable) -> float:
        """0 if one more is allowed, else the seconds until the next is."""
        if not self._most_in_one:
            return 0.0
        now, rate = self._clock(), self._most_in_one / 60
        left, when = self._left.pop(owner, (float(self._most_in_one), now))
        left = min(left + (now - when) * rate, float(self._most_in_one))
        allowed = left >= 1
        self._left[owner] = (left - allowed, now)
        if len(self._left) > self._most:
            self._left.popitem(last=False)
        return 0.0 if allowed else (1 - left) / rate


class RatedSignIn:
    """Counts each request: for its caller, or for its address if nobody knows the caller.

    So whoever tries tokens from an address, which may be that of a proxy, uses up nobody else's.
    """

    def __init__(self, sign_in: SignIn, per_minute: int) -> None:
        self.within = sign_in
        self._buckets = Buckets(per_minute)
        self._per_minute = per_minute

    async def caller(self, connection: HTTPConnection) -> Caller:
        try:
            found = await self.within.caller(connection)
        except NotSignedIn:
            self._count(connection, ("address", address(connection)))
            raise
        connection.scope[CALLER] = found
        self._count(connection, ("caller", found))
        return found

    def _count(self, connection: HTTPConnection, owner: Hashable) -> None:
        if connection.scope.get(COUNTED):
            return
        connection.scope[COUNTED] = True
        if wait := self._buckets.take(owner):
            connection.scope[RETRY_AFTER] = math.ceil(wait)
            raise TooMany(
                f"more than {self._per_minute} requests came in a minute",
                "ask less often, or raise serve.requests_per_minute",
            )


def address(connection: HTTPConnection) -> str:
    """Who is at the other end; of IPv6 the network, of which one customer has all addresses."""
    said = connection.client.host if connection.client else ""
    try:
        found = ipaddress.ip_address(said.partition("%")[0])
    except ValueError:
        return said
    if found.version == 4:
        return str(found)
    if found.ipv4_mapped:
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network((int(found), 64), strict=False))
