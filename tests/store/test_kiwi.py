"""An old registry on a new board: every row arrives, or it is said why not."""

import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.rows import dict_row

from kiwi_database import AWKWARD, BIG, DIMENSION, OLD_DIRECTIVES, make_kiwi, sha256, uid
from making import make_item, make_vector
from pegboard.board.migrate.migrating import Migrating, MigrationReport
from pegboard.board.migrate.vectors import Vouched, fitting
from pegboard.embed.hashed import HashedEmbedder
from pegboard.errors import BoardError, UsageError
from pegboard.gate.admission import admit
from pegboard.model.items import EmbeddingStatus, Fingerprint, ItemId
from pegboard.ports.stages import quiet
from pegboard.store.postgres.kiwi import KiwiBoard, OldVector
from pegboard.store.postgres.kiwi_reading import reading
from pegboard.store.postgres.store import PostgresStore
from pegboard.text import embedding_text, source_hash
from postgres_server import Server, fresh

TARGET = HashedEmbedder(DIMENSION).fingerprint
SCRIPTS, DIRECTIVES, ENTRIES = 5_000, 60, 60


def move(
    old: str,
    new: str,
    *,
    schema: str = "public",
    namespace: str = "public",
    vouched: Vouched = Vouched(),  # noqa: B008 (it cannot be changed)
    dry_run: bool = False,
) -> MigrationReport:
    with closing(PostgresStore(new)) as store, reading(old, schema) as kiwi:
        board = KiwiBoard(store, "kiwi", namespace, TARGET)
        return Migrating(
            kiwi, board, store.ledger, admit, namespace, TARGET, vouched, quiet, dry_run=dry_run
        ).run(threading.Event())


def ask(url: str, statement: str, *values: object) -> list[Any]:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET timezone TO 'UTC'")
        cursor = connection.execute(statement.encode(), values or None)
        return cursor.fetchall() if cursor.description else []


def rows(url: str, statement: str) -> dict[str, dict[str, Any]]:
    """By id; moments as text, since a calendar does not have all of them."""
    with psycopg.connect(url) as connection, connection.cursor(row_factory=dict_row) as cursor:
        connection.execute("SET timezone TO 'UTC'")
        return {str(row["id"]): row for row in cursor.execute(statement.encode())}


def traces(url: str) -> dict[str, object]:
    """What is in each table, and which version of each row: whatever is written leaves a trace."""
    found: dict[str, object] = dict(
        ask(url, "SELECT sequencename, last_value FROM pg_sequences WHERE schemaname = 'public'")
    )
    tables = ask(
        url,
        "SELECT tablename FROM pg_tables WHERE schemaname = 'public'",
    )
    for (table,) in tables:
        name = sql.Identifier(table)
        query = sql.SQL("SELECT ctid::text, xmin::text, t::text FROM {} t ORDER BY 1").format(name)
        with psycopg.connect(url) as connection:
            found[table] = connection.execute(query).fetchall()
    return found


SCRIPTS_SQL = """SELECT id, name, category, subcategory, description, is_official, download_count,
  quality_score, tech_stack, tags, success_rate, estimated_cost_usd, latest_version,
  created_at::text AS created_at, updated_at::text AS updated_at FROM """
VERSIONS_SQL = """SELECT id, {owner} AS owner, version, content, content_hash, changelog,
  created_at::text AS created_at FROM """
SCRIPT_VERSIONS_SQL = VERSIONS_SQL.format(owner="script_id")
DIRECTIVE_VERSIONS_SQL = VERSIONS_SQL.format(owner="directive_id")


@contextmanager
def two_databases(server: Server) -> Iterator[tuple[str, str]]:
    with fresh(server, "template0") as old, fresh(server, server.template) as new:
        yield old, new


@pytest.fixture(scope="module")
def moved(postgres_server: Server) -> Iterator[tuple[str, str, MigrationReport]]:
    """Thousands of scripts on a board: old database, new one, and the report."""
    with two_databases(postgres_server) as (old, new):
        make_kiwi(old, scripts=SCRIPTS, directives=DIRECTIVES, entries=ENTRIES)
        yield old, new, move(old, new)


