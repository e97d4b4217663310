"""`pegboard db`: upgrade, status and import-kiwi as a person or a program has them."""

import subprocess
import sys

import psycopg
import pytest

from kiwi_database import AWKWARD, OLD_DIRECTIVES, make_kiwi
from making import make_item
from pegboard.embed.hashed import HashedEmbedder
from pegboard.model.items import Task
from pegboard.store.postgres import nearest
from pegboard.store.queries import migrations

NAMES = [name for _, name, _ in migrations("postgres")]
NEWEST = migrations("postgres")[-1][0]


def test_upgrade_makes_a_board_and_says_what_it_applied(pegboard, empty_database):
    done = pegboard("db", "upgrade", "--board", empty_database)
    assert done.code == 0
    assert [line for line in done.out.splitlines() if line.startswith("applied ")] == [
        f"applied {name}" for name in NAMES
    ]
    again = pegboard("db", "upgrade", "--board", empty_database, "--json")
    assert (again.json["applied"], again.json["schema"]) == ([], NEWEST)
    assert pegboard("status", "--board", empty_database).code == 0


def test_two_processes_that_upgrade_at_once_apply_everything_once(empty_database):
    command = [sys.executable, "-m", "pegboard", "db", "upgrade", "--board", empty_database]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = [each.communicate(timeout=60)[0] for each in running]
    assert [each.returncode for each in running] == [0, 0]
    applied = [line for text in said for line in text.splitlines() if line.startswith("applied")]
    assert applied == [f"applied {name}" for name in NAMES]


def test_a_board_in_a_file_upgrades_itself(pegboard, board):
    done = pegboard("db", "upgrade")
    assert (done.code, "upgrade themselves" in done.out) == (0, True)
    assert pegboard("db", "upgrade", "--json").json["itself"] is True
    assert pegboard("db", "status").code == 2
    refused = pegboard("db", "import-kiwi", "--from", "postgresql://nowhere/old")
    assert (refused.code, "is a file" in refused.err) == (2, True)


def test_old_tables_in_the_way_of_the_board_are_named_with_a_way_out(pegboard, empty_database):
    make_kiwi(empty_database, scripts=2, largest=1_000)
    refused = pegboard("db", "upgrade", "--board", empty_database)
    assert refused.code == 4
    assert "tables of its own" in refused.err
    aside = f"{empty_database}&options=-csearch_path%3Dpegboard,public"
    with psycopg.connect(empty_database) as connection:
        connection.execute("CREATE SCHEMA pegboard")
    assert pegboard("db", "upgrade", "--board", aside).code == 0
    moved = pegboard("db", "import-kiwi", "--from", empty_database, "--board", aside, "--json")
    assert moved.json["tables"]["directives"]["added"] == 5 + len(OLD_DIRECTIVES)
    found = pegboard("search", "create issue", "--board", aside, "--json")
    assert "kiwi:git:create_issue_0" in [hit["id"] for hit in found.json["hits"]]


def test_a_schema_that_is_too_new_is_left_alone(pegboard, postgres_url):
    with psycopg.connect(postgres_url) as connection:
        connection.execute("INSERT INTO pegboard_migrations VALUES (9000, '9000_later')")
    refused = pegboard("db", "upgrade", "--board", postgres_url, "--json")
    assert refused.code == 4
    assert "board_too_new" in refused.err


def test_status_shows_how_the_database_stands(pegboard, postgres_url, postgres_store):
    target = HashedEmbedder().fingerprint
    postgres_store.items.put([make_item("waits"), make_item("hangs")], target)
    [first, *_] = postgres_store.tasks.claim(target, "me", 1, 60)
    postgres_store.tasks.finish(target, [(first, HashedEmbedder().embed(["x"])[0])])
    found = pegboard("db", "status", "--board", postgres_url, "--json").json
    assert (found["schema"], found["known"], found["pending"]) == (NEWEST, NEWEST, [])
    assert (found["role"], found["read_only"]) == ("primary", False)
    assert "vector" in found["extensions"]
    assert {t["name"]: t["rows"] for t in found["tables"]}["items"] == 2
    assert 0 < found["of_pegboard"] <= found["connections"] <= found["max_connections"]
    [waiting] = found["tasks"]
    assert (waiting["status"], waiting["tasks"]) == ("pending", 1)
    assert waiting["oldest_seconds"] >= 0
    [vectors] = found["vectors"]
    assert (vectors["table"], vectors["vectors"], vectors["indexed"]) == (
        "tool_vectors", 1, "not needed",
    )  # fmt: skip
    assert {"items_pkey", "item_texts_fts"} & {index["name"] for index in found["indexes"]}
    shown = pegboard("db", "status", "--board", postgres_url).out
    for word in ("primary", "vector ", "1 pending", "tool_vectors", f"{NEWEST} of {NEWEST}"):
        assert word in shown


