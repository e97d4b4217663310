"""The names under which other programs know a registry answer, with their columns and bounds."""

import json
import re
from pathlib import Path

import psycopg
import pytest
from psycopg import errors

from making import OTHER_MODEL, entry_of, hang, make_file, make_item, retire
from pegboard.model.content import Signature, Version
from pegboard.model.items import Kind, Model, ModelSpec, ToolType, Visibility

FIGURES = (
    "download_count integer, quality_score numeric(3,2), success_rate numeric(3,2),"
    " estimated_cost_usd numeric(10,2)"
)
TIMES = "created_at timestamp with time zone, updated_at timestamp with time zone"
SEARCHED = "embedding vector, content text, fts tsvector, "
LABELS = "description text, category text, subcategory text, tags text[], tech_stack text[]"
COLUMNS = {
    "tools": "id uuid, tool_id text, namespace text, name text, tool_type text, "
    f"{LABELS}, is_official boolean, visibility text, {FIGURES}, latest_version text, {TIMES}",
    "tool_versions": "id uuid, tool_id uuid, version text, manifest jsonb, manifest_yaml text,"
    " content_hash text, changelog text, is_latest boolean, published_at timestamp with time zone,"
    " created_at timestamp with time zone",
    "tool_version_files": "id uuid, tool_version_id uuid, path text, media_type text, sha256 text,"
    " size_bytes integer, is_executable boolean, content_text text, storage_key text,"
    " created_at timestamp with time zone",
    "scripts_compat": "id uuid, name text, category text, subcategory text, description text,"
    " is_official boolean, download_count integer, quality_score numeric(3,2), tech_stack text[],"
    " tags text[], success_rate numeric(3,2), estimated_cost_usd numeric(10,2),"
    f" latest_version text, {TIMES}",
    "script_versions_compat": "id uuid, script_id uuid, version text, content text,"
    " content_hash text, changelog text, created_at timestamp with time zone",
    "directive_embeddings": f"id uuid, directive_id uuid, version text, {SEARCHED}name text,"
    " description text, category text, tags text[], signature text,"
    f" validated_at timestamp with time zone, {TIMES}",
    "tool_embeddings": f"id uuid, tool_id uuid, version text, {SEARCHED}name text,"
    " description text, tool_type text, category text, tags text[], parameters jsonb,"
    f" signature text, validated_at timestamp with time zone, {TIMES}",
    "knowledge_embeddings": f"id uuid, knowledge_id uuid, {SEARCHED}title text, entry_type text,"
    f" tags text[], validated_at timestamp with time zone, {TIMES}",
}
"""As seed 000 has them. A vector has the length of its model, so its type names none."""
WITH_COLUMNS_OF_OLD = {
    "directives": {"id", "name", "category", "description", "is_official", "quality_score"},
    "directive_versions": {"directive_id", "version", "content", "content_hash", "is_latest"},
    "knowledge_entries": {"id", "zettel_id", "title", "content", "entry_type", "category", "tags"},
    "knowledge_relationships": {"from_zettel_id", "to_zettel_id", "relationship_type"},
    "skills": {"id", "name", "description"},
    "skill_embeddings": {"skill_id", "embedding", "fts"},
    "mcp_servers": {"name", "config"},
}

MAIN = make_file("main.py", b"print('hello')\n", media_type="text/x-python", executable=True)
LOGO = make_file("logo.png", b"\x89PNG\x00\xff", media_type="image/png")
SCRIPT = make_item(
    "greet",
    tool_type=ToolType.PYTHON,
    description="Says hello.",
    tags=("hello",),
    executor={"entrypoint": "main.py"},
    input_schema={"type": "object", "properties": {"who": {"type": "string"}}},
    signature=Signature("me", "ed25519", "c2lnbmVk", "2026-01-01T00:00:00Z"),
    version=Version(
        "1.2.0", "hash", {"tool_id": "greet"}, "tool_id: greet\n", "New.", (LOGO, MAIN)
    ),
)


@pytest.fixture
def sql(postgres_url):
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        yield connection


def one(sql, statement, *params):
    [row] = sql.execute(statement, params).fetchall()
    return row[0] if len(row) == 1 else row


