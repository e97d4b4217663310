import threading
import time
from collections import Counter
from contextlib import contextmanager

import pytest

from making import OTHER_MODEL, entry_of, hang, make_item, make_vector, purge, retire, work
from pegboard.model.items import EmbeddingCounts, EmbeddingStatus, Filters
from pegboard.text import embedding_text

LEASE = 60.0
OVER = -1.0
"""A lease that has ended before it began."""


def put(store, embedder, *names):
    items = [make_item(name) for name in names]
    store.items.put(items, embedder.fingerprint)
    return items


def claim(store, embedder, owner="worker", limit=10, lease=LEASE):
    return store.tasks.claim(embedder.fingerprint, owner, limit, lease)


def finish(store, embedder, tasks):
    vectors = embedder.embed([task.text for task in tasks])
    done = list(zip(tasks, vectors, strict=True))
    return store.tasks.finish(embedder.fingerprint, done)


def status(store, item):
    return entry_of(store, item).embedding.status


def text_of(store, item):
    entry = entry_of(store, item)
    return entry.key, entry.content_hash, embedding_text(entry.item)


def test_a_claim_takes_the_oldest_tasks_up_to_its_limit(store, embedder):
    items = put(store, embedder, "one", "two", "three")
    keys = [entry_of(store, item).key for item in items]
    assert {task.item_key for task in claim(store, embedder, limit=2)} == set(keys[:2])
    assert [task.item_key for task in claim(store, embedder)] == keys[2:]
    assert claim(store, embedder) == []


def test_a_claim_counts_the_attempt_and_names_the_owner(store, embedder):
    put(store, embedder, "one")
    assert store.tasks.owners() == []
    [task] = claim(store, embedder, "me")
    assert task.attempts == 1
    assert store.tasks.owners() == ["me"]


def test_a_claim_for_a_model_nobody_asked_for_is_empty(store, embedder):
    put(store, embedder, "one")
    assert store.tasks.claim(OTHER_MODEL, "worker", 10, LEASE) == []


def test_a_task_whose_lease_ran_out_is_claimed_again_and_the_attempt_counted(store, embedder):
    put(store, embedder, "one")
    [first] = claim(store, embedder, "dead", lease=OVER)
    [again] = claim(store, embedder, "alive")
    assert again == first._replace(attempts=2)
    assert claim(store, embedder, "third") == []
    assert store.tasks.owners() == ["alive"]


def test_a_lease_begins_when_the_task_is_had_and_not_while_others_write(
    sqlite_store, embedder, monkeypatch
):
    put(sqlite_store, embedder, "one")
    write, clock = sqlite_store.database.write, [time.time()]

    @contextmanager
    def after_others():
        clock[0] += 2 * LEASE  # so long it waits for the lock
        with write() as tx:
            yield tx

    with monkeypatch.context() as patched:
        patched.setattr(sqlite_store.database, "write", after_others)
        patched.setattr(time, "time", lambda: clock[0])
        assert len(claim(sqlite_store, embedder, "slow")) == 1
        assert claim(sqlite_store, embedder, "quick") == []


