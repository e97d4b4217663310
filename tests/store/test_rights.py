"""Who sees what on a board with several tenants, asked in plain SQL."""

import psycopg
import pytest
from psycopg import errors, sql
from rights_parts import (
    ALICE,
    ANON,
    BOB,
    CAROL,
    HUNG,
    KINDS,
    NAMES,
    PEOPLE,
    STRANGER,
    acting,
    named_in,
    relations,
    seen_by,
    told,
    traces,
)

OF_NOBODY = {"board", "fingerprints", "model_choice", "models", "pegboard_migrations"}
"""Tables that everybody may read: the board as a whole, and which models it knows."""


@pytest.fixture
def owner(tenants):
    with psycopg.connect(tenants, autocommit=True) as connection:
        yield connection


@pytest.fixture
def known(owner):
    return traces(owner)


@pytest.fixture(params=PEOPLE)
def person(request):
    return PEOPLE[request.param]


def ask(connection, query, *params):
    return connection.execute(query, params).fetchall()


# The catalogue: nothing may be forgotten when a table, view or function is added.


def test_every_table_and_partition_has_row_security_and_policies(owner):
    rows = ask(
        owner,
        "SELECT c.relname FROM pg_class c WHERE c.relkind IN ('r', 'p')"
        " AND c.relnamespace = current_schema()::regnamespace AND NOT (c.relrowsecurity"
        " AND EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND p.polname <> 'service')"
        " AND EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND p.polname = 'service'))",
    )
    assert rows == []
    assert {"items", "tool_texts", "knowledge_vectors", "logins"} <= set(relations(owner, "rp"))


def test_every_view_is_read_with_the_rights_of_whoever_reads_it(owner):
    rows = ask(
        owner,
        "SELECT relname FROM pg_class WHERE relkind IN ('v', 'm')"
        " AND relnamespace = current_schema()::regnamespace"
        " AND NOT coalesce('security_invoker=true' = ANY(reloptions), false)",
    )
    assert rows == []


def test_functions_with_the_rights_of_the_owner_are_few_and_look_nowhere_else_for_names(owner):
    rows = ask(
        owner,
        "SELECT proname, proconfig FROM pg_proc"
        " WHERE pronamespace = current_schema()::regnamespace AND prosecdef ORDER BY 1",
    )
    assert [name for name, _ in rows] == [
        "audit_approval",
        "audit_item",
        "audit_version",
        "caller_claims",
        "count_download",
        "forget_old_runs",
        "item_by_id",
        "open_matching_keys",
        "rate_item",
    ]
    for name, settings in rows:
        [path] = [each for each in settings or () if each.startswith("search_path=")]
        assert path.endswith(", pg_temp"), name  # where else it would come first


def test_nobody_may_empty_a_table_or_use_its_numbers(owner):
    """TRUNCATE asks no policy, and a sequence tells how much others have added."""
    rows = ask(
        owner,
        "SELECT c.relname, r.rolname FROM pg_class c CROSS JOIN pg_roles r"
        " WHERE c.relnamespace = current_schema()::regnamespace"
        " AND r.rolname IN ('anon', 'authenticated')"
        " AND CASE WHEN c.relkind IN ('r', 'p', 'v')"
        "   THEN has_table_privilege(r.oid, c.oid, 'TRUNCATE, REFERENCES, TRIGGER')"
        "   WHEN c.relkind = 'S' THEN has_sequence_privilege(r.oid, c.oid, 'USAGE, SELECT, UPDATE')"
        " END",
    )
    assert rows == []


def test_anon_has_no_right_but_to_read(owner):
    rows = ask(
        owner,
        "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace"
        " AND relkind IN ('r', 'p', 'v')"
        " AND (has_any_column_privilege('anon', oid, 'INSERT, UPDATE')"
        "   OR has_table_privilege('anon', oid, 'INSERT, UPDATE, DELETE'))",
    )
    assert rows == []


def test_nobody_but_the_owner_and_the_service_may_read_tokens_and_the_audit_log(owner):
    rows = ask(
        owner,
        "SELECT relname, rolname FROM pg_class c CROSS JOIN pg_roles r"
        " WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v')"
        " AND rolname IN ('anon', 'authenticated')"
        " AND NOT has_table_privilege(r.oid, c.oid, 'SELECT')"
        " ORDER BY 1, 2",
    )
    tables, roles = ("audit_log", "board_tokens"), ("anon", "authenticated")
    assert rows == [(table, role) for table in tables for role in roles]
    with owner.transaction(force_rollback=True):  # and one who is given the right sees no row
        owner.execute("GRANT ALL ON board_tokens, audit_log TO authenticated")
        with acting(owner, ALICE):
            assert ask(owner, "SELECT * FROM board_tokens") == []
            assert ask(owner, "SELECT * FROM audit_log") == []
            assert ask(owner, "UPDATE board_tokens SET role = 'admin' RETURNING id") == []