def columns(sql, name):
    rows = sql.execute(
        "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute"
        " WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
        [name],
    ).fetchall()
    return [(name, kind) for name, kind in rows]


@pytest.mark.parametrize("name", COLUMNS)
def test_a_name_answers_with_the_columns_it_always_had(sql, name):
    assert sql.execute(f"SELECT * FROM {name}").fetchall() == []
    assert columns(sql, name) == [tuple(c.split(" ", 1)) for c in COLUMNS[name].split(", ")]


@pytest.mark.parametrize("name", WITH_COLUMNS_OF_OLD)
def test_other_names_answer_with_at_least_what_readers_of_old_ask_for(sql, name):
    assert sql.execute(f"SELECT * FROM {name}").fetchall() == []
    assert {column for column, _ in columns(sql, name)} >= WITH_COLUMNS_OF_OLD[name]


def test_no_view_lends_its_owners_rights(sql):
    lending = sql.execute(
        "SELECT relname FROM pg_class WHERE relkind = 'v' AND relnamespace = 'public'::regnamespace"
        " AND NOT coalesce('security_invoker=true' = ANY (reloptions), false)"
    ).fetchall()
    assert lending == []


def test_a_tool_is_read_with_its_versions_and_files(postgres_store, sql):
    postgres_store.items.put([SCRIPT], None)
    uid, *said = one(sql, "SELECT id, tool_id, name, tool_type, tags, latest_version FROM tools")
    assert said == [SCRIPT.id, "greet", "python", ["hello"], "1.2.0"]
    version, *said = one(
        sql, "SELECT id, tool_id, version, manifest, manifest_yaml, is_latest FROM tool_versions"
    )
    assert said == [uid, "1.2.0", {"tool_id": "greet"}, "tool_id: greet\n", True]
    assert sql.execute(
        "SELECT tool_version_id, path, content_text, size_bytes, is_executable"
        " FROM tool_version_files ORDER BY path"
    ).fetchall() == [
        (version, "logo.png", None, 6, False),
        (version, "main.py", "print('hello')\n", 15, True),
    ]


def test_readers_of_scripts_find_python_tools_and_no_others(postgres_store, sql):
    shell = make_item("ls", tool_type=ToolType.BASH, version=SCRIPT.version)
    postgres_store.items.put([SCRIPT, shell], None)
    uid, name = one(sql, "SELECT id, name FROM scripts_compat")
    assert name == "greet"
    assert one(sql, "SELECT script_id, version, content FROM script_versions_compat") == (
        uid,
        "1.2.0",
        "print('hello')\n",
    )


def test_a_script_under_another_name_is_the_file_that_is_run(postgres_store, sql):
    other = make_file("greet.py", b"pass\n")
    version = Version("1.0.0", "hash", files=(other,))
    postgres_store.items.put(
        [SCRIPT._replace(version=version, executor={"entrypoint": "greet.py"})], None
    )
    assert one(sql, "SELECT content FROM script_versions_compat") == "pass\n"


def test_directives_and_knowledge_are_read_by_their_old_columns(postgres_store, sql):
    postgres_store.items.put(
        [
            make_item(
                "deploy",
                kind=Kind.DIRECTIVE,
                body="body",
                version=Version("1.0.0", "h", files=(make_file("deploy.md", b"<directive/>"),)),
            ),
            make_item("notes", kind=Kind.KNOWLEDGE, subcategory="pattern", body="# Notes"),
            make_item("pdf", kind=Kind.SKILL),
        ],
        None,
    )
    assert one(sql, "SELECT name FROM directives") == "deploy"
    assert one(sql, "SELECT content, is_latest FROM directive_versions") == ("<directive/>", True)
    assert one(sql, "SELECT title, entry_type, content FROM knowledge_entries") == (
        "notes",
        "pattern",
        "# Notes",
    )
    assert one(sql, "SELECT name FROM skills") == "pdf"
    assert sql.execute("SELECT * FROM tools").fetchall() == []


