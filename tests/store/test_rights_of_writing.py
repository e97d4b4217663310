"""Who may change what on a board with several tenants, tried in plain SQL."""

import psycopg
import pytest
from psycopg import errors, sql
from rights_parts import (
    ALICE,
    AMOS,
    ANON,
    BOB,
    CAROL,
    PEOPLE,
    STRANGER,
    acting,
    relations,
)

REFUSED = errors.InsufficientPrivilege
"""A right that is missing, or a row that a policy does not let in."""

ADD = "INSERT INTO items (namespace, id, name, author, visibility) VALUES "
VERSION = "INSERT INTO item_versions (namespace, item_key, version, manifest, content_hash) "
LINK = "INSERT INTO item_links (namespace, item_key, relation, target) "
HAPPENED = "INSERT INTO item_history (namespace, item_key, item_id, event, who, detail) "


@pytest.fixture
def owner(tenants):
    with psycopg.connect(tenants, autocommit=True) as connection:
        yield connection


def contents(connection):
    """A hash of everything on the board."""
    tables = relations(connection, "r")
    query = sql.SQL(" UNION ALL ").join(
        sql.SQL("SELECT {}, md5(string_agg(t::text, '' ORDER BY t::text)) FROM {} AS t").format(
            sql.Literal(table), sql.Identifier(table)
        )
        for table in tables
    )
    return dict(connection.execute(query).fetchall())


def changed_by(connection, caller, statement):
    """Which tables are not what they were, once the caller has run the statement."""
    before = contents(connection)
    with acting(connection, caller):
        connection.execute(statement)
        connection.execute("RESET ROLE")
        after = contents(connection)
    return {table for table in before if before[table] != after[table]}


def refusal(connection, caller, statement):
    """What the caller is told."""
    with pytest.raises(REFUSED) as told, acting(connection, caller):
        connection.execute(statement)
    return str(told.value)


def of(name, column="key"):
    """The number of a row, without having to see it."""
    return f"(SELECT {column} FROM known WHERE name = '{name}')"


@pytest.fixture
def known(owner):
    """The numbers of all items, as if the caller had come to know them."""
    owner.execute(
        "CREATE TEMP TABLE known AS SELECT i.name, i.key, v.key AS version_key FROM items i"
        " JOIN item_versions v ON v.item_key = i.key WHERE i.kind = 'tool'"
    )
    owner.execute("GRANT SELECT ON known TO anon, authenticated")
    return owner


# Items.


def test_a_member_adds_and_changes_and_removes_what_is_his(owner):
    assert changed_by(owner, ALICE, ADD + "('a', 'x', 'x', 'alice', 'private')") == {"items"}
    change = "UPDATE items SET description = 'new', visibility = 'private' WHERE name = '{}'"
    assert changed_by(owner, ALICE, change.format("zqalphaopenx")) == {"items"}
    remove = "DELETE FROM items WHERE name = 'zqalphaprivatex'"
    gone = changed_by(owner, ALICE, remove)
    assert gone > {"items", "item_terms", "tool_texts", "tool_vectors", "version_files"}


@pytest.mark.parametrize(
    ("caller", "row"),
    [
        (ALICE, "('b', 'x', 'x', 'alice', 'public')"),
        (ALICE, "('public', 'x', 'x', 'alice', 'public')"),
        (ALICE, "('a', 'x', 'x', 'amos', 'public')"),
        (ALICE, "('a', 'x', 'x', '', 'public')"),
        (CAROL, "('public', 'x', 'x', 'carol', 'public')"),
        (STRANGER, "('a', 'x', 'x', 'eve', 'public')"),
        (ANON, "('public', 'x', 'x', '', 'public')"),
        (ANON, "('a', 'x', 'x', 'alice', 'public')"),
    ],
)
def test_nobody_adds_where_he_is_no_member_or_in_anothers_name(owner, caller, row):
    refusal(owner, caller, ADD + row)
    refusal(owner, caller, ADD + row + " ON CONFLICT DO NOTHING")


