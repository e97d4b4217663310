"""When a request is sent again, and after how long."""

import math
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

MAX_RETRIES = 2
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
RETRIED = frozenset({429, 502, 503, 504})


def pause_after(told: str, usual: float) -> float:
    """Seconds, as the service asked for in `Retry-After`, or else the usual ones."""
    try:
        seconds = float(told)
    except ValueError:
        seconds = _until(told)
    return max(seconds, usual) if math.isfinite(seconds) else usual


def _until(told: str) -> float:
    try:
        then = parsedate_to_datetime(told)
        return (then - datetime.now(UTC)).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return math.nan