@pytest.fixture
def small(postgres_server: Server) -> Iterator[tuple[str, str]]:
    """A few dozen rows of each kind, and an empty board."""
    with two_databases(postgres_server) as (old, new):
        make_kiwi(old, scripts=30, directives=6, entries=6, largest=70_000)
        yield old, new


def place_of(name: str) -> int:
    return next(place for place, each in enumerate(AWKWARD) if each.name == name)


# Thousands of scripts.


def test_every_old_row_is_on_the_board_or_in_the_list_of_what_is_not(moved):
    old, _, report = moved
    for table in ("scripts", "directives", "knowledge_entries"):
        counted = report.tables[table]
        assert counted.rows == ask(old, f"SELECT count(*) FROM {table}")[0][0]
        assert counted.added + counted.refused == counted.rows
    for table in ("script", "directive"):
        counted = report.tables[f"{table}s"]
        alone = [each for each in report.refused if each.origin.startswith(f"{table}_versions/")]
        [(versions,)] = ask(old, f"SELECT count(*) FROM {table}_versions")
        assert counted.versions + counted.left_versions + len(alone) == versions


def test_old_readers_find_the_old_scripts_row_by_row(moved):
    old, new, report = moved
    before, after = (
        rows(old, SCRIPTS_SQL + "scripts WHERE id IS NOT NULL"),
        rows(new, SCRIPTS_SQL + "scripts_compat"),
    )
    told = {(each.origin, each.code) for each in report.remarks}
    refused = {each.origin for each in report.refused}
    assert after.keys() == {key for key in before if f"scripts/{key}" not in refused}
    for key, row in after.items():
        origin = f"scripts/{key}"
        same = [name for name in row if (origin, name) not in told]
        if (origin, "null_in_list") in told:
            same.remove("tags")
        assert {n: row[n] for n in same} == {n: before[key][n] for n in same}


def same_versions(old: str, new: str, report: MigrationReport) -> dict[str, dict[str, Any]]:
    before = rows(old, SCRIPT_VERSIONS_SQL + "script_versions")
    after = rows(new, SCRIPT_VERSIONS_SQL + "script_versions_compat")
    assert len(after) == report.tables["scripts"].versions
    odd = {e.origin.partition("/")[2] for e in report.remarks if e.code == "created_at"}
    assert {k: v for k, v in after.items() if k not in odd} == {
        k: before[k] for k in after if k not in odd
    }
    return after


def test_old_readers_find_every_version_as_it_was(moved):
    after = same_versions(*moved)
    assert max(len(row["content"] or "") for row in after.values()) == BIG


def test_directives_and_their_versions_arrive(moved):
    old, new, _ = moved
    names = "id, name, latest_version, download_count, quality_score, created_at::text AS created"
    before = rows(old, f"SELECT {names} FROM directives")
    after = rows(new, f"SELECT {names} FROM directives")
    assert len(after) == DIRECTIVES + len(OLD_DIRECTIVES)
    for row in before.values():
        row["download_count"] = row["download_count"] or 0
    versions = rows(old, DIRECTIVE_VERSIONS_SQL + "directive_versions")
    for row in versions.values():
        row["changelog"] = row["changelog"] or ""
    for n, number in enumerate(("1.0.0", "1.0.0+1-0", "0.0.0+latest")):  # the board's own
        key = uid("old directive", n)
        before[key]["latest_version"] = versions[uid(key, 0)]["version"] = number
        del before[key]["created"], after[key]["created"]  # it was empty
    assert after == before
    assert rows(new, DIRECTIVE_VERSIONS_SQL + "directive_versions") == versions


def test_the_text_of_a_directive_is_its_latest_version(moved):
    _, new, _ = moved
    found = ask(
        new,
        """SELECT i.body, v.content FROM items i JOIN directive_versions v ON v.directive_id = i.uid
           WHERE i.kind = 'directive' AND v.is_latest""",
    )
    assert len(found) == DIRECTIVES + len(OLD_DIRECTIVES)
    assert all(body == content for body, content in found)


