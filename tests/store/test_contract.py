"""The store as a whole: its own check, its schema, how a board is opened and shared."""

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor

import apsw
import pytest

from making import entry_of, hang, make_file, make_item, retire, word_hits, work
from pegboard.errors import BoardCorrupt, BoardError, BoardMissing, BoardTooNew
from pegboard.model.content import Version
from pegboard.model.items import Filters, SourceRecord
from pegboard.model.releases import Wanted
from pegboard.store.queries import load, migrations
from pegboard.store.sqlite.store import SqliteStore

VERSION = Version("1.0.0", "aaa", files=(make_file(),))


@pytest.fixture
def board(sqlite_store, embedder):
    """A good board with an item in every state, keys 1 to 6."""
    store = sqlite_store
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


def damage(store, sql):
    connection = store.database.connection()
    connection.execute("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON")
    connection.execute(sql)
    connection.execute("PRAGMA foreign_keys = ON; PRAGMA ignore_check_constraints = OFF")


def test_a_good_board_passes_its_own_check(board):
    assert board.check() == []


def test_an_empty_board_passes_its_own_check(store):
    assert store.check() == []


LOOKED_UP = {
    "get": lambda store, name: store.items.get(name, "public"),
    "get in a namespace": lambda store, name: store.items.get("mcptools:mail:send", name),
    "named": lambda store, name: store.items.named(name),
    "named by id": lambda store, name: store.items.named(f"{name}:a"),
    "census": lambda store, name: store.items.census([name]),
    "listed": lambda store, name: store.items.listed([name], [name], (name, name), 5),
    "listed by filters": lambda store, name: store.index.listed(
        Filters(tags=(name,)), (name, name), 5
    ),
    "origins": lambda store, name: store.items.origins(name),
    "origins under": lambda store, name: store.items.origins("tools", [name]),
    "history": lambda store, name: store.curation.history(name),
    "loose links": lambda store, name: store.curation.loose_links(name),
    "audit": lambda store, name: store.releases.audit(name, name),
    "downloads": lambda store, name: store.releases.count_download(name, "public", "1.0.0"),
    "token": lambda store, name: store.tokens.find(name),
    "source": lambda store, name: store.ledger.remove_source(name),
    "offered": lambda store, name: store.releases.offered(Wanted(tag=name)).offers,
}


@pytest.mark.parametrize("way", LOOKED_UP)
@pytest.mark.parametrize("name", ["a\0b", "\ud800"])
def test_what_no_database_can_hold_is_not_found_and_no_error(store, embedder, name, way):
    hang(store, embedder, make_item("send"))
    assert not LOOKED_UP[way](store, name)


DAMAGE = {
    "pending_without_task": (
        "DELETE FROM embedding_tasks WHERE item_key = 6",
        "mcptools:mail:pending waits for a vector but has no task",
    ),
    "failed_without_task": (
        "DELETE FROM embedding_tasks WHERE item_key = 2",
        "mcptools:mail:failed is marked failed but has no task to retry",
    ),
    "ready_without_vector": (
        "DELETE FROM vectors WHERE item_key = 1",
        "mcptools:mail:ready is marked ready but has no vector of its text",
    ),
    "stale_vector": (
        "UPDATE vectors SET source_hash = 'old' WHERE item_key = 1",
        "mcptools:mail:ready has a vector of a text it no longer has",
    ),
    "wrong_dimension": (
        "UPDATE vectors SET vector = x'00000000' WHERE item_key = 1",
        "mcptools:mail:ready has a vector of the wrong length",
    ),
    "passage_missing": (
        "UPDATE vectors SET passage = 1 WHERE item_key = 1",
        "mcptools:mail:ready lacks the vectors of some passages;"
        " embed it again with: pegboard refresh mcptools:mail:ready",
    ),
    "stale_task": (
        "UPDATE embedding_tasks SET source_hash = 'old' WHERE item_key = 6",
        "mcptools:mail:pending has a task for a text it no longer has",
    ),
    "idle_with_task": (
        "UPDATE items SET embedding_status = 'disabled' WHERE key = 6",
        "mcptools:mail:pending is disabled but has a task",
    ),
    "inactive_with_task": (
        "UPDATE items SET active = 0 WHERE key = 6",
        "mcptools:mail:pending is inactive but has a task",
    ),
    "wrongly_active": (
        "UPDATE items SET active = 0 WHERE key = 3",
        "mcptools:mail:disabled is inactive, and should not be",
    ),
    "item_without_terms": (
        "DELETE FROM item_terms WHERE rowid = 3",
        "mcptools:mail:disabled cannot be found by words",
    ),
    "item_without_card": (
        "DELETE FROM item_cards WHERE item_key = 3",
        "mcptools:mail:disabled has no ranking card",
    ),
    "terms_without_item": (
        "INSERT INTO item_terms (rowid, name) VALUES (77, 'ghost')",
        "the text index has row 77 without an item",
    ),
    "wrongly_published": (
        "UPDATE item_versions SET published_by = 'mia' WHERE item_key = 1",
        "mcptools:mail:ready is not published, and its version 1.0.0 is",
    ),
    "version_missing": (
        "DELETE FROM item_versions WHERE item_key = 1",
        "mcptools:mail:ready names version 1.0.0, which is not there",
    ),
    "code_missing": (
        "INSERT INTO code_blocks SELECT fingerprint, 1, seq, x'00', x'00' FROM vectors",
        "mcptools:mail:ready may be overlooked by meaning;"
        " embed it again with: pegboard refresh mcptools:mail:ready",
    ),
    "edited_by_hand": (
        "UPDATE items SET author = 'Eve' WHERE key = 3",
        "mcptools:mail:disabled is not what was put: its content hash differs",
    ),
    "orphan": (
        "INSERT INTO vectors VALUES (77, 77, 1, 0, 'hash', zeroblob(1024), 0)",
        "table vectors refers to a row of items that is not there",
    ),
    "broken_constraint": (
        "UPDATE items SET official = official, active = 7 WHERE key = 3",
        "SQLite says: CHECK constraint failed in items",
    ),
}


