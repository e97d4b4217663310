"""What can be wrong with the answer of a service that embeds."""

import math
import time
from enum import Enum, auto

from pegboard.errors import EmbeddingError

INPUT_AT_FAULT = (400, 413, 422)
PASSING = (408, 425)
KEY_AT_FAULT = (401, 403)

LONGEST_WAIT = 20.0
"""Seconds. A service that wants to be left alone for longer counts as unavailable."""


class Fault(Enum):
    BARRED = auto()
    """It will say the same until somebody changes something."""
    BUSY = auto()
    """It asks to be asked later."""
    BROKEN = auto()
    """It failed, or the connection did: worth another try."""
    HUNG = auto()
    """It did not answer in time."""
    REFUSED = auto()
    """It says that the texts, or their number, are wrong."""
    GARBLED = auto()
    """It answered with something else than the vectors that were asked for."""


class ServiceFault(EmbeddingError):
    """The service did not embed the texts."""

    def __init__(self, kind: Fault, message: str, hint: str = "", wait: float = 0.0) -> None:
        super().__init__(message, hint)
        self.kind = kind
        self.wait = wait
        """Seconds after which it wants to be asked again."""


def of_status(status: int, said: str, wait: float = 0.0) -> ServiceFault:
    """`said` is the service's own words; they are left out where it may have repeated a key."""
    told = f"it answered with HTTP status {status}"
    if status in KEY_AT_FAULT:
        hint = "embed.api_key must name a key that is valid there and may use this model"
        return ServiceFault(Fault.BARRED, told, hint)
    told += f": {said}" if said else ""
    if status == 404:
        hint = "check embed.model, and embed.base_url, which mostly ends in /v1"
        return ServiceFault(Fault.BARRED, told, hint)
    if status == 429:
        return ServiceFault(Fault.BUSY, told, "it has had enough for now", wait)
    if status in INPUT_AT_FAULT:
        return ServiceFault(Fault.REFUSED, told)
    if status >= 500 or status in PASSING:
        return ServiceFault(Fault.BROKEN, told, wait=wait)
    return ServiceFault(Fault.BARRED, told, "check embed.base_url")


def seconds_of(retry_after: str) -> float:
    """The header `Retry-After`, a number or a date; 0 if it says nothing of use."""
    import email.utils

    try:
        seconds = float(retry_after)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(retry_after).timestamp() - time.time()
        except ValueError:
            return 0.0
    return max(seconds, 0.0) if math.isfinite(seconds) else 0.0