def test_what_is_gone_from_its_source_is_gone_from_the_names(postgres_store, embedder, sql):
    hang(postgres_store, embedder, SCRIPT)
    retire(postgres_store)
    for name in ("tools", "tool_versions", "tool_version_files", "tool_embeddings"):
        assert sql.execute(f"SELECT * FROM {name}").fetchall() == []
    assert sql.execute("SELECT * FROM scripts_compat").fetchall() == []


@pytest.mark.parametrize("document", ['{"a": "\\u0000"}', '{"a": "\\ud800"}', '{"a": 1e999999}'])
def test_a_document_that_jsonb_cannot_hold_does_not_spoil_the_others(postgres_store, sql, document):
    postgres_store.items.put([SCRIPT], None)
    sql.execute("UPDATE item_versions SET manifest = %s", [document])
    assert one(sql, "SELECT manifest FROM tool_versions") == document


# Vectors.


def test_only_ready_vectors_are_among_the_embeddings(postgres_store, embedder, sql):
    waiting = make_item("later", version=None)
    hang(postgres_store, embedder, SCRIPT)
    postgres_store.items.put([waiting], embedder.fingerprint)
    row = one(
        sql, "SELECT name, vector_dims(embedding), parameters, signature, tool_type, fts::text"
        " FROM tool_embeddings",
    )  # fmt: skip
    *said, fts = row
    assert said == [
        "greet",
        embedder.fingerprint.dimension,
        json.loads(json.dumps(SCRIPT.input_schema)),
        "c2lnbmVk",
        "python",
    ]
    assert "'greet':1A" in fts
    assert one(
        sql, "SELECT tool_id = (SELECT id FROM tools WHERE name = 'greet') FROM tool_embeddings"
    )


def test_an_embedding_of_a_text_that_changed_is_not_shown(postgres_store, embedder, sql):
    hang(postgres_store, embedder, SCRIPT)
    sql.execute("UPDATE items SET source_hash = 'another'")
    assert sql.execute("SELECT * FROM tool_embeddings").fetchall() == []


def test_embeddings_are_those_of_the_active_model(postgres_store, embedder, sql):
    hang(postgres_store, embedder, SCRIPT)
    postgres_store.models.want(Model(embedder.fingerprint, ModelSpec("test")), chosen=True)
    postgres_store.models.want(Model(OTHER_MODEL, ModelSpec("test")), chosen=True)
    sql.execute(
        "INSERT INTO vectors (kind, item_key, fingerprint, namespace, source_hash, embedding)"
        " SELECT i.kind, i.key, c.wanted, i.namespace, i.source_hash, '[1,0]'"
        " FROM items i, model_choice c"
    )
    dimension = "SELECT vector_dims(embedding) FROM tool_embeddings"
    assert one(sql, dimension) == embedder.fingerprint.dimension
    assert postgres_store.models.activate(OTHER_MODEL)
    assert one(sql, dimension) == OTHER_MODEL.dimension


# Bounds.


@pytest.mark.parametrize(
    ("column", "value", "constraint"),
    [
        ("tool_type", "cobol", "tools_tool_type_check"),
        ("visibility", "secret", "tools_visibility_check"),
        ("quality_score", 10, "items_quality_score_check"),
        ("success_rate", -1, "items_success_rate_check"),
        ("estimated_cost_usd", 1e8, "items_estimated_cost_check"),
    ],
)
def test_a_value_out_of_bounds_is_refused(postgres_store, sql, column, value, constraint):
    postgres_store.items.put([SCRIPT], None)
    with pytest.raises(errors.CheckViolation) as refused:
        sql.execute(f"UPDATE items SET {column} = %s", [value])
    assert refused.value.diag.constraint_name == constraint


@pytest.mark.parametrize("value", ["python", "bash", "api", "docker", "mcp"])
def test_every_type_of_tool_is_known(postgres_store, sql, value):
    postgres_store.items.put([SCRIPT], None)
    sql.execute("UPDATE items SET tool_type = %s", [value])
    assert one(sql, "SELECT tool_type FROM tools") == value


