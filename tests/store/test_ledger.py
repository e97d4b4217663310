import time

import pytest

from making import SOURCE, entry_of, hang, make_item, word_hits
from pegboard.model.items import Rejection, SourceRecord

FOLDER = SourceRecord("tools", "pytools", "/srv/tools", "team")


def refused(origin, source=SOURCE, code="no_name"):
    return Rejection(source, origin, f"hash of {origin}", code, f"{origin} has no name")


def origins(store):
    return [(rejection.source, rejection.origin) for rejection in store.ledger.rejections()]


def test_sources_come_back_as_they_were_added_in_order_of_name(store):
    other = SourceRecord("exports", "jsonl", "/srv/größe.jsonl")
    store.ledger.add_source(FOLDER)
    store.ledger.add_source(other)
    assert store.ledger.sources() == [other, FOLDER]


def test_adding_a_source_again_moves_it_and_remembers_when_it_was_synced(store):
    store.ledger.add_source(FOLDER)
    store.ledger.mark_synced("tools")
    moved = FOLDER._replace(location="/opt/tools", namespace="public")
    store.ledger.add_source(moved)
    [record] = store.ledger.sources()
    assert record._replace(synced_at=None) == moved
    assert record.synced_at is not None


def test_a_source_that_moves_takes_its_rejections_along(store):
    for namespace in ("team", "public", "team"):
        store.ledger.add_source(FOLDER._replace(namespace=namespace))
        store.ledger.reject([refused("a", FOLDER.name), refused("b", FOLDER.name)])
        assert origins(store) == [(FOLDER.name, "a"), (FOLDER.name, "b")]


def test_a_source_remembers_when_it_was_last_synced(store):
    store.ledger.add_source(FOLDER)
    before = time.time()
    store.ledger.mark_synced("tools")
    [record] = store.ledger.sources()
    assert record.synced_at is not None
    assert before <= record.synced_at <= time.time()


def test_marking_an_unknown_source_synced_adds_none(store):
    store.ledger.mark_synced("nobody")
    assert store.ledger.sources() == []


def test_removing_a_source_takes_its_items_and_rejections_and_nothing_else(store, embedder):
    store.ledger.add_source(FOLDER)
    store.ledger.add_source(SourceRecord("others", "pytools", "/srv/others"))
    mine, theirs = make_item("mine"), make_item("theirs", source="others")
    keys = hang(store, embedder, mine, theirs)
    store.ledger.reject([refused("a"), refused("b", "others")])
    assert store.ledger.remove_source("tools") is True
    assert [record.name for record in store.ledger.sources()] == ["others"]
    assert store.items.get(mine.id, mine.namespace) is None
    assert entry_of(store, theirs).key == keys[1]
    assert word_hits(store, ["mine"]) == []
    assert origins(store) == [("others", "b")]
    assert store.check() == []


def test_removing_a_source_that_is_not_there_says_so(store):
    assert store.ledger.remove_source("nobody") is False


def test_rejections_come_back_with_the_time_and_in_order(store):
    before = time.time()
    store.ledger.reject([refused("b"), refused("a"), refused("c", "others")])
    found = store.ledger.rejections()
    expected = [refused("c", "others"), refused("a"), refused("b")]
    assert [rejection._replace(rejected_at=None) for rejection in found] == expected
    assert all(r.rejected_at and before <= r.rejected_at <= time.time() for r in found)


@pytest.mark.parametrize("origin", ["a\0b", "\ud800", "x" * 5_000])
def test_whatever_an_origin_is_called_its_rejection_is_kept_and_forgotten(store, origin):
    named = [refused(each)._replace(origin_hash="same") for each in (origin, f"{origin}!")]
    store.ledger.reject(named)
    assert len(origins(store)) == 2
    store.ledger.settle(SOURCE, [], [origin])
    assert len(origins(store)) == 1
    store.ledger.settle(SOURCE, [origin], None)
    assert origins(store) == []


def test_an_origin_refused_again_is_kept_once_with_its_latest_reason(store):
    store.ledger.reject([refused("a")])
    later = refused("a", code="too_long")._replace(reason="far too long", origin_hash="new")
    store.ledger.reject([later])
    assert [r._replace(rejected_at=None) for r in store.ledger.rejections()] == [later]


def test_refused_origins_are_known_so_that_they_are_not_read_again(store):
    item = make_item()
    store.items.put([item], None)
    store.ledger.reject([refused("a"), refused("b", "others")])
    assert store.items.origins(SOURCE) == {item.origin: item.origin_hash, "a": "hash of a"}


def test_an_admitted_origin_is_no_longer_rejected(store):
    store.ledger.reject([refused("a"), refused("b"), refused("a", "others")])
    store.ledger.settle(SOURCE, ["a"], None)
    assert origins(store) == [("others", "a"), (SOURCE, "b")]


def test_after_a_whole_scan_origins_that_were_not_seen_are_forgotten(store):
    store.ledger.reject([refused("a"), refused("b"), refused("c"), refused("b", "others")])
    store.ledger.settle(SOURCE, ["a"], ["a", "c"])
    assert origins(store) == [("others", "b"), (SOURCE, "c")]


@pytest.mark.parametrize("seen", [None, ["a"]])
def test_settling_nothing_forgets_nothing_that_was_seen(store, seen):
    store.ledger.reject([refused("a")])
    store.ledger.settle(SOURCE, [], seen)
    assert origins(store) == [(SOURCE, "a")]


def test_a_whole_scan_that_saw_nothing_forgets_every_rejection_of_its_source(store):
    store.ledger.reject([refused("a"), refused("a", "others")])
    store.ledger.settle(SOURCE, [], [])
    assert origins(store) == [("others", "a")]
