"""How often an address came with a token that is not good.

Nobody guesses a token. But to look one up costs something, and so does checking a signature.
"""

import time
from collections import OrderedDict
from collections.abc import Callable
from ipaddress import IPv6Address
from typing import NamedTuple

from pegboard.serve.http.site import as_address

MOST_AT_ONCE = 30
MOST_COUNTED = 2 * MOST_AT_ONCE
"""Else what is forgotten until the next one would always make room for it."""
A_SECOND = 0.5
"""So many are forgotten in a second."""
MOST_ADDRESSES = 10_000
WAIT_SECONDS = 10


class _Count(NamedTuple):
    failures: float
    at: float


class Failures:
    """Used in the event loop alone. Those who failed last are remembered."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._counts: OrderedDict[str, _Count] = OrderedDict()

    def too_many(self, host: str) -> bool:
        return self._present(_network(host)) >= MOST_AT_ONCE

    def add(self, host: str) -> bool:
        """Says whether it was the one that made them too many."""
        network = _network(host)
        before = self._present(network)
        failures = min(before + 1, MOST_COUNTED)
        self._counts[network] = _Count(failures, self._clock())
        self._counts.move_to_end(network)
        if len(self._counts) > MOST_ADDRESSES:
            self._counts.popitem(last=False)
        return before < MOST_AT_ONCE <= failures

    def _present(self, network: str) -> float:
        found = self._counts.get(network)
        if found is None:
            return 0.0
        return max(found.failures - (self._clock() - found.at) * A_SECOND, 0.0)

    def __len__(self) -> int:
        return len(self._counts)


def _network(host: str) -> str:
    """Whoever has one address of IPv6 has 2^64 of them."""
    address = as_address(host)
    if isinstance(address, IPv6Address):
        return f"{address.packed[:8].hex()}/64"
    return str(address or host)
