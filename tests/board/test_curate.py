"""What people decide while sources go on saying what they say."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from snapshots import SOURCE, Said, sync, sync_again_and_again, tool

from pegboard.errors import ItemNotFound, UsageError
from pegboard.model.content import Link
from pegboard.model.curation import Event
from pegboard.model.items import Candidate, Drift, Filters, Form, ItemId
from pegboard.store.opening import open_store

STORES = ("sqlite", "postgres")
REFUND = "mcptools:payments:refund_payment"


def found(board, query, **filters):
    return [hit.name for hit in board.search(query, mode="bm25", filters=Filters(**filters)).hits]


# Descriptions.


def test_a_description_of_ones_own_survives_every_sync_until_it_is_reset(board, folder):
    board.curate.describe("refund_payment", "Undo a purchase.", "mia")
    folder.write("payments/refund_payment", "Give a customer something else.")
    assert board.sync().sources[0].changed == 1
    assert board.sync(full=True).sources[0].unchanged == 6
    entry = board.show(REFUND)
    assert entry.item.description == "Undo a purchase."
    assert entry.imported_description == "Give a customer something else."
    assert found(board, "purchase") == ["refund_payment"]
    assert found(board, "customer") == []
    entry = board.curate.reset(REFUND, "ben")
    assert entry.item.description == "Give a customer something else."
    assert found(board, "purchase") == []
    board.backfill()
    assert board.check() == []
    assert [(each.event, each.by) for each in board.curate.history("refund_payment")] == [
        (Event.RESET, "ben"),
        (Event.DESCRIBED, "mia"),
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("x" * 100_001, "100,001 characters"),
        ("Send it\u202e now", "cannot see"),
        ("Send it\x00", "cannot see"),
    ],
)
def test_a_description_goes_through_the_rules_of_the_gate(board, text, told):
    with pytest.raises(UsageError, match=told):
        board.curate.describe(REFUND, text, "mia")
    assert not board.show(REFUND).manual_override


@pytest.mark.parametrize("word", ["mia\u202e", "x" * 2_001])
def test_whatever_is_remembered_of_a_decision_can_be_shown(board, word):
    for decide in (
        lambda: board.curate.describe(REFUND, "Mine.", word),
        lambda: board.curate.deactivate(REFUND, "mia", word),
        lambda: board.curate.deactivate(REFUND, word),
    ):
        with pytest.raises(UsageError):
            decide()
    assert board.curate.history(REFUND) == []


def test_nothing_is_decided_about_what_is_not_there(board):
    for decide in (
        lambda: board.curate.describe("nothing", "Mine.", "mia"),
        lambda: board.curate.reset("nothing", "mia"),
        lambda: board.curate.deactivate("nothing", "mia"),
        lambda: board.curate.activate("nothing", "mia"),
        lambda: board.curate.history("nothing"),
    ):
        with pytest.raises(ItemNotFound):
            decide()


# On and off.


def test_what_is_switched_off_stays_so_until_it_is_switched_on(board, folder):
    board.curate.deactivate("refund_payment", "mia", "Nobody gets money back.")
    folder.write("payments/refund_payment", "Give a customer something else.")
    assert board.sync().sources[0].changed == 1
    assert board.sync().sources[0].unchanged == 6
    assert found(board, "customer") == []
    assert found(board, "customer", active=False) == ["refund_payment"]
    [hit] = board.search("customer", mode="bm25", filters=Filters(active=None)).hits
    assert hit.notes == ("switched off",)
    entry = board.curate.activate(REFUND, "mia")
    assert entry.item.description == "Give a customer something else."
    assert found(board, "customer") == ["refund_payment"]
    board.backfill()
    assert board.check() == []


def test_what_was_not_switched_off_cannot_be_switched_on(board, folder):
    with pytest.raises(UsageError, match="it is active"):
        board.curate.activate(REFUND, "mia")
    folder.path("payments/refund_payment").unlink()
    board.sync()
    with pytest.raises(UsageError, match="gone from its source"):
        board.curate.activate(REFUND, "mia")


def test_what_is_off_is_named_by_its_id_in_any_namespace(opened):
    board = opened()
    sync(board.store, Said([tool("send", "x", namespace="team/a"), tool("send", "x")]))
    item_id = f"{SOURCE}:mail:send"
    board.curate.deactivate(f"team/a/{item_id}", "mia")
    assert board.show(item_id).active
    entry = board.curate.activate(f"team/a/{item_id}", "mia")
    assert (entry.item.namespace, entry.active) == ("team/a", True)
    assert len(board.curate.history(f"team/a/{item_id}")) == 2
    assert board.curate.history(f"public/{item_id}") == []


# History.


def test_going_and_returning_is_remembered_also_after_the_removal(board, folder):
    path = folder.path("payments/refund_payment")
    content = path.read_bytes()
    path.unlink()
    board.sync()
    folder.raw("payments/refund_payment", content)
    board.sync()
    board.remove_source("tools")
    found = board.curate.history(REFUND)
    assert [each.event for each in found] == [Event.PURGED, Event.RETURNED, Event.MISSING]
    assert board.curate.history(f"public/{REFUND}") == found


# Links.


def test_a_sync_says_how_many_links_lead_nowhere(opened):
    board = opened()
    said = [
        tool("one", "x", links=[["uses", "two"], ["uses", "three"]]),
        tool("two", "x", links=[]),
    ]
    assert sync(board.store, Said(said)).loose_links == 1
    assert [each.target for each in board.curate.loose_links()] == ["three"]
    assert [(each.target, each.id) for each in board.curate.ties(board.show("one"))] == [
        ("three", None),
        ("two", f"{SOURCE}:mail:two"),
    ]
    both = [*said, tool("three", "x", links=[])]
    assert sync(board.store, Said(both), under=["mail"]).loose_links == 0
    assert board.curate.loose_links() == []
    assert sync(board.store, Said(said), under=["mail"]).loose_links == 1
    assert sync(board.store, Said(both)).loose_links == 0


def test_items_are_searched_by_what_they_are_linked_with_under_any_of_its_names(opened):
    board = opened()
    said = [tool("one", "x", links=[["uses", "two"]]), tool("two", "x", links=[]), tool("six", "x")]
    sync(board.store, Said(said))
    for name in ("one", "mail__one", f"{SOURCE}:mail:one"):
        assert found(board, "x", linked=(name,)) == ["two"]
    assert found(board, "x", linked=("two",)) == ["one"]
    with pytest.raises(ItemNotFound):
        board.search("x", filters=Filters(linked=("nothing",)))
    board.within = Filters(namespaces=("elsewhere",))
    with pytest.raises(ItemNotFound):
        board.search("x", filters=Filters(linked=("one",)))


def test_what_is_deprecated_says_so(opened):
    board = opened()
    board.store.items.put([], None)
    sync(board.store, Said([tool("one", "x", deprecated=True)]))
    [hit] = board.search("one", mode="bm25").hits
    assert hit.notes == ("deprecated",)
    sync(board.store, Said([tool("one", "x", deprecated=True, replacement="tools:mail:two")]))
    [hit] = board.search("one", mode="bm25").hits
    assert hit.notes == ("deprecated; use tools:mail:two instead",)


# Rejections.


def note(text):
    fields = {"id": "knowledge::note", "name": "note", "kind": "knowledge"}
    document = text.encode()
    return Candidate(
        SOURCE, "note.md", f"hash of {text}", fields, form=Form.KNOWLEDGE, document=document
    )


def test_a_document_that_was_refused_is_forgotten_when_it_becomes_valid(opened):
    board = opened()
    sync(board.store, Said([note("---\ntags: [\n---\nText.\n"), tool("one", "x")]))
    [refused] = board.curate.rejections()
    assert (refused.source, refused.origin) == (SOURCE, "note.md")
    assert refused.rejected_at is not None
    assert board.curate.rejections(SOURCE) == [refused]
    assert board.curate.rejections("elsewhere") == []
    good = note("---\nlinks: [one]\n---\nText.\n")
    sync(board.store, Said([good, tool("one", "x")]))
    assert board.curate.rejections() == []
    assert board.show("knowledge::note").item.links == (Link("related", "one"),)
    assert [each.name for each in board.curate.ties(board.show("one"))][-1] == "note"


# At the same time.


def test_a_description_that_is_set_while_a_sync_runs_is_not_lost(opened):
    board = opened()
    sync(board.store, Said([tool("one", "old")]))

    def decide():
        board.curate.describe("one", "Mine.", "mia")

    sync(board.store, Said([tool("one", "new")], before_end=decide))
    entry = board.show("one")
    assert (entry.item.description, entry.item.tags) == ("Mine.", ("new",))
    assert entry.imported_description == "It is new."
    assert board.check() == []


def test_what_is_switched_off_while_a_sync_runs_stays_off(opened):
    board = opened()
    sync(board.store, Said([tool("one", "old"), tool("two", "old")]))

    def decide():
        board.curate.deactivate("one", "mia")
        board.curate.deactivate("two", "mia")

    sync(board.store, Said([tool("one", "new")], before_end=decide))
    one, two = (board.curate.chosen(f"{SOURCE}:mail:{name}") for name in ("one", "two"))
    assert (one.active, one.drift, one.item.tags) == (False, Drift.NONE, ("new",))
    assert (two.active, two.drift) == (False, Drift.MISSING)
    assert board.check() == []


def whole_and_of_one_sync(store):
    """No rule is broken, and no item is half of one snapshot and half of another."""
    assert store.check() == []
    entries = store.items.page(0, 100)
    assert {entry.item.id for entry in entries} == {f"{SOURCE}:mail:tool{n}" for n in range(40)}
    for entry in entries:
        [mark] = entry.item.tags
        assert entry.item.description == f"It is {mark}."
        assert entry.item.origin_hash == f"hash {mark}"
        assert (entry.drift is Drift.MISSING) is not entry.active
    both = [each for each in entries if 10 <= int(each.item.name.removeprefix("tool")) < 30]
    assert all(entry.active for entry in both)
    assert store.ledger.rejections() == []


def test_two_threads_that_sync_one_source_end_in_one_consistent_state(place):
    stores = [open_store(place, create=True) for _ in range(2)]
    start = threading.Barrier(2)

    def run(store, side):
        start.wait(30)
        sync_again_and_again(store, side)

    threads = [
        threading.Thread(target=run, args=pair)
        for pair in zip(stores, ("left", "right"), strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads)
    whole_and_of_one_sync(stores[0])
    for store in stores:
        store.close()


@pytest.mark.program
def test_two_processes_that_sync_one_source_lose_no_decision_and_end_in_one_state(opened, place):
    board = opened()
    sync(board.store, Said([tool("tool20", "first")]))
    child = [sys.executable, str(Path(__file__).with_name("snapshots.py")), str(place)]
    running = [
        subprocess.Popen([*child, side], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for side in ("left", "right")
    ]
    try:
        for each in running:
            assert each.stdout.readline() == "ready\n"
        for each in running:
            each.stdin.write("go\n")
            each.stdin.flush()
        for n in range(5):
            board.curate.describe("tool20", f"Mine {n}.", "mia")
        assert [each.wait(120) for each in running] == [0, 0]
    finally:
        for each in running:
            each.kill()
            each.wait(30)
            each.stdin.close()
            each.stdout.close()
    entry = board.store.items.get(ItemId(f"{SOURCE}:mail:tool20"), "public")
    assert (entry.item.description, entry.manual_override) == ("Mine 4.", True)
    board.curate.reset("tool20", "mia")
    whole_and_of_one_sync(board.store)
