"""What a source says an item is worth decides between equals, on every store."""

import pytest

from making import entry_of, filler, hang, make_item
from pegboard.board.find.answering import Ask, FindSettings, find
from pegboard.model.items import ItemId, Mode
from pegboard.search.boosts import MOST, BoostSettings


def twins(*weights, **fields):
    """The same item under the ids `t:0`, `t:1` and so on, with these weights."""
    return [
        make_item("post_it", id=ItemId(f"t:{n}"), category=str(n), semantic_weight=weight, **fields)
        for n, weight in enumerate(weights)
    ]


def order(store, embedder, text, mode=Mode.HYBRID, settings=None):
    ask = Ask(text, mode, threshold=0.0)
    return [hit.id for hit in find(store, embedder, ask, settings or FindSettings()).hits]


@pytest.mark.parametrize("mode", Mode)
def test_of_two_equals_the_heavier_comes_first_whichever_way_they_are_found(store, embedder, mode):
    hang(store, embedder, *twins(1.0, 1.5), *filler(5))
    assert order(store, embedder, "what post it does", mode)[:2] == ["t:1", "t:0"]
    off = FindSettings(boosts=BoostSettings(semantic_weight=0.0))
    assert order(store, embedder, "what post it does", mode, off)[:2] == ["t:0", "t:1"]


def test_equals_stand_in_the_order_of_their_weights_up_to_twice_the_usual(store, embedder):
    hang(store, embedder, *twins(0.0, 0.5, 1.0, 1.5, 2.0), *filler(5))
    assert order(store, embedder, "what post it does") == ["t:4", "t:3", "t:2", "t:1", "t:0"]


def test_beyond_twice_the_usual_more_weight_changes_nothing(store, embedder):
    hang(store, embedder, *twins(2.0, 10.0), *filler(5))
    assert order(store, embedder, "what post it does")[:2] == ["t:0", "t:1"]


def test_weight_lifts_nothing_above_what_is_clearly_better(store, embedder):
    better = make_item("book_flight", description="Book a flight to another city.")
    worse = make_item("book_room", description="A room for the night.", semantic_weight=10.0)
    hang(store, embedder, better, worse, *filler(5))
    found = find(
        store, embedder, Ask("book a flight to a city", explain=True, threshold=0.0), FindSettings()
    )
    first, second = found.explanation.items[:2]
    assert [first.id, second.id] == [better.id, worse.id]
    assert first.fused - second.fused > MOST
    assert second.boosts["semantic_weight"] == BoostSettings().semantic_weight


def test_a_new_weight_counts_from_the_next_put_on(store, embedder):
    light, heavy = twins(1.0, 1.0)
    hang(store, embedder, light, heavy, *filler(5))
    heavy = heavy._replace(semantic_weight=1.2)
    store.items.put([heavy], embedder.fingerprint)
    key = entry_of(store, heavy).key
    assert store.index.entries([key])[key].item.semantic_weight == 1.2
    assert order(store, embedder, "what post it does")[:2] == ["t:1", "t:0"]
