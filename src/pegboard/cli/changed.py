"""What is no longer what was approved, on a board here or behind a gateway."""

import re
from collections.abc import Sequence

from pegboard.app.pegboard import Pegboard
from pegboard.board.curate.changes import Told, exactly, told
from pegboard.cli.opening import Board
from pegboard.cli.shared import login_name
from pegboard.errors import ItemAmbiguous, ItemNotFound


def changed(pegboard: Board, item: str | None = None) -> list[Told]:
    """All of it, or what an id, a name or `id@hash` means."""
    if isinstance(pegboard, Pegboard):
        found = [told(each) for each in pegboard.trust.changes()]
    else:
        found = pegboard.changes()
    return found if item is None else [_chosen(found, item)]


def _chosen(changes: Sequence[Told], item: str) -> Told:
    exact = [each for each in changes if item in (each.id, each.exactly)]
    named = [each for each in changes if item in (each.now.get("name"), _short_name(each))]
    found = exact or ([] if ":" in item else named)
    if not found:
        raise ItemNotFound(
            f"{item!r} is nothing that changed since it was approved",
            "see what has, as it is now: pegboard changes",
        )
    if len(found) > 1:
        choices = ", ".join(each.exactly for each in found[:10])
        raise ItemAmbiguous(f"{item!r} could be any of: {choices}", "give one of these")
    return found[0]


def _short_name(change: Told) -> str:
    category = change.id.split(":")[1] if ":" in change.id else ""
    return re.sub(r"[^A-Za-z0-9_-]+", "_", f"{category}__{change.now.get('name')}")


def approve_now(pegboard: Board, chosen: Sequence[Told]) -> int:
    """Each as it was shown; one that has changed again is left out."""
    if not isinstance(pegboard, Pegboard):
        return pegboard.approve([each.exactly for each in chosen])
    marks = {(each.namespace, each.exactly) for each in chosen}
    found = [
        each
        for each in pegboard.trust.changes()
        if (each.entry.item.namespace, exactly(each)) in marks
    ]
    return pegboard.trust.approve(found, pegboard.target, login_name())