@pytest.mark.parametrize(("sql", "sentence"), DAMAGE.values(), ids=list(DAMAGE))
def test_the_check_names_each_kind_of_damage(board, sql, sentence):
    damage(board, sql)
    assert sentence in board.check()


def test_every_query_of_the_check_has_its_damage_above():
    assert load("sqlite", "check").keys() <= DAMAGE.keys()


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE items SET kind = 'gadget' WHERE key = 3",
        "UPDATE items SET tags = 'no list' WHERE key = 3",
        "UPDATE items SET input_schema = '{' WHERE key = 3",
        "UPDATE item_versions SET manifest = '{' WHERE item_key = 1",
    ],
)
def test_the_check_names_a_row_that_cannot_be_read_and_goes_on(board, sql):
    damage(board, sql)
    damage(board, "UPDATE items SET author = 'Eve' WHERE key = 6")
    said = board.check()
    assert any("mcptools:mail:disabled" in each or "mcptools:mail:ready" in each for each in said)
    assert "mcptools:mail:pending is not what was put: its content hash differs" in said


def test_the_check_names_a_file_whose_content_was_changed(board):
    damage(board, "UPDATE version_files SET content = x'00'")
    assert any("mcptools:mail:ready" in each for each in board.check())


def schema(connection):
    rows = connection.execute(
        "SELECT type, name, tbl_name, sql FROM sqlite_schema"
        " WHERE name <> 'migrations' ORDER BY type, name"
    )
    return rows.fetchall()


def test_a_fresh_schema_equals_all_migrations(made_in_full, sqlite_store):
    by_hand = apsw.Connection(":memory:")
    for _, _, text in migrations("sqlite"):
        by_hand.execute(text)
    assert schema(sqlite_store.database.connection()) == schema(by_hand)
    by_hand.close()


def test_migrations_are_numbered_from_one_without_gaps_and_recorded(made_in_full, sqlite_store):
    known = [(number, name) for number, name, _ in migrations("sqlite")]
    assert [number for number, _ in known] == list(range(1, len(known) + 1))
    assert sqlite_store.database.rows("SELECT number, name FROM migrations") == known
    assert sqlite_store.database.schema == known[-1][0]
    assert sqlite_store.facts()["schema"] == known[-1][0]


def test_a_board_opened_again_holds_what_was_put_and_is_not_migrated_again(sqlite_store, embedder):
    item = make_item(version=VERSION)
    hang(sqlite_store, embedder, item)
    before = entry_of(sqlite_store, item)
    recorded = sqlite_store.database.rows("SELECT * FROM migrations")
    sqlite_store.close()
    again = SqliteStore(sqlite_store.database.path)
    assert entry_of(again, item) == before
    assert again.database.rows("SELECT * FROM migrations") == recorded
    again.close()


def test_a_board_of_a_newer_schema_is_left_alone(sqlite_store):
    path = sqlite_store.database.path
    damage(sqlite_store, "INSERT INTO migrations VALUES (9999, '9999_future', 0)")
    sqlite_store.close()
    with pytest.raises(BoardTooNew, match="9999") as caught:
        SqliteStore(path)
    assert str(path) in str(caught.value)
    assert "upgrade" in caught.value.hint