def test_callers_cannot_make_anything_in_the_schema(owner):
    [granted] = ask(
        owner,
        "SELECT has_schema_privilege('anon', current_schema(), 'CREATE'),"
        " has_schema_privilege('authenticated', current_schema(), 'CREATE')",
    )
    assert granted == (False, False)


# Rows.


def test_the_board_of_these_tests_has_something_of_every_tenant_everywhere(owner, known):
    """Else what follows would prove nothing."""
    empty = {
        relation for relation in relations(owner, "rpv") if told(owner, relation, known) != NAMES
    }
    assert empty - OF_NOBODY == {
        *("census", "common_terms", "logins", "mcp_servers", "rejections", "sources"),
        "word_variants",  # only of what is public, see below
    }


def test_no_table_or_view_tells_of_what_its_reader_may_not_see(owner, known, person):
    for relation in relations(owner, "rpv"):
        with acting(owner, person):
            assert told(owner, relation, known) <= seen_by(person), relation


def test_whoever_may_see_an_item_sees_it_and_all_that_belongs_to_it(owner, known, person):
    for relation in ("items", "item_terms", "item_texts", "vectors", "version_files", "tools"):
        with acting(owner, person):
            assert told(owner, relation, known) == seen_by(person), relation


def test_what_everybody_sees_is_what_is_public_in_the_public_namespace():
    assert seen_by(ANON) == seen_by(STRANGER) == {"zqpubopenx"}
    assert seen_by(ALICE) > {"zqalphaprivatex", "zqalphaunlistedx", "zqamosopenx"}
    assert "zqamosprivatex" not in seen_by(ALICE)


def test_a_count_counts_only_what_is_seen(owner, person):
    with acting(owner, person):
        for table, many in (("items", 4), ("item_texts", 4), ("vectors", 4), ("tool_vectors", 1)):
            count = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table))
            assert ask(owner, count) == [(many * len(seen_by(person)),)]


def test_statistics_and_sources_are_of_namespaces_one_may_come_to(owner, person):
    with acting(owner, person):
        members = [(each,) for each in person.namespaces]
        for table in ("sources", "mcp_servers", "rejections"):
            query = sql.SQL("SELECT namespace FROM {}").format(sql.Identifier(table))
            assert ask(owner, query) == members
        assert ask(owner, "SELECT namespace FROM census ORDER BY 1") == [*members, ("public",)]
        # Three kinds of items in these namespaces are for nobody else to know of.
        [(public,)] = ask(owner, "SELECT items FROM census WHERE namespace = 'public'")
        assert public == len(KINDS)


def test_words_are_spelled_only_of_what_others_can_find(owner, known):
    open_ones = {each.name for each in HUNG if each.visibility == "public"}
    assert told(owner, "word_variants", known) == open_ones
    with acting(owner, BOB):
        assert told(owner, "word_variants", known) == {"zqpubopenx", "zqbravoopenx"}


# Functions.


def by_id(connection, hung):
    item_id = f"tool:mail:{hung.name}"
    return ask(connection, "SELECT name FROM item_by_id(%s, %s)", hung.namespace, item_id) != []


def test_an_unlisted_item_can_be_had_by_its_id(owner, person):
    with acting(owner, person):
        found = {hung.name for hung in HUNG if by_id(owner, hung)}
    assert found == seen_by(person) | {"zqpubunlistedx"}


def test_an_item_is_had_by_its_id_also_when_items_have_got_another_column(owner):
    with owner.transaction(force_rollback=True):
        owner.execute("ALTER TABLE items ADD COLUMN later integer DEFAULT 5")
        found = ask(owner, "SELECT later FROM item_by_id('public', 'tool:mail:zqpubopenx')")
    assert found == [(5,)]


def test_search_functions_find_only_what_is_seen(owner, known, person):
    functions = ask(
        owner,
        "SELECT proname FROM pg_proc WHERE pronamespace = current_schema()::regnamespace"
        " AND proname LIKE 'search%%'",
    )
    assert functions
    words = " or ".join(NAMES)
    [(vector,)] = ask(owner, "SELECT embedding::text FROM tool_embeddings LIMIT 1")
    for (function,) in functions:
        query = sql.SQL("SELECT to_json(f)::text FROM {}(%s, %s::vector, 100) AS f").format(
            sql.Identifier(function)
        )
        with acting(owner, person):
            found = ask(owner, query, words, vector)
            public = {each.name for each in HUNG if each.visibility == "public"}
            assert named_in(str(found), known) == seen_by(person) & public, function


