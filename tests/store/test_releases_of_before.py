"""Boards from before there were releases, and items from before links named versions."""

import hashlib
import json
from contextlib import closing

import psycopg
import pytest
from release_parts import hanging, numbers, publish
from test_migration import _made, _put_as_of_old

from making import entry_of, make_file, make_item
from pegboard.model.content import Link, Version
from pegboard.model.items import PutReport
from pegboard.store.planning import content_hash
from pegboard.store.postgres.opening import upgrade
from pegboard.store.postgres.store import PostgresStore
from pegboard.store.queries import migrations
from pegboard.store.sqlite.rows import as_records
from pegboard.store.sqlite.store import SqliteStore
from pegboard.text import TEXT_VERSION

BEFORE = {"sqlite": 13, "postgres": 11}
FILE = make_file("main.py", b"old")
OLD = make_item(
    "old",
    links=(Link("uses", "new"),),
    version=Version("1.0.0", "h", {"a": 1}, "a: 1", "First.", (FILE,)),
)


def test_the_migrations_are_those_that_bring_releases():
    for kind, number in BEFORE.items():
        later = [name for each, name, _ in migrations(kind) if each > number]
        assert later[0].endswith("_releases")


@pytest.fixture(params=["sqlite", "postgres"])
def board(request, tmp_path):
    """One of the last schema, with an item, brought up to date."""
    if request.param == "sqlite":
        yield from _of_sqlite(tmp_path / "board.db")
    else:
        yield from _of_postgres(request.getfixturevalue("empty_database"))


def _of_sqlite(path):
    connection = _made(path, BEFORE["sqlite"])
    _put_as_of_old(connection, 1, OLD, TEXT_VERSION)
    connection.execute("UPDATE items SET latest_version = '1.0.0', links = ?", (_LINKS,))
    connection.execute(
        "INSERT INTO item_versions (item_key, version, manifest, manifest_text, content_hash,"
        " changelog, created_at) VALUES (1, '1.0.0', '{\"a\": 1}', 'a: 1', 'h', 'First.', 5)"
    )
    connection.execute(
        "INSERT INTO version_files (version_key, path, media_type, sha256, size_bytes, content)"
        " VALUES (1, 'main.py', 'text/plain', ?, 3, ?)",
        (FILE.sha256, FILE.content),
    )
    connection.close()
    with closing(SqliteStore(path)) as store:
        yield store


_LINKS = '[{"relation": "uses", "target": "new"}]'


def _of_postgres(url):
    upgrade(url, "here", through=BEFORE["postgres"])
    with psycopg.connect(url) as connection:
        connection.execute(
            "INSERT INTO items (namespace, id, name, short_name, category, source, origin,"
            " origin_hash, description, imported_description, latest_version, links, content_hash,"
            " text_version) VALUES ('public', %s, 'old', 'mail__old', 'mail', 'tools',"
            " 'mail/old.py', 'hash of old', 'What old does.', 'What old does.', '1.0.0', %s, %s,"
            " %s)",
            [OLD.id, _LINKS, content_hash(OLD), TEXT_VERSION],
        )
        connection.execute(
            "INSERT INTO item_versions (namespace, item_key, version, manifest, manifest_text,"
            " content_hash, changelog)"
            " SELECT namespace, key, '1.0.0', '{\"a\": 1}', 'a: 1', 'h', 'First.' FROM items"
        )
        connection.execute(
            "INSERT INTO version_files (namespace, version_key, path, media_type, sha256,"
            " size_bytes, content)"
            " SELECT namespace, key, 'main.py', 'text/plain', %s, 3, %s FROM item_versions",
            [FILE.sha256, FILE.content],
        )
    upgrade(url, "here")
    with closing(PostgresStore(url)) as store:
        yield store


def test_what_was_there_is_as_it_was_and_nothing_of_it_is_published(board):
    assert entry_of(board, OLD).item == OLD
    [line] = board.items.versions(OLD.id, "public")
    assert (line.number, line.size_bytes, line.download_count) == ("1.0.0", 3, 0)
    assert (line.published_by, line.signer, line.yanked_at) == ("", "", None)
    assert board.items.version(OLD.id, "public", "1.0.0") == OLD.version
    assert board.releases.audit() == []


def test_it_is_not_taken_for_changed(board):
    assert board.items.put([OLD], None) == PutReport(unchanged=1)


def test_it_takes_releases_from_then_on(board):
    publish(board, "1.0.0", "1.1.0")
    assert (numbers(board), hanging(board)) == (["1.1.0", "1.0.0"], "1.1.0")
    told = board.releases.publish(OLD._replace(source="published"), None, "alice")
    assert told.refused.code == "id_taken"
    board.items.put([OLD], None, rewrite=True)
    assert board.check() == []


# Links.


def test_a_link_that_takes_any_version_is_kept_as_it_always_was():
    """So an item that has not changed has the hash that it had."""
    assert as_records([Link("uses", "a")]) == '[{"relation": "uses", "target": "a"}]'
    assert json.loads(as_records([Link("uses", "a", "^1")])) == [
        {"relation": "uses", "target": "a", "range": "^1"}
    ]
    said = {
        "category": "mail",
        "description": "What old does.",
        "id": OLD.id,
        "links": [["uses", "new"]],
        "name": "old",
        "source": "tools",
    }
    bare = OLD._replace(version=None)
    canonical = json.dumps(said, sort_keys=True, separators=(",", ":"))
    assert content_hash(bare) == hashlib.sha256(canonical.encode()).hexdigest()
    ranged = bare._replace(links=(Link("uses", "new", "^1"),))
    assert content_hash(ranged) != content_hash(bare)


def test_a_link_leads_where_its_target_does_whatever_versions_it_takes(store):
    new, other = make_item("new"), make_item("other")
    twice = (Link("uses", "new", "^1"), Link("uses", "new", "^2"), Link("uses", "other"))
    linked = make_item("old", links=twice)
    store.items.put([new, other, linked], None)
    store.curation.resolve_links()
    assert entry_of(store, linked).item.links == twice
    ties = store.curation.ties(entry_of(store, linked).key)
    assert [(tie.target, tie.id) for tie in ties] == [("new", new.id), ("other", other.id)]
    fewer = linked._replace(links=(Link("uses", "new", "^3"),))
    assert store.items.put([fewer], None) == PutReport(changed=1)
    [tie] = store.curation.ties(entry_of(store, linked).key)
    assert (tie.target, tie.id) == ("new", new.id)
    assert store.check() == []