@pytest.mark.parametrize("name", ["zqbravoopenx", "zqamosopenx", "zqamosprivatex", "zqpubopenx"])
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE items SET description = 'mine' WHERE name = '{}'",
        "DELETE FROM items WHERE name = '{}'",
        "DELETE FROM items USING known k WHERE items.key = k.key AND k.name = '{}'",
        "MERGE INTO items i USING known k ON i.key = k.key AND k.name = '{}'"
        " WHEN MATCHED THEN UPDATE SET description = 'mine'",
        "WITH gone AS (DELETE FROM items WHERE name = '{}' RETURNING *) SELECT * FROM gone",
        "UPDATE tools SET name = 'mine' WHERE name = '{}'",
        "DELETE FROM item_terms p USING known k WHERE p.item_key = k.key AND k.name = '{}'",
        "DELETE FROM item_texts p USING known k WHERE p.item_key = k.key AND k.name = '{}'",
        "DELETE FROM item_versions p USING known k WHERE p.item_key = k.key AND k.name = '{}'",
        "DELETE FROM vectors p USING known k WHERE p.item_key = k.key AND k.name = '{}'",
        "DELETE FROM embedding_tasks p USING known k WHERE p.entity_id = k.key AND k.name = '{}'",
        "DELETE FROM version_files p USING known k"
        " WHERE p.version_key = k.version_key AND k.name = '{}'",
        "DELETE FROM approved_definitions p USING known k"
        " WHERE p.item_key = k.key AND k.name = '{}'",
        "DELETE FROM item_links p USING known k WHERE p.item_key = k.key AND k.name = '{}'",
        "DELETE FROM item_history p USING known k WHERE p.item_key = k.key AND k.name = '{}'",
    ],
)
def test_what_is_anothers_stays_as_it_is(known, statement, name):
    try:
        assert changed_by(known, ALICE, statement.format(name)) == set()
    except REFUSED:  # the others say nothing, as if there was no such row
        assert statement.startswith(("MERGE", "UPDATE tools"))


@pytest.mark.parametrize(
    "change",
    [
        "author = 'bob'",
        "author = ''",
        "official = true",
        "download_count = 1000",
        "quality_score = 1",
        "success_rate = 1",
        "created_at = now()",
        "uid = gen_random_uuid()",
        "key = DEFAULT",
        "source = 'from_b'",
        'executor = \'{"server": "from_b"}\'',
        "executor = '[]'",
        "input_schema = '1'",
        "semantic_weight = 'NaN'",
        "semantic_weight = 1e300",
    ],
)
def test_an_author_cannot_make_his_item_anothers_or_more_than_it_is(owner, change):
    refusal(owner, ALICE, f"UPDATE items SET {change} WHERE name = 'zqalphaopenx'")


def test_a_member_of_two_namespaces_moves_nothing_from_one_to_the_other(owner):
    both = ALICE._replace(namespaces=("a", "b"))
    with pytest.raises(REFUSED), acting(owner, both):
        owner.execute(ADD + "('a', 'x', 'x', 'alice', 'private')")
        owner.execute("UPDATE items SET namespace = 'b' WHERE id = 'x'")


def test_an_item_may_name_the_servers_of_its_own_namespace(owner):
    server = "UPDATE items SET executor = '{\"server\": \"from_a\"}' WHERE name = 'zqalphaopenx'"
    assert changed_by(owner, ALICE, server) == {"items"}


# What belongs to items.


