"""Which model's vectors are searched: chosen, built beside, switched to, left again."""

import threading

import pytest

from making import (
    OTHER_MODEL,
    entry_of,
    hang,
    make_item,
    make_vector,
    retire,
    work,
)
from pegboard.errors import BoardCorrupt
from pegboard.model.items import EmbeddingStatus, Filters, Fingerprint, Model, ModelSpec, ModelState
from pegboard.text import embedding_text

OTHER = Model(OTHER_MODEL, ModelSpec("test", "another", 2, "http://there/v1", "env:KEY"))
THIRD = Model(Fingerprint("test", "third", 2, 1), ModelSpec("test", "third"))


@pytest.fixture
def own(embedder):
    return Model(embedder.fingerprint, ModelSpec("test"))


@pytest.fixture
def shelf(store, embedder, own):
    """Three items with vectors of the active model."""
    items = [make_item(name) for name in ("one", "two", "three")]
    store.models.want(own, chosen=False)
    hang(store, embedder, *items)
    return items


def text_of(store, item):
    entry = entry_of(store, item)
    return entry.key, entry.content_hash, embedding_text(entry.item)


def queue(store, *items, target=OTHER_MODEL):
    return store.tasks.enqueue(target, [text_of(store, item) for item in items])


def build(store, *items, target=OTHER_MODEL):
    """Vectors of another model for these items."""
    queue(store, *items, target=target)
    tasks = store.tasks.claim(target, "builder", 100, 60.0)
    return store.tasks.finish(target, [(task, make_vector(1, 0)) for task in tasks])


def test_a_new_board_has_no_model(store):
    assert store.models.state() == ModelState()
    assert store.models.kept() == []
    assert store.models.prune() == 0


def test_the_first_model_that_is_wanted_is_active_at_once(store, own):
    assert store.models.want(own, chosen=False) == ModelState(active=own)
    assert store.models.state() == ModelState(active=own)


def test_what_is_known_of_a_model_comes_back_as_it_was_given(store):
    assert store.models.want(OTHER, chosen=True) == ModelState(active=OTHER, chosen=True)
    moved = OTHER._replace(spec=OTHER.spec._replace(base_url="http://elsewhere/v1"))
    assert store.models.want(moved, chosen=True).active == moved


def test_another_model_is_built_beside_the_active_one(store, shelf, own):
    assert store.models.want(OTHER, chosen=True) == ModelState(own, wanted=OTHER, chosen=True)
    assert store.models.activate(OTHER_MODEL) is False
    assert store.models.state().active == own


def test_an_active_model_without_any_vector_gives_way_at_once(store, own):
    store.models.want(own, chosen=False)
    assert store.models.want(OTHER, chosen=False) == ModelState(OTHER)


def test_wanting_the_active_model_ends_the_change(store, shelf, own):
    store.models.want(OTHER, chosen=True)
    build(store, *shelf)
    assert store.models.want(own, chosen=False) == ModelState(active=own)
    assert store.models.activate(OTHER_MODEL) is False
    assert store.models.activate(own.fingerprint) is True


def test_the_switch_waits_for_every_vector_and_then_is_made(store, shelf, own):
    store.models.want(OTHER, chosen=True)
    build(store, *shelf[:2])
    assert store.models.activate(OTHER_MODEL) is False
    build(store, shelf[2])
    assert store.models.activate(OTHER_MODEL) is True
    assert store.models.state() == ModelState(active=OTHER, previous=own, chosen=True)
    assert store.check() == []


def test_the_switch_does_not_wait_for_what_is_retired_or_has_no_text(store, shelf, embedder):
    blank = make_item("!", category="", description="")
    store.items.put([blank], embedder.fingerprint)
    store.models.want(OTHER, chosen=True)
    build(store, *shelf[:2])
    retire(store, *shelf[:2], blank)
    assert store.models.activate(OTHER_MODEL) is True


def test_an_item_that_was_edited_during_the_change_is_waited_for(store, shelf, embedder):
    store.models.want(OTHER, chosen=True)
    build(store, *shelf)
    store.items.put([shelf[0]._replace(description="Edited.")], embedder.fingerprint)
    work(store, embedder)
    assert store.models.activate(OTHER_MODEL) is False
    build(store, shelf[0])
    assert store.models.activate(OTHER_MODEL) is True


def test_what_was_given_up_holds_up_the_switch_unless_it_may_be_skipped(store, shelf):
    store.models.want(OTHER, chosen=True)
    build(store, *shelf[:2])
    queue(store, shelf[2])
    [task] = store.tasks.claim(OTHER_MODEL, "builder", 10, 60.0)
    assert store.models.activate(OTHER_MODEL, skip_failed=True) is False
    store.tasks.fail("builder", task, "too hard", None)
    assert store.models.activate(OTHER_MODEL) is False
    assert store.models.activate(OTHER_MODEL, skip_failed=True) is True
    assert store.check() == []


def test_a_model_that_nobody_wants_is_not_switched_to(store, shelf, own):
    build(store, *shelf)
    assert store.models.activate(OTHER_MODEL) is False
    assert store.models.state() == ModelState(active=own)


