"""What became of items, written in the transaction in which it happens."""

from collections.abc import Sequence

from pegboard.model.curation import MOST_EVENTS
from pegboard.store.planning import Noted
from pegboard.store.postgres.database import Connection, run
from pegboard.store.queries import load

SQL = load("postgres", "curation")


def note(tx: Connection, noted: Sequence[tuple[int, Noted]], by: str = "") -> None:
    """Of items that are still there, by their keys."""
    if not noted:
        return
    params: dict[str, object] = {
        "keys": [key for key, _ in noted],
        "events": [each.event.value for _, each in noted],
        "details": [each.detail for _, each in noted],
        "by": by,
        "most": MOST_EVENTS,
    }
    run(tx, SQL["note"], params)
    run(tx, SQL["forget_old_notes"], params)