@pytest.mark.parametrize("name", ["zqbravoopenx", "zqamosopenx", "zqamosprivatex", "zqpubopenx"])
@pytest.mark.parametrize("namespace", ["a", "b", "public"])
@pytest.mark.parametrize(
    "statement",
    [
        VERSION + "SELECT '{namespace}', {key}, '2.0.0', '{{}}', 'h'",
        "INSERT INTO item_terms SELECT 'x', {key}, '{namespace}', 1, 1",
        "INSERT INTO item_texts (kind, item_key, namespace, length)"
        " SELECT 'tool', {key}, '{namespace}', 1",
        "INSERT INTO approved_definitions SELECT {key}, '{namespace}', '{{}}'",
        LINK + "SELECT '{namespace}', {key}, 'uses', 'x'",
        HAPPENED + "SELECT '{namespace}', {key}, 'tool:mail:zqamosopenx', 'reset', 'alice', ''",
        "INSERT INTO embedding_tasks"
        " (host_id, entity_type, entity_id, source_hash, source_text, fingerprint)"
        " SELECT '{namespace}', 'tool', {key}, 'h', 'x', 1",
        "INSERT INTO version_files (version_key, namespace, path, media_type, sha256, size_bytes)"
        " SELECT {version_key}, '{namespace}', 'evil.py', 'text/x-python', 'h', 0",
    ],
)
def test_nobody_hangs_anything_on_anothers_item(known, statement, namespace, name):
    """Also not with a namespace of his own beside the other's number."""
    values = {"key": of(name), "version_key": of(name, "version_key"), "namespace": namespace}
    refusal(known, ALICE, statement.format(**values))


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO items (key, namespace, id, author) OVERRIDING SYSTEM VALUE"
        f" SELECT {of('zqbravoopenx')}, 'a', 'x', 'alice'",
        "INSERT INTO items (uid, namespace, id, author)"
        " SELECT gen_random_uuid(), 'a', 'x', 'alice'",
        "INSERT INTO item_versions (key, namespace, item_key, version, manifest, content_hash)"
        f" OVERRIDING SYSTEM VALUE SELECT {of('zqbravoopenx', 'version_key')}, 'a',"
        f" {of('zqalphaopenx')}, '2', '{{}}', ''",
    ],
)
def test_nobody_chooses_the_number_of_a_row(known, statement):
    """Rows that belong to an item are often found by its number alone."""
    refusal(known, ALICE, statement)


def test_an_author_hangs_on_his_own_item_what_a_put_would(known):
    key = of("zqalphaopenx")
    assert changed_by(
        known, ALICE, f"{VERSION} SELECT 'a', {key}, '2.0.0', '{{}}', 'h' RETURNING key"
    ) == {"item_versions"}
    assert changed_by(known, ALICE, f"INSERT INTO item_terms SELECT 'x', {key}, 'a', 1, 1") == {
        "item_terms"
    }
    assert changed_by(known, ALICE, f"{LINK} SELECT 'a', {key}, 'uses', 'x'") == {"item_links"}
    happened = f"{HAPPENED} SELECT 'a', {key}, 'tool:mail:zqalphaopenx', 'reset', 'alice', ''"
    assert changed_by(known, ALICE, happened) == {"item_history"}
    assert changed_by(known, ALICE, "DELETE FROM item_history") == set()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE item_links SET target_key = 1",
        "INSERT INTO item_links (namespace, item_key, relation, target, target_key)"
        " SELECT 'a', {key}, 'uses', 'x', 1",
        "UPDATE item_history SET who = ''",
        HAPPENED + "SELECT 'a', {key}, 'tool:mail:zqalphaopenx', 'reset', 'bob', ''",
        HAPPENED + "SELECT 'a', {key}, 'tool:mail:zqamosopenx', 'reset', 'alice', ''",
        HAPPENED + "SELECT 'a', {key}, 'tool:mail:zqalphaopenx', 'nonsense', 'alice', ''",
        "INSERT INTO item_history (namespace, item_key, item_id, event, at)"
        " SELECT 'a', {key}, 'tool:mail:zqalphaopenx', 'reset', now()",
    ],
)
def test_an_author_says_neither_what_a_link_means_nor_what_others_did(known, statement):
    refusal(known, ALICE, statement.format(key=of("zqalphaopenx")))


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO item_terms SELECT 'x', {key}, 'a', 'NaN', 1",
        "INSERT INTO item_terms SELECT 'x', {key}, 'a', 'infinity', 1",
        "INSERT INTO item_terms SELECT 'x', {key}, 'a', 1, -1000",
        VERSION + "SELECT 'a', {key}, '2.0.0', '[]', 'h'",
        "INSERT INTO vectors (kind, item_key, fingerprint, namespace, source_hash, embedding)"
        " SELECT 'tool', {key}, 2, 'a', 'h', '[1,2]'",
        "UPDATE vectors SET embedding = '[1,2]'",
        "UPDATE version_files SET path = 'other.py'",
        "UPDATE item_versions SET manifest = '{{}}'",
        "INSERT INTO tool_texts (kind, item_key, namespace, length) SELECT 'tool', {key}, 'a', 1",
    ],
)
def test_an_author_cannot_spoil_the_search_of_others(known, statement):
    """One number that is none, or one vector of another length, would end it with an error."""
    refusal(known, ALICE, statement.format(key=of("zqalphaopenx")))


