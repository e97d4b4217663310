"""The board changes while a worker is embedding: the compare-and-set has the last word."""

import math
from collections.abc import Callable, Sequence

from reliability_parts import BOTH, assert_whole, entries, item, numbered, vectors, waiting, worker

from pegboard.board.maintain.queueing import refresh
from pegboard.embed.hashed import HashedEmbedder
from pegboard.model.items import DEFAULT_NAMESPACE, EmbeddingStatus, Entry, SourceRecord, Vector
from pegboard.ports.store import Store

STORES = BOTH
PLAIN = HashedEmbedder(64)
TARGET = PLAIN.fingerprint
OLD = item("mail", "Sends a letter to a colleague.")
NEW = item("mail", "Deletes the whole mailbox.")


class MeddlingEmbedder(HashedEmbedder):
    """Does something to the board while it embeds, once."""

    def __init__(self, meddle: Callable[[], object]) -> None:
        super().__init__(64)
        self._meddle: Callable[[], object] | None = meddle

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        found = super().embed(texts)
        meddle, self._meddle = self._meddle, None
        if meddle is not None:
            meddle()
        return found


def entry(store: Store, name: str = "mail") -> Entry:
    found = store.items.get(item(name).id, DEFAULT_NAMESPACE)
    assert found is not None
    return found


def retire_everything(store: Store) -> None:
    """As a sync does that finds its source empty."""
    assert store.items.retire("demo", [], began=math.inf, purge_before=0.0) == (1, 0)


def test_an_edit_during_the_call_never_leaves_the_old_vector_under_the_new_text(
    store: Store,
) -> None:
    store.items.put([OLD], TARGET)
    hand = worker(store, MeddlingEmbedder(lambda: store.items.put([NEW], TARGET)))

    assert hand.step() is True

    assert (hand.report.embedded, hand.report.superseded) == (0, 1)
    assert vectors(store) == {}
    assert entry(store).embedding.status is EmbeddingStatus.PENDING
    assert waiting(store) == 1
    assert store.check() == []
    assert hand.step() is True
    assert_whole(store, PLAIN)


def test_an_edit_of_something_that_is_not_embedded_lets_the_vector_be_hung(
    store: Store,
) -> None:
    store.items.put([OLD], TARGET)
    edited = OLD._replace(author="somebody else", body="A longer text that is not embedded.")
    hand = worker(store, MeddlingEmbedder(lambda: store.items.put([edited], TARGET)))

    assert hand.step() is True

    assert hand.report.embedded == 1
    assert entry(store).item.author == "somebody else"
    assert_whole(store, PLAIN)


def test_an_item_retired_during_the_call_stays_retired_and_can_come_back(
    store: Store,
) -> None:
    store.items.put([OLD], TARGET)
    hand = worker(store, MeddlingEmbedder(lambda: retire_everything(store)))

    assert hand.step() is True

    assert entry(store).active is False
    assert waiting(store) == 0
    assert store.check() == []
    assert hand.step() is False
    store.items.put([OLD], TARGET)
    hand.step()
    assert_whole(store, PLAIN)


def test_an_item_removed_during_the_call_leaves_nothing_behind(store: Store) -> None:
    store.ledger.add_source(SourceRecord(name="demo", kind="pytools", location="/demo"))
    store.items.put([OLD], TARGET)
    meddling = MeddlingEmbedder(lambda: store.ledger.remove_source("demo"))

    assert worker(store, meddling).step() is True

    assert entries(store) == []
    assert vectors(store) == {}
    assert store.check() == []


def test_a_task_written_during_the_call_for_another_item_is_not_lost(store: Store) -> None:
    store.items.put([OLD], TARGET)
    other = item("calendar", "Makes an appointment.")

    def replace_the_item() -> None:
        retire_everything(store)
        store.items.put([other], TARGET)

    hand = worker(store, MeddlingEmbedder(replace_the_item))
    assert hand.step() is True

    assert store.check() == []
    assert waiting(store) == 1
    assert hand.step() is True
    assert_whole(store, PLAIN)


def test_an_edit_and_its_undoing_during_the_call_end_with_the_right_vector(
    store: Store,
) -> None:
    store.items.put([OLD], TARGET)

    def edit_and_undo() -> None:
        store.items.put([NEW], TARGET)
        store.items.put([OLD], TARGET)

    hand = worker(store, MeddlingEmbedder(edit_and_undo))
    while hand.step():
        assert store.check() == []

    assert_whole(store, PLAIN)


def test_an_edit_during_the_call_that_then_fails_is_embedded_all_the_same(
    store: Store,
) -> None:
    store.items.put([OLD], TARGET)

    def edit_and_fail() -> None:
        store.items.put([NEW], TARGET)
        raise ValueError("the embedder broke down")

    hand = worker(store, MeddlingEmbedder(edit_and_fail), max_attempts=1)
    assert hand.step() is True

    assert store.check() == []
    assert entry(store).embedding.status is EmbeddingStatus.PENDING
    assert hand.step() is True
    assert_whole(store, PLAIN)


def test_one_edit_in_a_batch_does_not_keep_the_others_from_their_vectors(
    store: Store,
) -> None:
    store.items.put([*numbered(9), OLD], TARGET)
    hand = worker(store, MeddlingEmbedder(lambda: store.items.put([NEW], TARGET)))

    assert hand.step() is True

    assert (hand.report.embedded, hand.report.superseded) == (9, 1)
    assert store.check() == []
    assert hand.step() is True
    assert_whole(store, PLAIN)


def test_a_refresh_asked_for_during_the_call_breaks_nothing(store: Store) -> None:
    store.items.put([OLD], TARGET)

    def again() -> None:
        refresh(store, TARGET, entry(store), lambda step, done, total: None)

    hand = worker(store, MeddlingEmbedder(again))
    while hand.step():
        assert store.check() == []

    assert_whole(store, PLAIN)


def test_embedding_switched_off_during_the_call_leaves_a_valid_board(store: Store) -> None:
    store.items.put([OLD], TARGET)

    assert worker(store, MeddlingEmbedder(store.tasks.disable)).step() is True

    assert store.check() == []
    assert waiting(store) == 0