def test_knowledge_and_what_it_is_related_to_arrive(moved):
    old, new, report = moved
    names = "id, content, entry_type, created_at::text AS created, updated_at::text AS updated"
    before = rows(old, f"SELECT {names} FROM knowledge_entries WHERE zettel_id <> 'z-long'")
    assert rows(new, f"SELECT {names} FROM knowledge_entries") == before
    links = ask(new, "SELECT from_zettel_id, to_zettel_id, relationship_type"
                     " FROM knowledge_relationships")  # fmt: skip
    assert len(links) == ENTRIES == report.tables["knowledge_relationships"].added
    assert ("kiwi:knowledge/:z-0000", "kiwi:knowledge/finance:z-0001", "extends") in links
    [lost] = [r for r in report.refused if r.origin.startswith("knowledge_relationships/")]
    assert lost.code == "no_entry"
    assert "'z-none'" in lost.reason


@pytest.mark.parametrize("place", range(len(AWKWARD)), ids=[each.name[:30] for each in AWKWARD])
def test_an_awkward_row_is_moved_or_refused_as_foreseen(moved, place):
    _, new, report = moved
    said = AWKWARD[place]
    key = said.row.get("id", uid("awkward", place))
    versions = [f"script_versions/{uid(key, n)}" for n in range(len(said.versions))]
    own = {f"scripts/{key}", *versions}
    refused = {each.origin: each.code for each in report.refused if each.origin in own}
    assert refused.pop(f"scripts/{key}", "") == said.refused
    assert Counter(refused.values()) == Counter(said.refused_versions)
    remarks = [each.code for each in report.remarks if each.origin in own]
    assert Counter(remarks) == Counter(said.remarks)
    there = ask(new, "SELECT name FROM scripts_compat WHERE id = %s", key)
    assert there == ([] if said.refused else [(said.name,)])


@pytest.mark.parametrize(
    ("name", "number", "said"),
    [
        ("only_one_and_old", "1.0.0", "1.0"),
        ("old_and_new", "1.0.0+1-0", "1.0"),
        ("new_and_old", "1.0.0", "1.0.0"),
        ("latest", "0.0.0+latest", "latest"),
        ("dated", "2024.0.0-01-05", "2024-01-05"),
        ("number_is_missing", "0.0.0+old", None),
        ("youngest_of_old", "10.0.0", "v10"),
        ("twice_the_same_version", "1.0.0", "1.0.0"),
    ],
)
def test_a_number_that_is_not_semantic_costs_a_script_nothing(moved, name, number, said):
    old, new, _ = moved
    place = place_of(name)
    with closing(PostgresStore(new)) as store:
        entry = store.items.get(ItemId(f"kiwi::{name}"), "public")
    assert entry is not None and entry.item.version is not None
    assert entry.item.version.version == number
    [file] = entry.item.version.files
    versions = AWKWARD[place].versions
    assert file.content.decode() in {v["content"] for v in versions if v["version"] == said}
    key = uid("awkward", place)
    latest = ask(new, "SELECT latest_version FROM scripts_compat WHERE id = %s", key)
    assert latest == [(said,)]
    shown = "SELECT version, content FROM {} WHERE script_id = %s ORDER BY id"
    before = ask(old, shown.format("script_versions"), key)
    assert ask(new, shown.format("script_versions_compat"), key) == before
    assert len(before) == len(versions)


def test_a_number_that_changed_is_listed_with_what_it_was(moved):
    _, _, report = moved
    origin = f"script_versions/{uid(uid('awkward', place_of('only_one_and_old')), 0)}"
    [said] = [each for each in report.remarks if each.origin == origin]
    assert (said.code, said.reason) == ("version", "version '1.0' is 1.0.0 on the board")


def test_versions_of_nothing_are_named(moved):
    _, _, report = moved
    lost = {each.origin: each for each in report.refused if each.code == "no_item"}
    assert lost.keys() == {f"script_versions/{uid('orphan')}", f"script_versions/{uid('lost')}"}
    assert uid("nobody") in lost[f"script_versions/{uid('orphan')}"].reason


def test_what_was_refused_is_recorded_on_the_board(moved):
    _, new, report = moved
    with closing(PostgresStore(new)) as store:
        recorded = {(each.origin, each.code) for each in store.ledger.rejections()}
        assert {each.source for each in store.ledger.rejections()} == {"kiwi"}
    assert recorded == {(each.origin, each.code) for each in report.refused}