@pytest.mark.parametrize(
    "again",
    [
        "INSERT INTO items (namespace, id) SELECT namespace, tool_id FROM tools",
        "INSERT INTO item_versions (item_key, namespace, version, manifest, content_hash)"
        " SELECT item_key, namespace, version, '{}', '' FROM item_versions",
        "INSERT INTO version_files (version_key, namespace, path, media_type, sha256, size_bytes)"
        " SELECT version_key, namespace, path, '', '', 0 FROM version_files",
    ],
    ids=["namespace and tool_id", "tool and version", "version and path"],
)
def test_nothing_is_there_twice(postgres_store, sql, again):
    postgres_store.items.put([SCRIPT], None)
    with pytest.raises(errors.UniqueViolation):
        sql.execute(again)


def test_the_same_id_may_hang_in_two_namespaces(postgres_store, sql):
    postgres_store.items.put([SCRIPT, SCRIPT._replace(namespace="team")], None)
    assert sql.execute("SELECT namespace FROM tools ORDER BY 1").fetchall() == [
        ("public",),
        ("team",),
    ]


def test_with_a_tool_goes_all_that_belongs_to_it(postgres_store, embedder, sql):
    hang(postgres_store, embedder, SCRIPT)
    postgres_store.items.put([make_item("other", version=SCRIPT.version)], embedder.fingerprint)
    sql.execute("DELETE FROM tools WHERE name = 'greet'")
    sql.execute("DELETE FROM tools WHERE name = 'other'")
    for table in ("items", "item_versions", "version_files", "item_terms", "item_texts", "vectors"):
        assert sql.execute(f"SELECT * FROM {table}").fetchall() == [], table
    assert sql.execute("SELECT * FROM embedding_tasks").fetchall() == []
    assert postgres_store.check() == []


def test_with_a_version_go_its_files(postgres_store, sql):
    postgres_store.items.put([SCRIPT], None)
    sql.execute("DELETE FROM item_versions")
    assert sql.execute("SELECT * FROM tool_version_files").fetchall() == []


# Writing.


def test_figures_are_written_and_nothing_else_changes(postgres_store, sql):
    postgres_store.items.put([SCRIPT], None)
    sql.execute("UPDATE items SET quality_score = 0.876")
    before = entry_of(postgres_store, SCRIPT)
    done = sql.execute("UPDATE tools SET download_count = download_count + 1, success_rate = 0.5")
    assert done.rowcount == 1
    after = entry_of(postgres_store, SCRIPT)
    assert after == before._replace(download_count=1, success_rate=0.5)
    assert after.quality_score == 0.876


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE tools SET description = 'Harmless.'",
        "UPDATE tools SET visibility = 'private', download_count = 5",
        "INSERT INTO tools (tool_id, name, tool_type) VALUES ('x', 'x', 'bash')",
        "INSERT INTO knowledge_entries (zettel_id, title) VALUES ('x', 'x')",
    ],
)
def test_what_an_item_says_cannot_be_written_past_the_gate(postgres_store, sql, statement):
    postgres_store.items.put([SCRIPT], None)
    with pytest.raises(errors.FeatureNotSupported) as refused:
        sql.execute(statement)
    assert "pegboard sync" in refused.value.diag.message_hint
    assert entry_of(postgres_store, SCRIPT).item.description == "Says hello."


@pytest.fixture
def linked(postgres_store, sql):
    """Two entries, the first of which refers to the second."""
    notes = [make_item(name, kind=Kind.KNOWLEDGE) for name in ("first", "second")]
    postgres_store.items.put(notes, None)
    link(sql, *[note.id for note in notes])
    return notes


def link(sql, start, end, namespace="public"):
    sql.execute(
        "INSERT INTO knowledge_relationships"
        " (namespace, from_zettel_id, to_zettel_id, relationship_type)"
        " VALUES (%s, %s, %s, 'references')",
        [namespace, start, end],
    )


def test_a_relationship_is_there_once_and_goes_with_either_end(sql, linked):
    first, second = (note.id for note in linked)
    with pytest.raises(errors.UniqueViolation):
        link(sql, first, second)
    link(sql, second, first)
    sql.execute("DELETE FROM knowledge_entries WHERE title = 'second'")
    assert sql.execute("SELECT * FROM knowledge_relationships").fetchall() == []


