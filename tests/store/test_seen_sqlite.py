"""How a SQLite file is kept from callers: by what stands before its tables."""

import gc
import threading

import apsw
import pytest
from seen_parts import ALICE, ANON, BOB, PEGS, SETTINGS, items_of, seen_pegs

from making import make_item
from pegboard.app.pegboard import Pegboard
from pegboard.errors import NotAllowed, PegboardError
from pegboard.model.calls import Caller
from pegboard.model.items import Filters, Kind, Mode
from pegboard.store import limits
from pegboard.store.queries import migrations
from pegboard.store.sqlite import picture
from pegboard.store.sqlite.opening import APPLICATION_ID
from pegboard.store.sqlite.seen_database import OF_NOBODY, VIEWS, SeenDatabase, Windows
from pegboard.store.sqlite.store import SqliteStore
from pegboard.text import index_fields

ALL = Caller("all", ("a", "b"))


@pytest.fixture
def store(sqlite_store):
    sqlite_store.items.put([item for peg in PEGS for item in items_of(peg)], None)
    return sqlite_store


@pytest.fixture
def windows(store):
    made = Windows(store.database)
    yield made
    made.close()


def names(database):
    return {name for (name,) in database.rows("SELECT name FROM items WHERE kind = 'tool'")}


def test_a_query_that_forgets_whom_it_serves_finds_only_what_is_his(windows):
    alice, bob, anon = (SeenDatabase(windows, each) for each in (ALICE, BOB, ANON))
    for _ in range(2):  # one connection serves them all
        for caller, database in ((ALICE, alice), (BOB, bob), (ANON, anon)):
            assert names(database) == {peg.name for peg in seen_pegs(caller)}
    joined = "SELECT count(*) FROM items i LEFT JOIN items o ON o.id = i.id"
    assert bob.rows(joined)[0][0] > anon.rows(joined)[0][0]


def test_every_table_has_a_view_is_for_everybody_or_cannot_be_read(store, windows):
    seen = SeenDatabase(windows, ALICE)
    rows = store.database.rows("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')")
    tables = {name for (name,) in rows}
    assert tables > set(VIEWS) | OF_NOBODY
    for table in tables:
        if table not in OF_NOBODY:
            with pytest.raises(NotAllowed):
                seen.rows(f'SELECT * FROM main."{table}"')
        if table not in OF_NOBODY | set(VIEWS):
            with pytest.raises(NotAllowed):
                seen.rows(f'SELECT * FROM "{table}"')


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO main.sources (name, kind, location, added_at) VALUES ('x', 'x', 'x', 1)",
        "UPDATE main.items SET author = 'alice'",
        "UPDATE items SET author = 'alice'",
        "DELETE FROM main.items",
        "DROP VIEW temp.items",
        "CREATE TEMP VIEW other AS SELECT * FROM main.items",
        "ATTACH ':memory:' AS other",
        "PRAGMA writable_schema = ON",
        "PRAGMA table_info(items)",
        "SELECT sql FROM sqlite_schema",
    ],
)
def test_nothing_can_be_written_or_looked_around(windows, statement):
    seen = SeenDatabase(windows, ALICE)
    before = names(seen)
    with pytest.raises(PegboardError):
        seen.rows(statement)
    assert names(seen) == before
    with pytest.raises(NotAllowed), seen.write():
        pass


def test_the_connection_of_a_thread_goes_with_it(windows):
    seen = SeenDatabase(windows, ALICE)
    thread = threading.Thread(target=names, args=(seen,))
    thread.start()
    thread.join()
    gc.collect()
    assert len(windows._connections) == 0


# Words.


def same(store, *queries):
    """Whoever sees all namespaces is told what the owner is told."""
    board = Pegboard(store, SETTINGS)
    view = board.seen_by(ALL)
    for query in queries:
        for mode in Mode:
            one, other = (
                each.search(query, mode=mode, limit=50, threshold=0.0, explain=True)
                for each in (board, view)
            )
            assert one._replace(embed_seconds=0.0, search_seconds=0.0) == other._replace(
                embed_seconds=0.0, search_seconds=0.0
            )


def open_items():
    return [
        item
        for peg in PEGS
        for item in items_of(peg)
        if item.visibility == "public" and item.kind is Kind.TOOL
    ]


def test_terms_are_weighed_as_fts5_weighs_them(sqlite_store):
    foreign = [
        make_item("naïve_手紙", namespace="b", description="Писать письмо, письмо."),
        make_item("ab", namespace="a", description="cd and ab", tags=("letter", "letter")),
    ]
    sqlite_store.items.put([*open_items(), *foreign], None)
    same(sqlite_store, "send a letter", "naive 手紙", "письмо", "letter letter ab cd")