def test_words_are_added_to_ones_own_namespace(owner):
    add = "INSERT INTO word_variants VALUES ('x', 'x', '{}') ON CONFLICT DO NOTHING"
    assert changed_by(owner, ALICE, add.format("a")) == {"word_variants"}
    for namespace in ("b", "public"):
        refusal(owner, ALICE, add.format(namespace))


# Everything else.


@pytest.mark.parametrize("caller", PEOPLE)
@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO sources (name, namespace, kind, location) VALUES ('x', 'a', 'folder', '/')",
        "UPDATE sources SET location = '/etc'",
        "DELETE FROM sources",
        "INSERT INTO mcp_servers (name, namespace, config) VALUES ('from_a', 'a', '{}')",
        'UPDATE mcp_servers SET config = \'{"command": "rm"}\'',
        "INSERT INTO rejections VALUES ('x', 'x', 'a', 'h', 'c', 'r')",
        "DELETE FROM census",
        "DELETE FROM common_terms",
        "DELETE FROM word_variants",
        "INSERT INTO fingerprints (provider, model, dimension, text_version) VALUES ('x','x',1,1)",
        "UPDATE model_choice SET active = NULL",
        "UPDATE models SET spec = '{}'",
        "UPDATE board SET id = 'x'",
        "INSERT INTO logins VALUES (session_user, 'bob', '{b}')",
        "UPDATE logins SET namespaces = '{b}'",
        "DELETE FROM pegboard_migrations",
        "CREATE TABLE mine (x integer)",
        "CREATE FUNCTION mine() RETURNS integer LANGUAGE sql RETURN 1",
        "ALTER TABLE items DISABLE ROW LEVEL SECURITY",
        "DROP POLICY read ON items",
    ],
)
def test_what_is_the_boards_is_not_for_callers_to_change(owner, caller, statement):
    """A source is read, and a server started, by whoever syncs."""
    refusal(owner, PEOPLE[caller], statement)


@pytest.mark.parametrize("caller", PEOPLE)
def test_nobody_empties_a_table(owner, caller):
    for table in relations(owner, "rp"):
        statement = sql.SQL("TRUNCATE {} CASCADE").format(sql.Identifier(table))
        refusal(owner, PEOPLE[caller], statement)


def test_rows_cannot_be_copied_in_past_the_policies(owner):
    statement = "COPY items (namespace, id, author) FROM STDIN"
    with pytest.raises(errors.FeatureNotSupported), acting(owner, ALICE):
        owner.execute(statement)
    refusal(owner, ANON, statement)


# What a refusal tells.


def test_a_refusal_is_the_same_whether_there_is_such_a_row_or_not(known):
    taken = "('b', 'tool:mail:zqbravoprivatex', 'x', 'alice', 'public')"
    free = "('b', 'tool:mail:nothing', 'x', 'alice', 'public')"
    update = " ON CONFLICT (namespace, id) DO UPDATE SET name = 'x'"
    for end in ("", " ON CONFLICT DO NOTHING", update):
        assert refusal(known, ALICE, ADD + taken + end) == refusal(known, ALICE, ADD + free + end)
    there = VERSION + f"SELECT 'b', {of('zqbravoprivatex')}, '1.0.0', '{{}}', 'h'"
    nowhere = VERSION + "SELECT 'b', 123456, '1.0.0', '{}', 'h'"
    assert refusal(known, ALICE, there) == refusal(known, ALICE, nowhere)


def test_within_a_namespace_an_id_that_is_taken_is_refused_without_a_word_about_the_row(owner):
    row = "('a', 'tool:mail:zqamosprivatex', 'x', 'alice', 'public')"
    with pytest.raises(errors.UniqueViolation) as told, acting(owner, ALICE):
        owner.execute(ADD + row)
    assert told.value.diag.message_detail is None
    refusal(owner, ALICE, ADD + row + " ON CONFLICT (namespace, id) DO UPDATE SET name = 'x'")


def test_a_row_that_is_returned_is_one_that_is_seen(known):
    with acting(known, BOB):
        rows = known.execute("DELETE FROM items RETURNING author, namespace").fetchall()
    assert set(rows) == {("bob", "b")}
    with acting(known, AMOS):
        rows = known.execute("UPDATE items SET name = name RETURNING author").fetchall()
    assert set(rows) == {("amos",)}
