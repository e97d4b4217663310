"""What was queued for a model that the board has left, and indexes that a killed worker owed."""

import threading
from pathlib import Path

import pytest

from pegboard.app.live import kept
from pegboard.board.maintain.worker import TRIED_EVERY, Worker, WorkerSettings
from pegboard.embed.hashed import HashedEmbedder
from pegboard.errors import BoardReadOnly
from pegboard.model.items import ModelSpec
from pegboard.ports.stages import quiet
from pegboard.store.postgres import nearest
from waiting import until

STORES = ("sqlite", "postgres")
NEW_SPEC = ModelSpec("test", dimension=64)
INDEXES = "SELECT count(*) FROM pg_indexes WHERE indexname LIKE '%hnsw%'"


def test_what_was_put_for_the_old_model_while_the_board_switched_is_embedded_by_the_new(
    board,
):
    late = board.target
    board.models.change(NEW_SPEC, lambda: board.backfill().notices, stop=threading.Event())
    item = board.store.items.page(0, 1)[0].item
    board.store.items.put([item._replace(description="Restore the sum of a purchase.")], late)
    assert board.store.tasks.waiting(board.target) == 0
    board.worker().drain(threading.Event(), quiet)
    assert board.store.tasks.without_vector(board.target) == 0
    assert not board.store.tasks.has_stray([board.target])
    assert board.check() == []


class Once:
    """A claim that takes note of what it was asked."""

    def __init__(self, claim):
        self.claim = claim
        self.asked = []

    def __call__(self, *args, tried_first=False):
        self.asked.append(tried_first)
        return self.claim(*args, tried_first=tried_first)


def test_a_worker_in_a_backfill_comes_back_to_what_failed(board, monkeypatch):
    board.refresh(None)
    noted = Once(board.store.tasks.claim)
    monkeypatch.setattr(board.store.tasks, "claim", noted)
    hand = Worker(board.store, HashedEmbedder(256), WorkerSettings(batch_size=1))
    for _ in range(2 * TRIED_EVERY):
        hand.step()
    assert noted.asked.count(True) == 2


def test_an_index_that_a_killed_worker_owed_is_made_by_the_next(board, place, sql, monkeypatch):
    if isinstance(place, Path):
        pytest.skip("only PostgreSQL has such indexes")
    monkeypatch.setattr(nearest, "INDEXED_FROM", 3)
    board.refresh(None)
    hand = board.worker()
    while hand.step():
        pass  # and killed before it could rest
    assert sql(INDEXES) == [(0,)]
    board.worker().drain(threading.Event(), quiet)
    assert sql(INDEXES) == [(1,)]


def test_a_gateway_that_may_only_read_still_serves(board, monkeypatch, caplog):
    def refuse(*_args, **_options):
        raise BoardReadOnly("permission denied")

    monkeypatch.setattr(board.store.tasks, "claim", refuse)
    with kept(board, sync=False, watch=False):
        until(lambda: "embedding is left to others" in caplog.text)
        assert board.search("money back", threshold=0.0).hits
