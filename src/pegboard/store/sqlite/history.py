"""What became of items, written in the transaction in which it happens."""

from collections.abc import Sequence

import apsw

from pegboard.model.curation import MOST_EVENTS, Event
from pegboard.store.queries import load
from pegboard.store.sqlite.database import Value, in_list

SQL = load("sqlite", "curation")


def note(
    tx: apsw.Connection,
    keys: Sequence[int],
    event: Event,
    now: float,
    *,
    by: str = "",
    detail: str = "",
) -> None:
    """Of items that are still there."""
    if not keys:
        return
    params: dict[str, Value] = {
        "keys": in_list(keys),
        "event": event.value,
        "now": now,
        "by": by,
        "detail": detail,
        "most": MOST_EVENTS,
    }
    tx.execute(SQL["note"], params)
    tx.execute(SQL["forget_old_notes"], params)