def test_the_board_can_read_and_find_all_that_was_moved(moved):
    _, new, report = moved
    with closing(PostgresStore(new)) as store:
        found, after = 0, 0
        while page := store.items.page(after, 1000):
            found, after = found + len(page), page[-1].key
        total = sum(report.tables[t].added for t in ("scripts", "directives", "knowledge_entries"))
        assert found == total == store.tasks.waiting(TARGET)
        entry = store.items.get(ItemId("kiwi:git:create_issue_0"), "public")
        assert entry is not None and entry.item.version is not None
        [file] = entry.item.version.files
        assert (file.path, file.sha256) == ("main.py", sha256(file.content.decode()))


# A few dozen.


def test_the_board_keeps_its_own_rules_afterwards(small):
    old, new = small
    move(old, new, vouched=Vouched(whatever_text=True))
    with closing(PostgresStore(new)) as store:
        assert store.check() == []


def test_running_it_again_writes_nothing(small):
    old, new = small
    first = move(old, new)
    before = traces(new)
    again = move(old, new)
    assert traces(new) == before
    for table, counted in again.tables.items():
        assert (counted.added, counted.changed) == (0, 0), table
        assert counted.unchanged >= first.tables[table].added
    assert again.refused == first.refused
    assert again.remarks == first.remarks


def test_a_dry_run_says_the_same_and_writes_nothing(small):
    old, new = small
    before = traces(new)
    planned = move(old, new, dry_run=True)
    assert traces(new) == before
    done = move(old, new)
    assert planned.tables == done.tables
    assert planned.embeddings == done.embeddings
    assert planned.refused == done.refused
    assert planned.remarks == done.remarks


def test_a_row_that_changed_since_is_brought_over_and_no_other(small):
    old, new = small
    move(old, new)
    changed, edited = uid("script", 3), uid("script", 4)
    ask(old, "UPDATE scripts SET download_count = 77, updated_at = '2025-01-01' WHERE id = %s",
        changed)  # fmt: skip
    ask(new, "UPDATE items SET download_count = 99 WHERE uid = %s", edited)
    report = move(old, new)
    assert (report.tables["scripts"].changed, report.tables["scripts"].added) == (1, 0)
    counts = dict(ask(new, "SELECT id::text, download_count FROM scripts_compat"))
    assert (counts[changed], counts[edited]) == (77, 99)
    [(moment,)] = ask(new, "SELECT updated_at::text FROM scripts_compat WHERE id = %s", changed)
    assert moment == "2025-01-01 00:00:00+00"


def test_rows_that_take_one_anothers_names_keep_their_ids(small):
    old, new = small
    move(old, new)
    ask(old, """UPDATE scripts SET category = 'ops', name = CASE id
        WHEN %s THEN 'first' WHEN %s THEN 'second' END WHERE id IN (%s, %s)""",
        *(uid("script", n) for n in (1, 2)) , *(uid("script", n) for n in (1, 2)))  # fmt: skip
    assert move(old, new).tables["scripts"].changed == 2
    ask(old, "UPDATE scripts SET name = CASE name WHEN 'first' THEN 'second' ELSE 'first' END"
             " WHERE name IN ('first', 'second')")  # fmt: skip
    assert move(old, new).tables["scripts"].changed == 2
    assert rows(new, SCRIPTS_SQL + "scripts_compat")[uid("script", 1)]["name"] == "second"
    assert rows(new, SCRIPTS_SQL + "scripts_compat")[uid("script", 2)]["name"] == "first"
    assert move(old, new).tables["scripts"].changed == 0
    with closing(PostgresStore(new)) as store:
        assert store.check() == []


def test_an_id_that_another_source_has_is_left_to_it(small):
    old, new = small
    with closing(PostgresStore(new)) as store:
        taken = make_item("create_issue_0", id=ItemId("kiwi:git:create_issue_0"), source="tools")
        store.items.put([taken], None)
    report = move(old, new)
    [refused] = [each for each in report.refused if each.code == "id_taken"]
    assert refused.origin == f"scripts/{uid('script', 0)}"
    assert "'tools'" in refused.reason
    with closing(PostgresStore(new)) as store:
        store.ledger.remove_source("tools")
    again = move(old, new)
    assert (again.tables["scripts"].added, again.tables["scripts"].changed) == (1, 0)
    with closing(PostgresStore(new)) as store:
        assert "id_taken" not in {each.code for each in store.ledger.rejections()}