def test_a_term_that_fts5_takes_apart_is_found_by_its_parts(sqlite_store):
    odd = make_item("odd", namespace="a", description="What is ab׀cd? It is ab׀cd.")
    sqlite_store.items.put([odd, *open_items()], None)
    view = Pegboard(sqlite_store, SETTINGS).seen_by(ALL)
    assert [hit.name for hit in view.search("ab׀cd", mode="bm25").hits] == ["odd"]


def test_terms_are_weighed_alike_on_a_large_board(sqlite_store, monkeypatch):
    """Where some terms are common, and few lead."""
    monkeypatch.setattr(limits, "COMMON_FROM", 100)
    many = [
        make_item(f"n{n}", namespace="ab"[n % 2], description=f"letter {n % 7} post {n % 30}")
        for n in range(700)
    ]
    sqlite_store.items.put([*open_items(), *many], None)
    sqlite_store.items.take_census()
    same(sqlite_store, "letter post 3", "post 29 letter", "letter", "send 3 letter 4 post 29")


def test_what_is_forgotten_of_a_picture_is_read_again(sqlite_store, monkeypatch):
    monkeypatch.setattr(picture, "MOST_NUMBERS", 3)
    sqlite_store.items.put(open_items(), None)
    for _ in range(2):
        same(sqlite_store, "send a letter", "postcard to a colleague")


def test_a_filter_that_leaves_little_of_much_still_finds_it(sqlite_store):
    many = [make_item(f"letter{n}", namespace="a", description="letter") for n in range(1200)]
    rare = make_item("rare", namespace="b", description="letter " + "and more " * 40, tags=("x",))
    sqlite_store.items.put([*many, rare], None)
    view = Pegboard(sqlite_store, SETTINGS).seen_by(ALL)
    found = view.search("letter", mode="bm25", filters=Filters(tags=("x",)), threshold=0.0)
    assert [hit.name for hit in found.hits] == ["rare"]


TAKE_BACK = """
ALTER TABLE models DROP COLUMN calibration;
DROP TABLE item_cards;
ALTER TABLE items DROP COLUMN title;
DROP TABLE item_vocabulary;
DROP TABLE item_terms;
CREATE VIRTUAL TABLE item_terms USING fts5 (
  name, aliases, labels, description, parameters, body,
  content = '', contentless_delete = 1,
  tokenize = "unicode61 remove_diacritics 0 categories 'L* N* Co M*'"
);
CREATE VIRTUAL TABLE item_vocabulary USING fts5vocab (item_terms, 'row');
DROP INDEX item_runs_caller;
ALTER TABLE items DROP COLUMN counted_runs;
DROP TABLE audit_log;
ALTER TABLE items DROP COLUMN replacement;
ALTER TABLE item_versions DROP COLUMN release;
ALTER TABLE item_versions DROP COLUMN side_file;
ALTER TABLE item_versions DROP COLUMN published_by;
ALTER TABLE item_versions DROP COLUMN signer;
ALTER TABLE item_versions DROP COLUMN yanked_at;
ALTER TABLE item_versions DROP COLUMN yanked_by;
ALTER TABLE item_versions DROP COLUMN yank_reason;
ALTER TABLE item_versions DROP COLUMN download_count;
ALTER TABLE item_versions ADD COLUMN yanked INTEGER NOT NULL DEFAULT 0;
DROP INDEX items_counted;
ALTER TABLE items DROP COLUMN terms;
DROP TABLE namespace_words;
DROP TABLE item_instances;
"""
"""What the migrations from 0013 on have brought, the last first."""


def test_a_board_from_before_there_were_views_is_weighed_and_spelled_all_the_same(tmp_path):
    path = tmp_path / "old.db"
    made = SqliteStore(path, create=True)
    made.items.put(open_items(), None)
    made.close()
    connection = apsw.Connection(str(path))
    connection.execute(TAKE_BACK)
    later = [name for _, name, _ in migrations("sqlite") if name > "0013_seen"]
    known = ["0014_releases", "0015_success", "0016_titles", "0017_source_labels"]
    assert later == [*known, "0018_calibration"], "take back what comes later as well"
    connection.execute("DELETE FROM migrations WHERE name >= '0013_seen'")
    assert connection.pragma("application_id") == APPLICATION_ID
    connection.close()
    store = SqliteStore(path)
    counted = dict(store.database.rows("SELECT id || namespace, terms FROM items"))
    assert counted == {
        item.id + item.namespace: len(" ".join(index_fields(item)).split()) for item in open_items()
    }
    same(store, "send a letter", "telegrm", "postc")
    store.close()
