"""Times and spans as people say them."""

import time
from datetime import UTC, datetime
from typing import NamedTuple

_STEPS = (
    (60.0, "second"),
    (60.0, "minute"),
    (24.0, "hour"),
    (30.0, "day"),
    (12.0, "month"),
)


class Moment(NamedTuple):
    iso: str
    """For programs, and exactly."""
    said: str


def moment(at: float | None) -> Moment | None:
    """When that was, seen from now."""
    if at is None:
        return None
    exact = datetime.fromtimestamp(at, UTC).isoformat(" ", "seconds").replace("+00:00", " UTC")
    return Moment(exact, ago(time.time() - at))


def ago(seconds: float) -> str:
    said = span(seconds)
    return "just now" if seconds < 5 else f"{said} ago"


def span(seconds: float) -> str:
    """About so long, in its largest unit."""
    amount = max(seconds, 0.0)
    for size, name in _STEPS:
        if amount < size:
            return _counted(int(amount), name)
        amount /= size
    return _counted(int(amount), "year")


def took(seconds: float) -> str:
    """How long something ran."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 60 else span(seconds)


def _counted(number: int, name: str) -> str:
    return f"{number} {name}" if number == 1 else f"{number:,} {name}s"