def test_a_sqlite_file_that_is_no_board_is_refused_and_left_as_it_is(tmp_path):
    path = tmp_path / "theirs.db"
    with sqlite3.connect(path) as theirs:
        theirs.execute("CREATE TABLE cats (name TEXT)")
    theirs.close()
    before = path.read_bytes()
    for create in (True, False):
        with pytest.raises(BoardCorrupt, match="not a Pegboard board"):
            SqliteStore(path, create=create)
    assert path.read_bytes() == before


@pytest.mark.parametrize("create", [True, False])
def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(tmp_path, create):
    path = tmp_path / "letter.txt"
    path.write_text("Dear reader, " * 500)
    with pytest.raises(BoardCorrupt, match=r"letter\.txt"):
        SqliteStore(path, create=create)
    assert path.read_text() == "Dear reader, " * 500


def test_a_board_that_is_not_there_is_missed_and_not_made(tmp_path):
    path = tmp_path / "nowhere" / "board.db"
    with pytest.raises(BoardMissing, match=r"board\.db") as caught:
        SqliteStore(path)
    assert "pegboard init" in caught.value.hint
    assert not path.parent.exists()


def test_several_threads_use_one_store_at_once(store, embedder):
    ready = threading.Barrier(6)

    def live(number):
        ready.wait(30)
        for n in range(10):
            item = make_item(f"tool{number}x{n}", source=f"source{number}")
            store.items.put([item], embedder.fingerprint)
            assert word_hits(store, [f"tool{number}x{n}"])[0].id == item.id
            work(store, embedder, 2)
        return number

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(live, range(6))) == list(range(6))
    while work(store, embedder):
        pass
    counts = store.tasks.counts(embedder.fingerprint)
    assert counts.ready == counts.total == 60
    assert store.check() == []


def test_a_put_that_fails_half_way_leaves_nothing_behind(store, embedder):
    twice = Version("1.0.0", "aaa", files=(make_file("a.py"), make_file("a.py")))
    with pytest.raises((apsw.ConstraintError, BoardError)):
        store.items.put([make_item("good"), make_item("bad", version=twice)], embedder.fingerprint)
    assert store.items.page(0, 10) == []
    assert store.tasks.waiting(embedder.fingerprint) == 0
    assert word_hits(store, ["good"]) == []
    assert store.items.put([make_item("good")], embedder.fingerprint).added == 1


def plan(store, topic, name, params):
    sql = load("sqlite", topic)[name]
    return [row[3] for row in store.database.rows(f"EXPLAIN QUERY PLAN {sql}", params)]


@pytest.mark.parametrize("query", ["due", "namespaces", "claim_fresh", "claim_again"])
def test_a_claim_looks_tasks_up_by_their_index(sqlite_store, query):
    steps = plan(
        sqlite_store,
        "tasks",
        query,
        {"fingerprint": 1, "owner": "me", "limit": 9, "lease_until": 9, "now": 0}
        | {"namespace": "public", "after": ""},
    )
    assert any("INDEX embedding_tasks_claim (fingerprint=? AND status=?" in s for s in steps)
    assert not [step for step in steps if step.startswith("SCAN embedding_tasks")]


def test_counting_looks_each_item_s_task_up_by_its_unique_index(sqlite_store):
    steps = plan(sqlite_store, "tasks", "counts", {"fingerprint": 1})
    assert any("SEARCH t USING INDEX sqlite_autoindex_embedding_tasks_1" in s for s in steps)


def test_an_item_is_looked_up_by_its_unique_index(sqlite_store):
    [step] = plan(sqlite_store, "items", "existing", {"namespace": "public", "id": "x"})
    assert step == "SEARCH items USING INDEX sqlite_autoindex_items_1 (namespace=? AND id=?)"


@pytest.mark.parametrize(
    ("topic", "name", "params"),
    [
        ("items", "get", {"namespace": "public", "id": "x"}),
        ("items", "named", {"name": "x"}),
        ("items", "retire", {"source": "x", "seen": "[]", "now": 0, "began": 0}),
        ("items", "page", {"after": 0, "limit": 9}),
        ("tasks", "has_vector", {"key": 1, "fingerprint": 1, "source_hash": "x"}),
        ("tasks", "drop_tasks", {"key": 1}),
    ],
)
def test_no_lookup_scans_the_items_the_vectors_or_the_tasks(sqlite_store, topic, name, params):
    steps = plan(sqlite_store, topic, name, params)
    scans = [step for step in steps if step.startswith("SCAN") and "json_each" not in step]
    assert scans == []