@pytest.mark.parametrize("made", [False, True])
def test_status_says_whether_the_index_of_many_vectors_is_there(
    pegboard, postgres_url, postgres_store, made
):
    target = HashedEmbedder().fingerprint
    items = [make_item(f"tool_{n}") for n in range(1_001)]
    postgres_store.items.put(items, target)
    vector = HashedEmbedder().embed(["x"])[0]
    tasks: list[Task] = postgres_store.tasks.claim(target, "me", 1_001, 600)
    postgres_store.tasks.finish(target, [(task, vector) for task in tasks])
    if made:
        postgres_store.nearest.build(target)
    [found] = pegboard("db", "status", "--board", postgres_url, "--json").json["vectors"]
    assert found["indexed"] == ("made" if made else "to be made")


def test_status_of_a_database_that_is_no_board_yet_lists_what_is_pending(pegboard, empty_database):
    found = pegboard("db", "status", "--board", empty_database, "--json").json
    assert (found["schema"], found["pending"], found["tables"]) == (0, NAMES, [])
    assert "pegboard db upgrade" in pegboard("db", "status", "--board", empty_database).out


def test_an_address_that_nobody_answers_at_is_said_without_its_password(pegboard, tmp_path):
    address = f"postgresql://me:secret@/x?host={tmp_path}"
    for command in (("upgrade",), ("status",), ("import-kiwi", "--from", address)):
        failed = pegboard("db", *command, "--board", address)
        assert failed.code == 4, failed.err
        assert "secret" not in failed.err


def test_an_import_is_told_to_people_and_to_programs(pegboard, empty_database, postgres_url):
    make_kiwi(empty_database, scripts=12, largest=1_000)
    command = ("db", "import-kiwi", "--from", empty_database, "--board", postgres_url)
    planned = pegboard(*command, "--dry-run")
    assert planned.code == 0
    assert "nothing was written" in planned.out
    assert pegboard("status", "--board", postgres_url, "--json").json["embeddings"]["total"] == 0
    done = pegboard(*command, "--json").json
    scripts = 12 + sum(not each.refused for each in AWKWARD)
    assert done["tables"]["scripts"]["added"] == scripts
    assert {"source", "origin", "code", "reason"} <= done["refused"][0].keys()
    assert {"origin", "code", "reason"} == done["remarks"][0].keys()
    again = pegboard(*command)
    assert f"scripts: 0 added, 0 changed, {scripts} unchanged, 8 refused" in again.out
    assert "U+202E" in again.out
    refused = pegboard("rejections", "--board", postgres_url).out
    assert "kiwi / script_versions/" in refused


def test_imported_items_are_found_by_words_at_once_and_by_meaning_after_a_backfill(
    pegboard, empty_database, postgres_url
):
    make_kiwi(empty_database, scripts=12, largest=1_000)
    at = ("--board", postgres_url)
    assert pegboard("db", "import-kiwi", "--from", empty_database, *at).code == 0
    [hit, *_] = pegboard("search", "lint issue project 7", "--json", *at).json["hits"]
    assert (hit["id"], hit["match_type"]) == ("kiwi:finance:lint_issue_7", "keyword")
    assert pegboard("backfill", *at).code == 0
    [hit, *_] = pegboard("search", "lint issue project 7", "--json", *at).json["hits"]
    assert (hit["id"], hit["match_type"]) == ("kiwi:finance:lint_issue_7", "both")
    shown = pegboard("show", "kiwi:finance:lint_issue_7", "--json", *at).json
    assert shown["item"]["version"]["files"][0]["path"] == "main.py"


def test_vectors_that_are_vouched_for_are_searched_at_once(pegboard, empty_database, postgres_url):
    make_kiwi(empty_database, scripts=12, largest=1_000)
    at = ("--board", postgres_url, "--json")
    vouching = ("--trust-embeddings", "--embedding-model", "hashed-ngrams")
    done = pegboard("db", "import-kiwi", "--from", empty_database, *vouching, *at)
    assert (done.json["embeddings"]["taken"], done.json["embeddings"]["passages"]) == (8, 1)
    assert pegboard("status", *at).json["embeddings"]["ready"] == 8


def test_an_import_within_one_database_does_not_wait_for_itself(
    pegboard, postgres_url, monkeypatch
):
    monkeypatch.setattr(nearest, "INDEXED_FROM", 3)
    make_kiwi(postgres_url, scripts=12, schema="kiwi", largest=1_000)
    at = ("--board", postgres_url)
    options = ("--schema", "kiwi", "--trust-embeddings")
    assert pegboard("db", "import-kiwi", "--from", postgres_url, *options, *at).code == 0
    indexes = pegboard("db", "status", "--json", *at).json["indexes"]
    assert [each["table"] for each in indexes if each["method"] == "hnsw"] == ["tool_vectors"]


def test_wrong_usage_is_said(pegboard, postgres_url):
    at = ("--board", postgres_url)
    for arguments in (
        ("--from", "mysql://old"),
        ("--from", postgres_url, "--namespace", "NO!"),
        ("--from", postgres_url, "--schema", "nowhere"),
        (),
    ):
        assert pegboard("db", "import-kiwi", *arguments, *at).code == 2
