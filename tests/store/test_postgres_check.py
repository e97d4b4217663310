"""The check of a board in PostgreSQL names whatever breaks a rule."""

import psycopg
import pytest

from making import hang, make_file, make_item, retire
from pegboard.model.content import Version
from pegboard.model.items import SourceRecord
from pegboard.store.queries import load

VERSION = Version("1.0.0", "aaa", files=(make_file(),))


@pytest.fixture
def board(postgres_store, embedder):
    """A good board with an item in every state."""
    store = postgres_store
    store.ledger.add_source(SourceRecord("tools", "pytools", "/srv/tools"))
    hang(store, embedder, make_item("ready", version=VERSION))
    store.items.put([make_item("failed")], embedder.fingerprint)
    [task] = store.tasks.claim(embedder.fingerprint, "worker", 1, 60.0)
    store.tasks.fail("worker", task, "no luck", None)
    store.items.put([make_item("disabled")], None)
    store.items.put([make_item("!", category="", description="")], embedder.fingerprint)
    store.items.put([make_item("gone", source="others")], embedder.fingerprint)
    retire(store, source="others")
    store.items.put([make_item("pending")], embedder.fingerprint)
    return store


@pytest.fixture
def damage(postgres_url):
    """Changes rows without any of the database's own rules."""

    def change(statement):
        with psycopg.connect(postgres_url) as connection:
            connection.execute("SET session_replication_role = replica")
            done = connection.execute(
                statement.replace("KEY(", "(SELECT key FROM items WHERE name = ")
            )
            assert done.rowcount

    return change


def test_a_good_board_passes_its_own_check(board):
    assert board.check() == []


DAMAGE = {
    "pending_without_task": (
        "DELETE FROM embedding_tasks WHERE entity_id = KEY('pending')",
        "mcptools:mail:pending waits for a vector but has no task",
    ),
    "failed_without_task": (
        "DELETE FROM embedding_tasks WHERE entity_id = KEY('failed')",
        "mcptools:mail:failed is marked failed but has no task to retry",
    ),
    "ready_without_vector": (
        "DELETE FROM vectors WHERE item_key = KEY('ready')",
        "mcptools:mail:ready is marked ready but has no vector of its text",
    ),
    "stale_vector": (
        "UPDATE vectors SET source_hash = 'old' WHERE item_key = KEY('ready')",
        "mcptools:mail:ready has a vector of a text it no longer has",
    ),
    "vector_of_another_kind": (
        "UPDATE vectors SET kind = 'skill' WHERE item_key = KEY('ready')",
        "mcptools:mail:ready has a vector of a text it no longer has",
    ),
    "wrong_dimension": (
        "UPDATE vectors SET embedding = '[1, 0]' WHERE item_key = KEY('ready')",
        "mcptools:mail:ready has a vector of the wrong length",
    ),
    "passage_missing": (
        "UPDATE vectors SET passage = 1 WHERE item_key = KEY('ready')",
        "mcptools:mail:ready lacks the vectors of some passages;"
        " embed it again with: pegboard refresh mcptools:mail:ready",
    ),
    "stale_task": (
        "UPDATE embedding_tasks SET source_hash = 'old' WHERE entity_id = KEY('pending')",
        "mcptools:mail:pending has a task for a text it no longer has",
    ),
    "idle_with_task": (
        "UPDATE items SET embedding_status = 'disabled' WHERE name = 'pending'",
        "mcptools:mail:pending is disabled but has a task",
    ),
    "inactive_with_task": (
        "UPDATE items SET active = false WHERE name = 'pending'",
        "mcptools:mail:pending is inactive but has a task",
    ),
    "wrongly_active": (
        "UPDATE items SET active = false WHERE name = 'disabled'",
        "mcptools:mail:disabled is inactive, and should not be",
    ),
    "item_without_terms": (
        "DELETE FROM item_texts WHERE item_key = KEY('disabled')",
        "mcptools:mail:disabled cannot be found by words",
    ),
    "terms_missing": (
        "DELETE FROM item_terms WHERE item_key = KEY('disabled')",
        "mcptools:mail:disabled cannot be found by all of its words",
    ),
    "wrongly_published": (
        "UPDATE item_versions SET published_by = 'mia' WHERE item_key = KEY('ready')",
        "mcptools:mail:ready is not published, and its version 1.0.0 is",
    ),
    "version_missing": (
        "DELETE FROM item_versions WHERE item_key = KEY('ready')",
        "mcptools:mail:ready names version 1.0.0, which is not there",
    ),
    "orphan": (
        "DELETE FROM items WHERE name = 'pending'",
        "table embedding_tasks refers to a row of items that is not there",
    ),
    "broken_index": (
        "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'tool_vectors_pkey'::regclass",
        "the index tool_vectors_pkey is not whole; drop it, and a worker makes it anew",
    ),
    "edited_by_hand": (
        "UPDATE items SET author = 'Eve' WHERE name = 'disabled'",
        "mcptools:mail:disabled is not what was put: its content hash differs",
    ),
    "another_text_hash": (
        "UPDATE items SET source_hash = 'old' WHERE name = 'disabled'",
        "mcptools:mail:disabled has the text hash of another text",
    ),
    "file_changed": (
        "UPDATE version_files SET content = 'x'",
        "mcptools:mail:ready cannot be read: the file send.py of mcptools:mail:ready"
        " is not what was put: it is damaged in the database",
    ),
}


@pytest.mark.parametrize(("statement", "sentence"), DAMAGE.values(), ids=list(DAMAGE))
def test_the_check_names_each_kind_of_damage(board, damage, statement, sentence):
    damage(statement)
    assert sentence in board.check()


def test_every_query_of_the_check_has_its_damage_above():
    assert load("postgres", "check").keys() <= DAMAGE.keys()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE items SET kind = 'gadget' WHERE name = 'disabled'",
        "UPDATE items SET input_schema = '[]' WHERE name = 'disabled'",
        "UPDATE item_versions SET manifest = '[]'",
    ],
)
def test_the_check_names_a_row_that_cannot_be_read_and_goes_on(
    board, postgres_url, damage, statement
):
    with psycopg.connect(postgres_url) as connection:
        connection.execute("ALTER TABLE items DROP CONSTRAINT items_kind_check")
    damage(statement)
    damage("UPDATE items SET author = 'Eve' WHERE name = 'pending'")
    said = board.check()
    assert any("mcptools:mail:disabled" in each or "mcptools:mail:ready" in each for each in said)
    assert "mcptools:mail:pending is not what was put: its content hash differs" in said
