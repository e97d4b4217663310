"""Texts that cannot be embedded, and embedders that answer nonsense."""

import math
import struct
from collections.abc import Sequence

import pytest
from reliability_parts import (
    BOTH,
    assert_whole,
    item,
    make_due,
    numbered,
    standing,
    tasks,
    vectors,
    worker,
)

from pegboard.app.pegboard import Pegboard
from pegboard.config.settings import EmbedSettings, Settings
from pegboard.embed.hashed import HashedEmbedder
from pegboard.model.items import DEFAULT_NAMESPACE, EmbeddingState, EmbeddingStatus, Vector
from pegboard.ports.store import Store

STORES = BOTH
PLAIN = HashedEmbedder(256)
TARGET = PLAIN.fingerprint
POISON = item("poison", "This text is arsenic to the model.")
SETTINGS = {"max_attempts": 4, "retry_seconds": 1000.0, "max_retry_seconds": 1e9}


class AllergicEmbedder(HashedEmbedder):
    def embed(self, texts: Sequence[str]) -> list[Vector]:
        if any("arsenic" in text for text in texts):
            raise RuntimeError("the model cannot stand arsenic")
        return super().embed(texts)


class ShortEmbedder(HashedEmbedder):
    """One vector too few."""

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        return super().embed(texts)[1:]


class LongEmbedder(HashedEmbedder):
    """One vector too many."""

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        return super().embed([*texts, "one more"])


class NarrowEmbedder(HashedEmbedder):
    """Vectors of another dimension than the fingerprint says."""

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        return [Vector(vector[:-4]) for vector in super().embed(texts)]


class LostEmbedder(HashedEmbedder):
    """Vectors of the right length that point nowhere, as a model gives that overflowed."""

    def __init__(self, number: float) -> None:
        super().__init__()
        self._number = number

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        return [Vector(struct.pack("<256f", *[self._number] * 256)) for _ in texts]


def state(store: Store) -> EmbeddingState:
    entry = store.items.get(POISON.id, DEFAULT_NAMESPACE)
    assert entry is not None
    return entry.embedding


def test_a_text_that_cannot_be_embedded_does_not_hold_up_the_others(store: Store) -> None:
    store.items.put([*numbered(4), POISON, *numbered(9)[4:]], TARGET)
    hand = worker(store, AllergicEmbedder(), **SETTINGS)

    assert hand.step() is True
    assert hand.step() is False

    assert hand.report.embedded == 9
    assert standing(store) == {"ready": 9, "pending": 1}
    assert state(store).status is EmbeddingStatus.PENDING
    assert store.check() == []


def test_it_is_tried_again_after_ever_longer_waits_and_then_given_up_with_a_reason(
    store: Store,
) -> None:
    store.items.put([POISON], TARGET)
    hand = worker(store, AllergicEmbedder(), **SETTINGS)
    waits = []
    for attempt in (1, 2, 3):
        assert hand.step() is True
        [task] = tasks(store)
        assert (task.attempts, task.status) == (attempt, "pending")
        assert task.error
        waits.append(task.wait)
        assert hand.step() is False
        make_due(store)

    assert hand.step() is True

    assert waits == sorted(waits)
    assert waits[0] >= 499
    assert hand.report.failed == 1
    assert state(store).status is EmbeddingStatus.FAILED
    assert state(store).error
    assert [(task.status, task.owner) for task in tasks(store)] == [("failed", None)]
    assert hand.step() is False
    assert store.check() == []


def test_a_failed_text_can_be_revived_and_then_becomes_ready(
    store: Store,
) -> None:
    store.items.put([POISON], TARGET)
    worker(store, AllergicEmbedder(), max_attempts=1).step()
    assert state(store).status is EmbeddingStatus.FAILED
    pegboard = Pegboard(store, Settings(embed=EmbedSettings(provider="test")))

    assert pegboard.retry("poison") == 1

    assert state(store).status is EmbeddingStatus.PENDING
    assert state(store).error == ""
    [task] = tasks(store)
    assert (task.status, task.attempts, task.error) == ("pending", 0, "")
    assert store.check() == []
    pegboard.worker().step()
    assert_whole(store, PLAIN)


def test_a_failed_text_is_found_by_words_and_tried_again_when_it_is_edited(
    store: Store,
) -> None:
    store.items.put([POISON], TARGET)
    worker(store, AllergicEmbedder(), max_attempts=1).step()
    pegboard = Pegboard(store, Settings(embed=EmbedSettings(provider="test")))
    assert [hit.name for hit in pegboard.search("arsenic").hits] == ["poison"]

    store.items.put([POISON._replace(description="This text is harmless.")], TARGET)

    assert store.check() == []
    worker(store, AllergicEmbedder()).step()
    assert_whole(store, PLAIN)


@pytest.mark.parametrize("number", [0.0, math.nan, math.inf])
def test_a_vector_without_a_direction_is_not_hung_and_does_not_break_the_search(
    store: Store, number: float
) -> None:
    store.items.put(numbered(3), TARGET)

    assert worker(store, LostEmbedder(number)).step() is True

    pegboard = Pegboard(store, Settings(embed=EmbedSettings(provider="test")))
    assert len(pegboard.search("count the sheep").hits) == 3
    assert vectors(store) == {}


@pytest.mark.parametrize("embedder", [ShortEmbedder(), LongEmbedder(), NarrowEmbedder()])
def test_an_answer_of_the_wrong_shape_is_a_failure_and_nothing_is_hung(
    store: Store, embedder: HashedEmbedder
) -> None:
    store.items.put(numbered(3), TARGET)
    hand = worker(store, embedder, max_attempts=2)

    assert hand.step() is True
    make_due(store)
    assert [hand.step() for _ in range(4)] == [True, True, True, False]

    assert vectors(store) == {}
    assert (hand.report.embedded, hand.report.failed) == (0, 3)
    assert standing(store) == {"failed": 3}
    assert store.check() == []
    store.tasks.revive(None)
    assert worker(store, PLAIN).step() is True
    assert_whole(store, PLAIN)
