"""How the work on the vectors goes, as the board can tell it."""

from making import OTHER_MODEL, by_hand, hang, make_item, work
from pegboard.board.maintain.status import status
from pegboard.model.calls import Caller


def test_nothing_waits_and_nothing_was_done(store, embedder):
    assert store.tasks.pace(embedder.fingerprint) == (None, 0.0)
    assert store.tasks.pace(None) == (None, 0.0)


def test_the_oldest_that_waits_is_told_by_when_it_was_queued(store, embedder):
    before = store.now()
    store.items.put([make_item("a")], embedder.fingerprint)
    between = store.now()
    store.items.put([make_item("b", origin="b")], embedder.fingerprint)
    oldest, done = store.tasks.pace(embedder.fingerprint)
    assert before <= oldest <= between
    assert done == 0.0
    work(store, embedder, limit=1)
    assert store.tasks.pace(embedder.fingerprint)[0] >= between


def test_what_failed_waits_no_more(store, embedder):
    store.items.put([make_item("a")], embedder.fingerprint)
    [task] = store.tasks.claim(embedder.fingerprint, "worker", 1, 60.0)
    store.tasks.fail("worker", task, "no", None)
    assert store.tasks.pace(embedder.fingerprint) == (None, 0.0)


def test_what_was_done_lately_counts_and_nothing_else_does(store, embedder):
    hang(store, embedder, *(make_item(f"item{n}", origin=f"{n}") for n in range(20)))
    assert store.tasks.pace(embedder.fingerprint) == (None, 4.0)
    age(store, 120)
    assert store.tasks.pace(embedder.fingerprint) == (None, 0.0)


def age(store, seconds):
    """As if all had been done so long ago."""
    if store.facts()["engine"].startswith("SQLite"):
        by_hand(store, f"UPDATE vectors SET created_at = created_at - {seconds}")
    else:
        by_hand(
            store,
            f"UPDATE items SET embedded_at = embedded_at - interval '{seconds} s' RETURNING 1",
        )


def test_status_tells_it(store, embedder):
    store.items.put([make_item("a")], embedder.fingerprint)
    found = status(store, lambda: embedder.fingerprint, None)
    assert found.waiting == 1
    assert found.pace.oldest_at is not None
    assert status(store, lambda: OTHER_MODEL, None).pace.oldest_at is None


def test_whoever_may_not_see_an_item_learns_nothing_of_the_work_on_it(store, embedder):
    hang(
        store,
        embedder,
        *(make_item(f"item{n}", origin=f"{n}", namespace="team") for n in range(20)),
    )
    store.items.put([make_item("waits", origin="w", namespace="team")], embedder.fingerprint)
    member, stranger = (
        store.seen_by(Caller(name, spaces)).tasks.pace(embedder.fingerprint)
        for name, spaces in (("mia", ("team",)), ("eve", ("other",)))
    )
    assert member[0] is not None
    assert member[1] == 4.0
    assert stranger == (None, 0.0)