# Ways around.


def test_a_function_of_ones_own_is_not_shown_hidden_rows(owner, known):
    notices = []
    owner.add_notice_handler(lambda notice: notices.append(notice.message_primary))
    with acting(owner, ALICE):
        owner.execute(
            "CREATE FUNCTION pg_temp.leak(text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001"
            " AS $$ BEGIN RAISE NOTICE '%', $1; RETURN true; END $$"
        )
        for table in ("items", "tools", "item_texts", "tool_texts"):
            query = sql.SQL("SELECT 1 FROM {} WHERE pg_temp.leak(name)")
            owner.execute(query.format(sql.Identifier(table)))
    assert named_in(str(notices), known) == seen_by(ALICE)


def test_an_error_tells_nothing_of_hidden_rows(owner, known):
    for table, column in (("items", "name"), ("item_terms", "term"), ("tool_texts", "content")):
        query = sql.SQL("SELECT 1 FROM {} WHERE {}::integer = 1").format(
            sql.Identifier(table), sql.Identifier(column)
        )
        with pytest.raises(errors.InvalidTextRepresentation) as told_of, acting(owner, STRANGER):
            owner.execute(query)
        assert named_in(str(told_of.value), known) <= seen_by(STRANGER)


def test_row_security_cannot_be_switched_off(owner):
    with pytest.raises(errors.InsufficientPrivilege), acting(owner, ALICE):
        owner.execute("SET LOCAL row_security = off")
        owner.execute("SELECT count(*) FROM items")


def test_statistics_of_the_server_are_hidden(owner, person):
    owner.execute("ANALYZE")
    tables = "schemaname = current_schema()"
    assert ask(owner, f"SELECT count(*) FROM pg_stats WHERE {tables}") > [(0,)]
    with acting(owner, person):
        assert ask(owner, f"SELECT tablename FROM pg_stats WHERE {tables}") == []
        assert ask(owner, f"SELECT tablename FROM pg_stats_ext WHERE {tables}") == []
        assert ask(owner, "SELECT 1 FROM pg_sequences WHERE last_value IS NOT NULL") == []


def test_copy_gives_what_a_query_gives(owner, known):
    with acting(owner, BOB), owner.cursor() as cursor:
        with cursor.copy("COPY tool_texts TO STDOUT") as copy:
            text = b"".join(bytes(part) for part in copy).decode()
        assert named_in(text, known) == seen_by(BOB)


def test_an_author_who_is_no_member_sees_what_is_his_in_public_only(owner):
    alone = ALICE._replace(namespaces=())
    with acting(owner, alone):
        assert ask(owner, "SELECT DISTINCT name FROM items") == [("zqpubopenx",)]
    with acting(owner, CAROL):
        assert len(ask(owner, "SELECT DISTINCT name FROM items")) == 3


# Speed.


@pytest.mark.parametrize("caller", [ANON, ALICE])
@pytest.mark.parametrize(
    ("query", "index"),
    [
        ("SELECT * FROM items WHERE namespace = 'a' AND id = 'x'", "items_id"),
        ("SELECT * FROM items WHERE name_key = 'x'", "items_name_key"),
        ("SELECT * FROM items WHERE key = 1", "items_pkey or items_seen"),
        ("SELECT * FROM item_terms WHERE term = 'x'", "item_terms_pkey"),
        ("SELECT * FROM word_variants WHERE variant = 'x'", "word_variants_pkey"),
        ("SELECT * FROM tool_texts WHERE item_key = 1", "tool_texts_pkey"),
        ("SELECT * FROM version_files WHERE version_key = 1", "version_files_version_key"),
    ],
)
def test_indexes_are_used_as_if_there_were_no_policies(owner, caller, query, index):
    with acting(owner, caller):
        owner.execute("SET LOCAL enable_seqscan = off")
        plan = str(ask(owner, f"EXPLAIN {query}"))
    assert any(each in plan for each in (*index.split(" or "), "One-Time Filter: false")), plan


def test_who_the_caller_is_is_worked_out_once_a_statement(owner):
    with acting(owner, ALICE):
        plan = "\n".join(row[0] for row in ask(owner, "EXPLAIN (VERBOSE) SELECT * FROM item_terms"))
    calls = [line.strip() for line in plan.splitlines() if "open_namespaces()" in line]
    assert calls
    assert all(line.startswith("Output:") for line in calls)  # of an InitPlan, not of a filter
