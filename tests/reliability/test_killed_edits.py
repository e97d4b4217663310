"""Kill -9 at random moments of edits and removals: each is made as a whole, or not at all."""

import random
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from reliability_parts import BOTH, Machine, by_hand, heard, killed

from pegboard.model.curation import Event
from pegboard.model.items import ItemId
from pegboard.ports.store import Store
from pegboard.store.postgres.store import PostgresStore
from waiting import until as eventually

STORES = BOTH
KILLS = 5
SEED = 20_251_117
MOVING = ItemId("mcptools:demo:moving")
WHOLE = (3, 6, 8, 9)
"""How many events there are of a round after each of its steps: two edits of three fields, one of
two, and the removal."""

BUSY = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
    " AND backend_type = 'client backend' AND state <> 'idle' AND pid <> pg_backend_pid()"
)


def test_an_edit_or_removal_that_is_killed_is_made_or_not(
    board: Path | str, store: Store, machine: Machine
) -> None:
    rng = random.Random(SEED)
    for kill in range(KILLS):
        victim = machine.victim("edit_one_item", board, f"mia{kill}")
        heard(victim, "editing")
        with pytest.raises(subprocess.TimeoutExpired):
            victim.wait(rng.uniform(0.0, 0.1))
        assert killed(victim) == -9
        if isinstance(store, PostgresStore):  # the server may still be ending what it was sent
            eventually(lambda: by_hand(store, BUSY) == [(0,)])
        assert store.check() == []
        assert_of_one_edit(store)


def assert_of_one_edit(store: Store) -> None:
    history = store.curation.history(MOVING)
    last = Counter(each.by for each in history)[history[0].by]
    assert last in WHOLE
    entry = store.items.get(MOVING, "public")
    if entry is None:
        assert (history[0].event, last) == (Event.REMOVED, 9)
        return
    [number] = [tag.removeprefix("tag") for tag in entry.imported_tags]
    assert entry.imported_description == f"Moves for the time {number}."
    assert entry.manual_override == entry.tags_override
    said = entry.item.description, entry.item.tags
    if entry.manual_override:
        assert said == (f"Said {number}.", (f"said{number}",))
        assert entry.override_by == entry.tags_override_by == history[0].by
    else:
        assert said == (entry.imported_description, entry.imported_tags)