def test_two_owners_at_once_never_get_the_same_task(store, embedder):
    put(store, embedder, *(f"tool{n}" for n in range(60)))
    got: dict[str, list[int]] = {}
    ready = threading.Barrier(4)

    def take(owner):
        ready.wait(30)
        taken = got[owner] = []
        while tasks := claim(store, embedder, owner, limit=4):
            taken.extend(task.id for task in tasks)

    threads = [threading.Thread(target=take, args=(f"owner{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    everything = [task for taken in got.values() for task in taken]
    assert len(everything) == len(set(everything)) == 60


def test_a_finished_task_is_gone_and_its_vector_hangs(store, embedder):
    [item] = put(store, embedder, "one")
    tasks = claim(store, embedder)
    before = time.time()
    assert finish(store, embedder, tasks) == 1
    state = entry_of(store, item).embedding
    assert state.status is EmbeddingStatus.READY
    assert state.model == "test:hashed-ngrams"
    assert state.dimension == 256
    assert state.embedded_at is not None
    assert before <= state.embedded_at <= time.time()
    assert store.tasks.waiting(embedder.fingerprint) == 0
    [hit] = store.index.vector(
        embedder.embed_query(tasks[0].text), embedder.fingerprint, Filters(), 5
    )
    assert hit.score == pytest.approx(1.0, abs=1e-6)


def test_a_vector_of_a_text_that_was_edited_meanwhile_is_not_hung(store, embedder):
    [item] = put(store, embedder, "one")
    tasks = claim(store, embedder)
    edited = item._replace(description="Edited.")
    store.items.put([edited], embedder.fingerprint)
    assert finish(store, embedder, tasks) == 0
    assert status(store, item) is EmbeddingStatus.PENDING
    query = embedder.embed_query("one")
    assert store.index.vector(query, embedder.fingerprint, Filters(), 5) == []
    assert store.check() == []
    assert [task.text for task in work(store, embedder)] == [embedding_text(edited)]
    assert status(store, item) is EmbeddingStatus.READY


def test_a_text_edited_there_and_back_still_takes_its_vector(store, embedder):
    [item] = put(store, embedder, "one")
    tasks = claim(store, embedder)
    store.items.put([item._replace(description="Edited.")], embedder.fingerprint)
    store.items.put([item], embedder.fingerprint)
    assert finish(store, embedder, tasks) == 1
    assert status(store, item) is EmbeddingStatus.READY
    assert store.tasks.waiting(embedder.fingerprint) == 0
    assert store.check() == []


def test_finishing_late_never_takes_a_task_away_from_another_item(store, embedder):
    """Task numbers may be given twice, so a number alone must not decide what is dropped."""
    [gone] = put(store, embedder, "gone")
    tasks = claim(store, embedder)
    purge(store)
    assert store.items.get(gone.id, gone.namespace) is None
    [other] = put(store, embedder, "other")
    assert finish(store, embedder, tasks) == 0
    assert status(store, other) is EmbeddingStatus.PENDING
    assert store.check() == []
    assert len(claim(store, embedder, "next")) == 1


def test_a_late_vector_of_the_old_model_leaves_the_task_of_the_new_one(store, embedder):
    [item] = put(store, embedder, "one")
    tasks = claim(store, embedder)
    store.tasks.enqueue(OTHER_MODEL, [text_of(store, item)])
    finish(store, embedder, tasks)
    assert len(store.tasks.claim(OTHER_MODEL, "next", 10, LEASE)) == 1


def test_failing_late_never_touches_a_task_that_somebody_else_holds(store, embedder):
    [item] = put(store, embedder, "one")
    [task] = claim(store, embedder, "slow", lease=OVER)
    claim(store, embedder, "quick")
    store.tasks.fail("slow", task, "too slow", None)
    assert status(store, item) is EmbeddingStatus.PENDING
    assert store.tasks.owners() == ["quick"]
    assert store.check() == []


def test_finishing_twice_hangs_the_same_vector_again(store, embedder):
    [item] = put(store, embedder, "one")
    slow = claim(store, embedder, "slow", lease=OVER)
    quick = claim(store, embedder, "quick")
    assert finish(store, embedder, quick) == 1
    assert finish(store, embedder, slow) == 1
    assert status(store, item) is EmbeddingStatus.READY
    assert store.check() == []


def test_a_failed_task_waits_until_its_time_to_try_again(store, embedder):
    [item] = put(store, embedder, "one")
    [task] = claim(store, embedder)
    store.tasks.fail("worker", task, "no luck", time.time() + 3600)
    assert status(store, item) is EmbeddingStatus.PENDING
    assert claim(store, embedder) == []
    assert store.tasks.owners() == []
    assert store.tasks.waiting(embedder.fingerprint) == 1
    assert store.check() == []


def test_a_failed_task_whose_time_has_come_is_claimed_with_its_attempts(store, embedder):
    put(store, embedder, "one")
    [task] = claim(store, embedder)
    store.tasks.fail("worker", task, "no luck", time.time() - 1)
    [again] = claim(store, embedder)
    assert again.attempts == 2


def test_what_failed_before_comes_first_if_that_is_asked_for(store, embedder):
    put(store, embedder, "one")
    [task] = claim(store, embedder)
    store.tasks.fail("worker", task, "no luck", time.time() - 1)
    put(store, embedder, "two", "three")
    ask = embedder.fingerprint, "worker", 10, LEASE
    assert store.tasks.claim(*ask, tried_first=True) == [task._replace(attempts=2)]
    assert len(store.tasks.claim(*ask, tried_first=True)) == 2
    assert store.tasks.claim(*ask, tried_first=True) == []


def test_tasks_for_a_model_that_nobody_works_for_are_noticed(store, embedder):
    assert not store.tasks.has_stray([embedder.fingerprint])
    put(store, embedder, "one")
    assert not store.tasks.has_stray([embedder.fingerprint, OTHER_MODEL])
    assert store.tasks.has_stray([OTHER_MODEL])
    assert store.tasks.has_stray([])


def test_a_task_given_up_marks_its_item_failed_with_the_error(store, embedder):
    [item] = put(store, embedder, "one")
    [task] = claim(store, embedder)
    store.tasks.fail("worker", task, "no luck", None)
    state = entry_of(store, item).embedding
    assert (state.status, state.error) == (EmbeddingStatus.FAILED, "no luck")
    assert claim(store, embedder) == []
    assert store.tasks.waiting(embedder.fingerprint) == 0
    assert store.check() == []


def test_a_new_text_gives_a_failed_item_a_fresh_start(store, embedder):
    [item] = put(store, embedder, "one")
    [task] = claim(store, embedder)
    store.tasks.fail("worker", task, "no luck", None)
    store.items.put([item._replace(description="Better.")], embedder.fingerprint)
    state = entry_of(store, item).embedding
    assert (state.status, state.error) == (EmbeddingStatus.PENDING, "")
    [again] = claim(store, embedder)
    assert again.attempts == 1


def test_released_tasks_are_free_again_as_if_never_claimed(store, embedder):
    put(store, embedder, "one", "two", "three")
    mine = claim(store, embedder, "mine", limit=2)
    claim(store, embedder, "theirs", limit=1)
    assert store.tasks.release("mine") == 2
    assert store.tasks.owners() == ["theirs"]
    again = claim(store, embedder, "next")
    assert sorted(again) == sorted(mine)
    assert {task.attempts for task in again} == {1}
    assert store.tasks.release("nobody") == 0


def give_up(store, embedder, *names):
    items = put(store, embedder, *names)
    for task in claim(store, embedder):
        store.tasks.fail("worker", task, "no luck", None)
    return items


def test_all_failed_tasks_can_be_revived_at_once(store, embedder):
    items = give_up(store, embedder, "one", "two")
    assert store.tasks.revive(None) == 2
    assert {status(store, item) for item in items} == {EmbeddingStatus.PENDING}
    assert {entry_of(store, item).embedding.error for item in items} == {""}
    assert {task.attempts for task in claim(store, embedder)} == {1}
    assert store.tasks.revive(None) == 0


def test_one_failed_task_can_be_revived_alone(store, embedder):
    one, two = give_up(store, embedder, "one", "two")
    assert store.tasks.revive(entry_of(store, one).key) == 1
    assert status(store, one) is EmbeddingStatus.PENDING
    assert status(store, two) is EmbeddingStatus.FAILED
    assert store.check() == []


def test_enqueueing_asks_for_a_new_vector_and_keeps_the_old_until_then(store, embedder):
    item = make_item()
    hang(store, embedder, item)
    assert store.tasks.enqueue(embedder.fingerprint, [text_of(store, item)]) == 1
    assert status(store, item) is EmbeddingStatus.PENDING
    query = embedder.embed_query("send")
    assert len(store.index.vector(query, embedder.fingerprint, Filters(), 5)) == 1
    assert store.check() == []
    work(store, embedder)
    assert status(store, item) is EmbeddingStatus.READY


def test_enqueueing_twice_makes_one_task(store, embedder):
    item = make_item()
    hang(store, embedder, item)
    for _ in range(2):
        store.tasks.enqueue(embedder.fingerprint, [text_of(store, item)])
    assert store.tasks.waiting(embedder.fingerprint) == 1


def test_enqueueing_what_a_worker_has_in_hand_does_not_take_it_away(store, embedder):
    [item] = put(store, embedder, "one")
    claim(store, embedder)
    store.tasks.enqueue(embedder.fingerprint, [text_of(store, item)])
    assert claim(store, embedder, "next") == []
    assert store.tasks.owners() == ["worker"]


def test_the_text_of_an_item_that_changed_since_is_not_enqueued(store, embedder):
    item = make_item()
    hang(store, embedder, item)
    old = text_of(store, item)
    edited = item._replace(description="Edited.")
    hang(store, embedder, edited)
    assert store.tasks.enqueue(embedder.fingerprint, [old]) == 0
    assert status(store, item) is EmbeddingStatus.READY
    assert store.tasks.waiting(embedder.fingerprint) == 0


def test_a_retired_or_unknown_item_is_not_enqueued(store, embedder):
    item = make_item()
    hang(store, embedder, item)
    old = text_of(store, item)
    retire(store)
    assert store.tasks.enqueue(embedder.fingerprint, [old, (999, "hash", "text")]) == 0
    assert store.tasks.waiting(embedder.fingerprint) == 0
    assert store.check() == []


def test_unembedded_items_are_those_without_vector_and_without_task(store, embedder):
    ready, blank = make_item("ready"), make_item("!", category="", description="")
    hang(store, embedder, ready, blank)
    disabled, gone = make_item("disabled"), make_item("gone")
    store.items.put([disabled, gone], None)
    retire(store, ready, blank, disabled)
    waiting = make_item("waiting")
    store.items.put([waiting], embedder.fingerprint)
    found = store.tasks.unembedded(embedder.fingerprint, 0, 10)
    assert [entry.item for entry in found] == [disabled]


def test_every_item_is_unembedded_for_a_model_the_board_has_never_seen(store, embedder):
    items = [make_item(name) for name in ("one", "two", "three")]
    keys = hang(store, embedder, *items)
    assert [entry.key for entry in store.tasks.unembedded(OTHER_MODEL, 0, 10)] == keys
    assert [entry.key for entry in store.tasks.unembedded(OTHER_MODEL, keys[0], 1)] == keys[1:2]


def test_disabling_drops_the_tasks_and_marks_what_waited(store, embedder):
    ready = make_item("ready")
    hang(store, embedder, ready)
    [failed] = give_up(store, embedder, "failed")
    [pending] = put(store, embedder, "pending")
    assert store.tasks.disable() == 2
    assert status(store, ready) is EmbeddingStatus.READY
    assert status(store, failed) is status(store, pending) is EmbeddingStatus.DISABLED
    assert store.tasks.waiting(embedder.fingerprint) == 0
    assert store.check() == []


def shelf_of_all_states(store, embedder):
    hang(store, embedder, make_item("ready"), make_item("ready too"))
    give_up(store, embedder, "failed")
    put(store, embedder, "pending")
    store.items.put([make_item("disabled")], None)
    store.items.put([make_item("!", category="", description="")], embedder.fingerprint)
    store.items.put([make_item("gone", source="others")], None)
    retire(store, source="others")


def test_counts_tell_how_many_active_items_are_in_each_state(store, embedder):
    assert store.tasks.counts(embedder.fingerprint) == EmbeddingCounts()
    shelf_of_all_states(store, embedder)
    assert store.tasks.counts(embedder.fingerprint) == EmbeddingCounts(
        total=6, ready=2, pending=2, failed=1, blank=1
    )
    assert store.tasks.waiting(embedder.fingerprint) == 1
    assert store.tasks.without_vector(embedder.fingerprint) == 3


def test_for_a_model_the_board_has_never_seen_everything_with_a_text_is_pending(store, embedder):
    shelf_of_all_states(store, embedder)
    assert store.tasks.counts(OTHER_MODEL) == EmbeddingCounts(total=6, pending=5, blank=1)
    assert store.tasks.waiting(OTHER_MODEL) == 0
    assert store.tasks.without_vector(OTHER_MODEL) == 5


def test_without_a_model_everything_with_a_text_counts_as_disabled(store, embedder):
    shelf_of_all_states(store, embedder)
    assert store.tasks.counts(None) == EmbeddingCounts(total=6, disabled=5, blank=1)
    assert store.tasks.waiting(None) == 0


def test_adopting_a_model_drops_the_tasks_for_others(store, embedder):
    items = put(store, embedder, "one", "two")
    store.tasks.adopt(OTHER_MODEL)
    assert store.tasks.waiting(embedder.fingerprint) == 0
    unembedded = store.tasks.unembedded(OTHER_MODEL, 0, 10)
    assert [entry.item for entry in unembedded] == items


def test_adopting_a_model_that_was_left_makes_its_vectors_count_again(store, embedder):
    item = make_item()
    hang(store, embedder, item)
    store.tasks.enqueue(OTHER_MODEL, [text_of(store, item)])
    assert status(store, item) is EmbeddingStatus.PENDING
    store.tasks.adopt(embedder.fingerprint)
    state = entry_of(store, item).embedding
    assert (state.status, state.model) == (EmbeddingStatus.READY, "test:hashed-ngrams")
    assert store.tasks.unembedded(embedder.fingerprint, 0, 10) == []
    assert store.check() == []


def test_adopting_the_present_model_takes_nothing_from_a_worker(store, embedder):
    put(store, embedder, "one", "two")
    tasks = claim(store, embedder, limit=1)
    store.tasks.adopt(embedder.fingerprint)
    assert finish(store, embedder, tasks) == 1
    assert store.tasks.waiting(embedder.fingerprint) == 1
    assert store.check() == []


def test_changing_the_model_builds_the_new_vectors_beside_the_old(store, embedder):
    item = make_item()
    [key] = hang(store, embedder, item)
    store.tasks.enqueue(OTHER_MODEL, [text_of(store, item)])
    [task] = store.tasks.claim(OTHER_MODEL, "worker", 10, LEASE)
    store.tasks.finish(OTHER_MODEL, [(task, make_vector(1, 0))])
    assert entry_of(store, item).embedding.model == "test:another"
    assert store.index.vector_scores(make_vector(1, 0), OTHER_MODEL, [key]) == {key: 1.0}
    old = store.index.vector_scores(embedder.embed_query(task.text), embedder.fingerprint, [key])
    assert old[key] == pytest.approx(1.0, abs=1e-6)
    assert store.check() == []


def test_an_edit_in_one_namespace_does_not_wait_for_the_backfill_of_another(store, embedder):
    crowd = [make_item(f"tool{n}", namespace="a") for n in range(5_000)]
    store.items.put(crowd, embedder.fingerprint)
    edit = make_item("edit", namespace="b")
    store.items.put([edit], embedder.fingerprint)
    taken = claim(store, embedder, limit=128)
    assert len(taken) == 128
    assert entry_of(store, edit).key in {task.item_key for task in taken}


def shared_out(store, embedder, limit, **sizes):
    """How many tasks of each namespace one claim takes."""
    for namespace, size in sizes.items():
        items = [make_item(f"{namespace}{n}", namespace=namespace) for n in range(size)]
        store.items.put(items, embedder.fingerprint)
    namespaces = {entry.key: entry.item.namespace for entry in store.items.page(0, 1000)}
    return Counter(namespaces[task.item_key] for task in claim(store, embedder, limit=limit))


def test_a_claim_shares_its_limit_among_the_namespaces(store, embedder):
    assert shared_out(store, embedder, 9, a=20, b=20, c=20) == {"a": 3, "b": 3, "c": 3}


def test_what_one_namespace_has_not_got_is_taken_from_the_others(store, embedder):
    assert shared_out(store, embedder, 10, a=20, b=1, c=2) == {"a": 7, "b": 1, "c": 2}


def test_of_more_namespaces_than_a_claim_can_take_each_has_its_turn(store, embedder):
    items = [make_item(f"{n}", namespace=f"n{n // 3}") for n in range(30)]
    store.items.put(items, embedder.fingerprint)
    namespaces = {entry.key: entry.item.namespace for entry in store.items.page(0, 100)}
    served = [
        namespaces[task.item_key] for _ in range(3) for task in claim(store, embedder, limit=4)
    ]
    assert len(served) == 12
    assert set(served) == set(namespaces.values())


def test_one_text_may_wait_for_the_vectors_of_two_models(store, embedder):
    [item] = put(store, embedder, "one")
    store.tasks.enqueue(OTHER_MODEL, [text_of(store, item)])
    assert finish(store, embedder, claim(store, embedder)) == 1
    assert status(store, item) is EmbeddingStatus.PENDING
    assert store.tasks.counts(embedder.fingerprint).ready == 1
    [task] = store.tasks.claim(OTHER_MODEL, "worker", 10, LEASE)
    store.tasks.finish(OTHER_MODEL, [(task, make_vector(1, 0))])
    assert status(store, item) is EmbeddingStatus.READY
    assert store.check() == []


def test_what_failed_for_one_model_is_still_failed_once_the_other_is_done(store, embedder):
    [item] = put(store, embedder, "one")
    store.tasks.enqueue(OTHER_MODEL, [text_of(store, item)])
    [task] = store.tasks.claim(OTHER_MODEL, "worker", 10, LEASE)
    store.tasks.fail("worker", task, "too hard", None)
    finish(store, embedder, claim(store, embedder))
    state = entry_of(store, item).embedding
    assert (state.status, state.error) == (EmbeddingStatus.FAILED, "too hard")
    assert store.check() == []


def test_an_edit_makes_the_tasks_of_both_models_void(store, embedder):
    [item] = put(store, embedder, "one")
    store.tasks.enqueue(OTHER_MODEL, [text_of(store, item)])
    store.items.put([item._replace(description="Edited.")], embedder.fingerprint)
    assert store.tasks.waiting(OTHER_MODEL) == 0
    assert store.tasks.waiting(embedder.fingerprint) == 1
    unembedded = store.tasks.unembedded(OTHER_MODEL, 0, 10)
    assert [entry.item.description for entry in unembedded] == ["Edited."]


def test_two_models_can_be_adopted_side_by_side(store, embedder):
    [item] = put(store, embedder, "one")
    third = OTHER_MODEL._replace(model="third")
    for target in (OTHER_MODEL, third):
        store.tasks.enqueue(target, [text_of(store, item)])
    store.tasks.adopt(embedder.fingerprint, OTHER_MODEL)
    targets = (embedder.fingerprint, OTHER_MODEL, third)
    assert [store.tasks.waiting(target) for target in targets] == [1, 1, 0]


def awaiting(store, stop, seconds=600.0):
    """A thread that waits for work, after it has looked once."""
    looked = threading.Event()

    def wait():
        store.tasks.await_work(stop, 0.0)
        looked.set()
        store.tasks.await_work(stop, seconds)

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    assert looked.wait(30)
    return thread


def test_whoever_waits_for_work_is_woken_when_some_is_queued(store, embedder):
    thread = awaiting(store, threading.Event())
    put(store, embedder, "one")
    thread.join(30)
    assert not thread.is_alive()


def test_work_that_came_just_before_the_wait_is_not_slept_through(store, embedder):
    stop, queued, waited = threading.Event(), threading.Event(), threading.Event()
    looked = threading.Event()

    def wait():
        store.tasks.await_work(stop, 0.0)
        assert claim(store, embedder) == []
        looked.set()
        queued.wait(30)
        store.tasks.await_work(stop, 600.0)
        waited.set()

    threading.Thread(target=wait, daemon=True).start()
    assert looked.wait(30)
    put(store, embedder, "one")
    queued.set()
    assert waited.wait(30)


def test_whoever_waits_for_work_can_be_told_to_stop(store):
    stop = threading.Event()
    thread = awaiting(store, stop)
    stop.set()
    thread.join(30)
    assert not thread.is_alive()


def test_the_wait_for_work_ends_by_itself(store):
    thread = awaiting(store, threading.Event(), 0.01)
    thread.join(30)
    assert not thread.is_alive()


def test_the_clock_of_the_board_is_that_of_its_leases(store, embedder):
    put(store, embedder, "one")
    [task] = claim(store, embedder)
    store.tasks.fail("worker", task, "no luck", store.now())
    assert [task.attempts for task in claim(store, embedder)] == [2]
