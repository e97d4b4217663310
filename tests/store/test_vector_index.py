"""Who makes the index over vectors in PostgreSQL, and what the planner knows of the table."""

import pytest

from making import filler, hang
from pegboard.store.postgres import nearest
from pegboard.store.postgres.store import PostgresStore

COUNTED = "SELECT reltuples FROM pg_class WHERE oid = 'vectors'::regclass"


@pytest.fixture
def board(postgres_store, embedder, monkeypatch):
    """A board that is large enough for an index, as far as it knows."""
    monkeypatch.setattr(nearest, "INDEXED_FROM", 5)
    hang(postgres_store, embedder, *filler(10))
    return postgres_store


def test_whoever_makes_the_index_counts_the_vectors_as_a_whole(board, embedder):
    """Which autovacuum never does for a table of partitions."""
    assert board.nearest.build(embedder.fingerprint) == ["tool_vectors_hnsw_1"]
    assert board.database.rows(COUNTED) == [(10.0,)]


def test_they_are_counted_again_when_there_are_many_more(board, embedder):
    board.nearest.build(embedder.fingerprint)
    hang(board, embedder, *filler(20)[10:])
    board.database.write(lambda tx: tx.execute("ANALYZE tool_vectors"))  # as autovacuum does
    assert board.nearest.build(embedder.fingerprint) == []
    assert board.database.rows(COUNTED) == [(20.0,)]


def test_a_worker_that_does_not_own_the_tables_leaves_the_index_to_one_that_does(
    board, embedder, postgres_url
):
    store = PostgresStore(f"{postgres_url}&options=-crole%3Dservice_role")
    try:
        assert store.nearest.build(embedder.fingerprint) == []
    finally:
        store.close()
    assert board.nearest.build(embedder.fingerprint) == ["tool_vectors_hnsw_1"]