@pytest.mark.parametrize("namespace", ["public", "team"])
def test_a_relationship_has_both_ends_in_its_namespace(postgres_store, sql, linked, namespace):
    postgres_store.items.put([linked[0]._replace(namespace="team")], None)
    with pytest.raises(errors.ForeignKeyViolation):
        link(sql, linked[0].id, "nowhere" if namespace == "public" else linked[1].id, namespace)


# Rights.


def become(sql, role, subject="", *namespaces):
    claims = {"sub": subject, "app_metadata": {"namespaces": namespaces}}
    sql.execute("SELECT set_config('request.jwt.claims', %s, false)", [json.dumps(claims)])
    sql.execute(f"SET ROLE {role}")


def test_whoever_asks_sees_through_the_names_what_is_theirs_to_see(postgres_store, embedder, sql):
    hang(
        postgres_store,
        embedder,
        SCRIPT,
        make_item("private", visibility=Visibility.PRIVATE, author="ann", version=SCRIPT.version),
        SCRIPT._replace(namespace="team"),
    )
    seen = {"anon": 1, "authenticated": 2, "service_role": 3}
    for role, count in seen.items():
        become(sql, role, "ben", *(["team"] if role == "authenticated" else []))
        for name in ("tools", "tool_versions", "tool_embeddings"):
            assert one(sql, f"SELECT count(*) FROM {name}") == count, (role, name)
        assert one(sql, "SELECT count(*) FROM tool_version_files") == 2 * count
        sql.execute("RESET ROLE")


def test_callers_cannot_write_through_the_names_what_is_not_theirs(postgres_store, sql):
    mine = make_item("mine", namespace="team", author="ann")
    postgres_store.items.put([SCRIPT, mine], None)
    for role in ("anon", "authenticated"):
        become(sql, role, "ann", "team")
        with pytest.raises(errors.InsufficientPrivilege):
            sql.execute("UPDATE tools SET download_count = 1000000")
        sql.execute("RESET ROLE")
    become(sql, "anon")
    with pytest.raises(errors.InsufficientPrivilege):
        sql.execute("DELETE FROM tools")
    sql.execute("RESET ROLE")
    become(sql, "authenticated", "ann", "team")
    assert sql.execute("DELETE FROM tools").rowcount == 1
    sql.execute("RESET ROLE")
    assert one(sql, "SELECT name FROM tools") == "greet"


def test_a_relationship_tells_nobody_of_an_entry_they_may_not_see(postgres_store, sql, linked):
    hidden = make_item("hidden", kind=Kind.KNOWLEDGE, visibility=Visibility.PRIVATE, author="ann")
    mine = make_item("mine", kind=Kind.KNOWLEDGE, author="ben")
    postgres_store.items.put([hidden, mine], None)
    link(sql, linked[0].id, hidden.id)
    become(sql, "anon")
    assert one(sql, "SELECT count(*) FROM knowledge_relationships") == 1
    with pytest.raises(errors.InsufficientPrivilege):
        link(sql, linked[1].id, linked[0].id)
    sql.execute("RESET ROLE")
    become(sql, "authenticated", "ben", "public")
    for end in (hidden.id, "nowhere"):  # the same answer to both
        with pytest.raises(errors.InsufficientPrivilege):
            link(sql, mine.id, end)
    with pytest.raises(errors.InsufficientPrivilege):
        link(sql, linked[1].id, mine.id)
    link(sql, mine.id, linked[0].id)
    assert sql.execute("DELETE FROM knowledge_relationships").rowcount == 1


# What is written about them.


def test_every_statement_of_the_page_runs(postgres_store, sql):
    page = (Path(__file__).parents[2] / "docs" / "reference" / "sql.md").read_text("utf-8")
    blocks = re.findall(r"^```sql\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    statements = [each for block in blocks for each in block.split(";\n") if each.strip()]
    assert len(statements) >= 10
    for statement in statements:
        sql.execute(statement)


def test_the_page_names_all_there_is(sql):
    page = (Path(__file__).parents[2] / "docs" / "reference" / "sql.md").read_text("utf-8")
    for name in [*COLUMNS, *WITH_COLUMNS_OF_OLD]:
        assert f"`{name}`" in page