def test_two_namespaces_can_have_the_same_registry(small):
    old, new = small
    first, second = move(old, new), move(old, new, namespace="team/b")
    assert first.tables == second.tables
    counted = ask(new, "SELECT namespace, count(*) FROM items GROUP BY 1 ORDER BY 1")
    assert [name for name, _ in counted] == ["public", "team/b"]
    assert counted[0][1] == counted[1][1]


def test_an_old_database_that_may_only_be_read_will_do(small, postgres_server):
    old, new = small
    [(name,)] = ask(old, "SELECT current_database()")
    reader = f"reader_{name[-8:]}"
    try:
        ask(old, f'CREATE ROLE "{reader}" LOGIN')
        ask(old, f'GRANT SELECT ON ALL TABLES IN SCHEMA public TO "{reader}"')
        ask(old, f'ALTER ROLE "{reader}" SET default_transaction_read_only = on')
        report = move(postgres_server.address(name, reader), new)
    finally:
        ask(old, f'DROP OWNED BY "{reader}"; DROP ROLE "{reader}"')
    assert report.tables["scripts"].added > 30


@pytest.mark.parametrize("schema", ["public", "kiwi"])
def test_the_old_tables_may_be_in_the_same_database(postgres_url, schema):
    if schema == "kiwi":
        make_kiwi(postgres_url, scripts=5, schema="kiwi", largest=70_000)
    else:  # where the board has its own directives, only scripts can be
        ask(postgres_url, "CREATE TABLE scripts (id uuid, name text)")
        ask(postgres_url, "CREATE TABLE script_versions (id uuid, script_id uuid, version text)")
        ask(postgres_url, "INSERT INTO scripts VALUES (%s, 'alone')", uid(1))
    report = move(postgres_url, postgres_url, schema=schema)
    assert set(report.tables) >= {"scripts"}
    assert ("directives" in report.tables) == (schema == "kiwi")
    assert report.tables["scripts"].added > 0
    assert move(postgres_url, postgres_url, schema=schema).tables["scripts"].added == 0


def test_tables_and_columns_that_are_not_there_are_not_missed(empty_database, postgres_url):
    ask(empty_database, "CREATE TABLE scripts (id uuid, name text, colour text)")
    ask(empty_database, "INSERT INTO scripts VALUES (%s, 'alone', 'red')", uid(1))
    report = move(empty_database, postgres_url)
    assert (set(report.tables), report.tables["scripts"].added) == ({"scripts"}, 1)


def test_numbers_may_be_in_a_column_for_numbers(empty_database, postgres_url):
    ask(empty_database, "CREATE TABLE scripts (id uuid, name text, latest_version numeric)")
    ask(empty_database, "INSERT INTO scripts VALUES (%s, 'alone', 1.10)", uid(1))
    ask(
        empty_database,
        """CREATE TABLE script_versions AS
        SELECT gen_random_uuid() AS id, id AS script_id, latest_version AS version FROM scripts""",
    )
    move(empty_database, postgres_url)
    assert ask(postgres_url, "SELECT latest_version FROM items") == [("1.10.0",)]
    for shown in ("latest_version FROM scripts_compat", "version FROM script_versions_compat"):
        assert ask(postgres_url, f"SELECT {shown}") == [("1.10",)]


def test_a_number_that_comes_to_be_needed_is_given_back(small):
    """A version is added under the number that an older one was given: nothing is lost or mixed."""
    old, new = small
    move(old, new)
    key = uid("awkward", place_of("only_one_and_old"))
    ask(old, "INSERT INTO script_versions (id, script_id, version, content)"
             " VALUES (%s, %s, '1.0.0', 'added = 1')", uid("added"), key)  # fmt: skip
    report = move(old, new)
    assert report.tables["scripts"].changed == 1
    found = ask(new, "SELECT version, uid::text FROM item_versions WHERE item_key ="
                     " (SELECT key FROM items WHERE uid = %s) ORDER BY 1", key)  # fmt: skip
    assert found == [("1.0.0", uid("added")), ("1.0.0+1-0", uid(key, 0))]
    same_versions(old, new, report)


def test_a_database_without_any_old_table_is_no_registry(empty_database, postgres_url):
    with pytest.raises(UsageError, match="none of the tables scripts"):
        move(empty_database, postgres_url)
    ask(empty_database, "CREATE TABLE scripts (name text)")
    with pytest.raises(BoardError, match="the table scripts in"):
        move(empty_database, postgres_url)