def test_several_at_once_make_one_switch(store, shelf, own):
    store.models.want(OTHER, chosen=True)
    build(store, *shelf)
    ready, told = threading.Barrier(4), []

    def switch():
        ready.wait(30)
        told.append(store.models.activate(OTHER_MODEL))

    threads = [threading.Thread(target=switch) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert told == [True] * 4
    assert store.models.state() == ModelState(active=OTHER, previous=own, chosen=True)


def test_after_the_switch_nothing_is_left_to_do_for_the_old_model(store, shelf, embedder):
    store.models.want(OTHER, chosen=True)
    build(store, *shelf)
    queue(store, shelf[0], target=embedder.fingerprint)
    assert store.models.activate(OTHER_MODEL) is True
    assert store.tasks.waiting(embedder.fingerprint) == 0
    states = [entry_of(store, item).embedding for item in shelf]
    assert {(state.status, state.model) for state in states} == {
        (EmbeddingStatus.READY, "test:another")
    }
    assert store.check() == []


def test_after_the_way_back_items_say_whose_vector_is_searched(store, shelf, own):
    store.models.want(OTHER, chosen=True)
    build(store, *shelf)
    store.models.activate(OTHER_MODEL)
    store.models.want(own, chosen=True)
    assert store.models.activate(own.fingerprint) is True
    assert store.models.state() == ModelState(active=own, previous=OTHER, chosen=True)
    assert entry_of(store, shelf[0]).embedding.model == "test:hashed-ngrams"
    assert entry_of(store, shelf[0]).embedding.dimension == own.fingerprint.dimension


def test_the_vectors_of_two_models_are_never_mixed(store, shelf, embedder):
    store.models.want(OTHER, chosen=True)
    build(store, shelf[0])
    query = embedder.embed_query("one")
    assert len(store.index.vector(query, embedder.fingerprint, Filters(), 10)) == 3
    assert len(store.index.vector(make_vector(1, 0), OTHER_MODEL, Filters(), 10)) == 1


def test_vectors_are_counted_for_each_model(store, shelf, embedder):
    store.models.want(OTHER, chosen=True)
    build(store, shelf[0])
    counted = {each.fingerprint: each.vectors for each in store.models.kept()}
    assert counted == {embedder.fingerprint: 3, OTHER_MODEL: 1}


def test_pruning_leaves_the_models_that_are_in_use_wanted_or_left_last(store, shelf, own):
    build(store, *shelf, target=THIRD.fingerprint)
    store.models.want(OTHER, chosen=True)
    build(store, *shelf)
    store.models.activate(OTHER_MODEL)
    assert store.models.prune() == 3
    assert [each.fingerprint for each in store.models.kept()] == [own.fingerprint, OTHER_MODEL]
    store.models.want(THIRD, chosen=True)
    build(store, *shelf, target=THIRD.fingerprint)
    assert store.models.prune() == 0
    assert store.models.activate(THIRD.fingerprint) is True
    assert store.models.prune() == 3
    assert store.models.state().previous == OTHER
    assert store.check() == []


def test_a_board_that_has_not_chosen_keeps_all_its_vectors(store, embedder):
    hang(store, embedder, make_item())
    assert store.models.prune() == 0
    assert [each.vectors for each in store.models.kept()] == [1]


def test_a_board_in_two_hands_shows_the_switch_to_both(sqlite_store, embedder, own):
    other = type(sqlite_store)(sqlite_store.database.path)
    try:
        item = make_item()
        sqlite_store.models.want(own, chosen=False)
        hang(sqlite_store, embedder, item)
        assert other.models.state().active == own
        sqlite_store.models.want(OTHER, chosen=True)
        build(sqlite_store, item)
        sqlite_store.models.activate(OTHER_MODEL)
        assert other.models.state().active == OTHER
    finally:
        other.close()


def test_a_model_that_cannot_be_read_is_an_error_of_the_board(sqlite_store, own):
    sqlite_store.models.want(own, chosen=False)
    sqlite_store.database.rows("UPDATE models SET spec = '[not json'")
    with pytest.raises(BoardCorrupt, match="pegboard model use"):
        sqlite_store.models.state()


def seen(store, item):
    entry = entry_of(store, item)
    return entry.updated_at, entry.created_at, entry.content_hash, entry.item


def test_nothing_that_is_done_about_vectors_changes_the_item_itself(store, embedder, own):
    item = make_item()
    store.items.put([item], embedder.fingerprint)
    before = seen(store, item)
    store.models.want(own, chosen=False)
    [task] = store.tasks.claim(embedder.fingerprint, "worker", 1, 60.0)
    store.tasks.fail("worker", task, "no luck", None)
    store.tasks.revive(None)
    [task] = store.tasks.claim(embedder.fingerprint, "worker", 1, 60.0)
    store.tasks.release("worker", died=True)
    work(store, embedder)
    queue(store, item, target=embedder.fingerprint)
    work(store, embedder)
    store.models.want(OTHER, chosen=True)
    build(store, item)
    store.models.activate(OTHER_MODEL)
    store.tasks.adopt(OTHER_MODEL)
    queue(store, item)
    store.tasks.disable()
    store.models.prune()
    assert seen(store, item) == before