# Embeddings.


def test_a_vector_of_another_text_is_not_taken_for_one_of_ours(small):
    old, new = small
    report = move(old, new)
    assert report.embeddings["taken"] == 0
    assert report.embeddings["other_text"] == 16  # by id for 15, by name for 1
    assert report.embeddings["passages"] == 1  # of knowledge: one vector cannot stand for several
    with closing(PostgresStore(new)) as store:
        assert store.tasks.counts(TARGET).ready == 0


def test_the_vector_of_a_text_that_says_the_same_is_taken_over(small):
    old, new = small
    move(old, new, dry_run=True)
    with closing(PostgresStore(new)) as store:
        item = make_item("create_issue_0", description="", category="git")
        said = embedding_text(item).replace(" ", "\n  ")
    ask(old, "UPDATE item_embeddings SET content = %s WHERE item_id = %s", said, uid("script", 0))
    ask(old, "UPDATE scripts SET description = NULL, tags = NULL WHERE id = %s", uid("script", 0))
    assert move(old, new).embeddings["taken"] == 1
    with closing(PostgresStore(new)) as store:
        entry = store.items.get(ItemId("kiwi:git:create_issue_0"), "public")
        assert entry is not None
        assert entry.embedding.status is EmbeddingStatus.READY
        assert store.tasks.counts(TARGET).ready == 1
        assert store.check() == []


def test_whoever_vouches_for_them_gets_the_vectors_that_fit(small):
    old, new = small
    move(old, new)
    longer = str([2.0] * DIMENSION)
    ask(
        old,
        "UPDATE item_embeddings SET embedding = %s WHERE item_id = %s",
        longer,
        uid("script", 2),
    )
    report = move(old, new, vouched=Vouched(whatever_text=True))
    assert report.embeddings["taken"] == 16
    assert report.tables["scripts"].unchanged == report.tables["scripts"].rows - 8
    lengths = ask(new, "SELECT DISTINCT round(vector_norm(embedding)::numeric, 5) FROM vectors")
    assert lengths == [(Decimal(1),)]
    reasons = {each.code for each in report.remarks if each.origin.startswith("item_embeddings/")}
    assert reasons == {
        "wrong_dimension", "other_model", "unknown_model", "no_direction", "no_item", "passages",
    }  # fmt: skip
    again = move(old, new, vouched=Vouched(whatever_text=True))
    assert again.embeddings["taken"] == 0


EDITS = {
    "description": "description = 'Something that no old row says.', manual_override = true",
    "tags": "tags = '{mine}', imported_tags = tags",
}


def edit(url: str, item_id: ItemId, field: str) -> str:
    """Say something else of it on the board, as a person does; the hash of its text."""
    ask(url, f"UPDATE items SET {EDITS[field]} WHERE id = %s", item_id)
    with closing(PostgresStore(url)) as store:
        entry = store.items.get(item_id, "public")
        assert entry is not None
        text = embedding_text(entry.item)
        assert store.tasks.enqueue(TARGET, [(entry.key, entry.content_hash, text)]) == 1
        return source_hash(text)


@pytest.mark.parametrize("field", EDITS)
@pytest.mark.parametrize("changed", [False, True])
def test_a_vector_of_the_old_text_does_not_hang_on_what_was_edited_since(small, changed, field):
    old, new = small
    move(old, new)
    item_id = ItemId("kiwi:git:create_issue_0")
    said = edit(new, item_id, field)
    if changed:
        ask(old, "UPDATE scripts SET download_count = 77 WHERE id = %s", uid("script", 0))
    planned = move(old, new, vouched=Vouched(whatever_text=True), dry_run=True)
    report = move(old, new, vouched=Vouched(whatever_text=True))
    assert report.embeddings == planned.embeddings
    assert (report.embeddings["taken"], report.embeddings["edited"]) == (15, 1)
    with closing(PostgresStore(new)) as store:
        entry = store.items.get(item_id, "public")
        assert entry is not None
        assert entry.embedding.status is EmbeddingStatus.PENDING
        assert entry.embedding.source_hash == said
        assert said in {task.source_hash for task in store.tasks.claim(TARGET, "me", 100, 60.0)}


def test_a_vector_hangs_only_while_its_item_has_the_text_it_stands_for(small):
    old, new = small
    move(old, new)
    item_id = ItemId("kiwi:git:create_issue_0")
    with closing(PostgresStore(new)) as store:
        entry = store.items.get(item_id, "public")
        assert entry is not None
        board = KiwiBoard(store, "kiwi", "public", TARGET)
        vector = make_vector(1.0, *[0.0] * (DIMENSION - 1))
        assert board.put([], {item_id: OldVector(vector, "another")}).hung == frozenset()
        assert store.tasks.counts(TARGET).ready == 0
        mine = OldVector(vector, entry.embedding.source_hash)
        assert board.put([], {item_id: mine}).hung == {item_id}
        assert store.check() == []


def test_a_model_that_is_not_said_can_be_named(small):
    old, new = small
    named = Vouched("Some-Org/Hashed-Ngrams", whatever_text=True)
    report = move(old, new, vouched=named)
    assert report.embeddings["taken"] == 17
    assert report.embeddings["unknown_model"] == 0


@pytest.mark.parametrize(
    ("said", "fits"),
    [
        ("all-MiniLM-L6-v2", True),
        ("sentence-transformers/all-MiniLM-L6-v2", True),
        ("all-MiniLM-L12-v2", False),
        ("", False),
    ],
)
def test_a_model_is_known_by_its_name_whoever_packed_its_weights(said, fits):
    target = Fingerprint("local", "all-MiniLM-L6-v2-int8@e3f8326f", 3, 2)
    row = {"model": said, "embedding": "[1,2,2]"}
    found = fitting(row, make_item("x"), target, Vouched(whatever_text=True))
    assert isinstance(found, bytes) == fits


# Stopped.

VICTIM = """
import os, signal, sys, threading
from pegboard.board.migrate.vectors import Vouched
from pegboard.board.migrate.migrating import Migrating
from pegboard.embed.hashed import HashedEmbedder
from pegboard.gate.admission import admit
from pegboard.store.postgres.kiwi import KiwiBoard
from pegboard.store.postgres.kiwi_reading import reading
from pegboard.store.postgres.store import PostgresStore

old, new, where, when = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
calls = []

def die(*_):
    calls.append(1)
    if len(calls) == when:
        os.kill(os.getpid(), signal.SIGKILL)

def quiet(*_):
    pass

remember = KiwiBoard._remember

def remember_and_die(*arguments):
    remember(*arguments)
    die()

if where == "within":
    KiwiBoard._remember = remember_and_die
target = HashedEmbedder(256).fingerprint
store = PostgresStore(new)
with reading(old, "public") as kiwi:
    board = KiwiBoard(store, "kiwi", "public", target)
    progress = die if where == "between" else quiet
    Migrating(kiwi, board, store.ledger, admit, "public", target, Vouched(), progress,
              dry_run=False).run(threading.Event())
"""


@pytest.mark.parametrize("where", ["between", "within"])
def test_what_is_killed_half_way_is_completed_by_the_next_run(postgres_server, where):
    with two_databases(postgres_server) as (old, new):
        make_kiwi(old, scripts=110, largest=70_000)
        died = subprocess.run(
            [sys.executable, "-c", VICTIM, old, new, where, "2"],
            env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2] / "src")},
            timeout=60,
            check=False,
        )
        assert died.returncode == -signal.SIGKILL
        [(half,)] = ask(new, "SELECT count(*) FROM items")
        scripts = 110 + sum(not each.refused for each in AWKWARD)
        assert 0 < half < scripts + 10
        report = move(old, new)
        assert report.tables["scripts"].unchanged + report.tables["scripts"].added == scripts
        same_versions(old, new, report)
        with closing(PostgresStore(new)) as store:
            assert store.check() == []


def test_a_stop_ends_after_the_batch_in_hand(small):
    old, new = small
    stop = threading.Event()
    stop.set()
    with closing(PostgresStore(new)) as store, reading(old, "public") as kiwi:
        board = KiwiBoard(store, "kiwi", "public", TARGET)
        report = Migrating(
            kiwi, board, store.ledger, admit, "public", TARGET, Vouched(), quiet, dry_run=False
        ).run(stop)
    assert sum(counted.added for counted in report.tables.values()) == 0
    assert report.refused == []
