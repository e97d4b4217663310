"""No tenant writes a row that stops the others, and one that is there all the same stops nobody."""

import json
import logging
from contextlib import closing

import psycopg
import pytest
from psycopg import errors, sql
from rights_parts import ALICE, AMOS, MODEL, acting

from making import by_hand, make_item
from pegboard.board.curate.editing import Curating
from pegboard.board.find.answering import Ask, FindSettings, find
from pegboard.embed.choose import make_embedder
from pegboard.errors import BoardCorrupt, ItemNotFound
from pegboard.gate.admission import Limits
from pegboard.model.calls import OnChange
from pegboard.model.content import Access, Link, Permission, Resource, Signature, Version
from pegboard.store.postgres.store import PostgresStore
from pegboard.store.rows import LISTS, OBJECTS
from pegboard.store.sqlite.store import SqliteStore

SIGNED = {"signer": "s", "algorithm": "a", "value": "v", "signed_at": "t"}
LINK = {"relation": "uses", "target": "x"}
ASKED = {"access": "read", "resource": "shell", "scope": "*"}
DIGITS = "9" * 5_000
DEEP = '{"x":' * 3_000 + "1" + "}" * 3_000
UNREADABLE = {
    "no object": "[]",
    "digits": f'{{"x": {DIGITS}}}',
    "deep": DEEP,
    "deep list": f'{{"x": {"[" * 3_000}{"]" * 3_000}}}',
    "digits under the same name": f'{{"x": {DIGITS}, "x": 1}}',
    "depth under the same name, spelled otherwise": f'{{"x": {DEEP}, "\\u0078": 1}}',
    "no number in Python": '{"x": 1e400}',
    "half a character": '{"x": "\\ud800"}',
    "NUL": '{"x": "\\u0000"}',
}
MOMENTS = ("infinity", "-infinity", "20000-01-01", "0044-03-15 BC")

BAD_ITEMS = [
    *((f"{column} = %s", [UNREADABLE[how]], how) for column in OBJECTS for how in UNREADABLE),
    *(
        (f"{column} = %s", [moment], "")
        for column in ("updated_at", "drift_at", "off_at", "override_at")
        for moment in MOMENTS
    ),
    *((f"{column} = %s", [value], "") for column in LISTS for value in ("{NULL}", "{{a},{b}}")),
    *(
        ("signature = %s", [said if isinstance(said, str) else json.dumps(said)], "")
        for said in (
            *({"x": 1}, {}, [], SIGNED | {"x": ""}, SIGNED | {"value": 1}, DEEP),
            *(SIGNED | {"state": "trusted"}, SIGNED | {"state": 1}),
        )
    ),
    *(
        ("links = %s", [said if isinstance(said, str) else json.dumps(said)], "")
        for said in ({}, [1], [{}], ["x"], [LINK | {"x": ""}], [LINK | {"target": 1}], DEEP)
    ),
    ("links = %s", [f'[{{"relation": "", "target": "", "target": {DIGITS}}}]'], "twice"),
    *(
        ("permissions = %s", [json.dumps(said)], "")
        for said in (
            *({}, [1], [{}], [ASKED | {"x": ""}], [ASKED | {"scope": 1}]),
            *([ASKED | {"access": "all"}], [ASKED | {"resource": "all"}]),
        )
    ),
    *((f"{column} = repeat('x', 21000000)", [], "") for column in ("body", "latest_version")),
    ("description = repeat('x', 21000000)", [], ""),
    ("examples = ARRAY[repeat('x', 21000000)]", [], ""),
]


@pytest.fixture
def owner(tenants):
    with psycopg.connect(tenants, autocommit=True) as connection:
        yield connection


def refused(connection, statement, values=()):
    with pytest.raises(errors.InsufficientPrivilege), acting(connection, ALICE):
        connection.execute(sql.SQL(statement), values or None)


def done(connection, statement, values=()):
    """How many rows of hers it changes."""
    with acting(connection, ALICE):
        return connection.execute(sql.SQL(statement), values or None).rowcount


@pytest.mark.parametrize(
    ("change", "values"),
    [pytest.param(change, values, id=f"{change} {how}") for change, values, how in BAD_ITEMS],
)
def test_an_item_that_python_could_not_read_is_refused(owner, change, values):
    refused(owner, f"UPDATE items SET {change} WHERE name = 'zqalphaopenx'", values)


@pytest.mark.parametrize(
    "change",
    [
        "attempt_count = 2147483647",
        "attempt_count = 1",
        "attempt_count = -1",
        "status = 'running'",
        "status = 'failed'",
        "next_attempt_ts = 'infinity'",
        "next_attempt_ts = now() + interval '1 hour'",
        "update_ts = 'infinity'",
        "last_error = repeat('x', 1000000)",
    ],
)
def test_a_task_that_is_not_newly_queued_is_refused(owner, change):
    """One that was tried as often as can be counted would end every worker."""
    refused(owner, f"UPDATE embedding_tasks SET {change}")


ALL_OF_HERS = " FROM items WHERE name = 'zqalphaopenx' AND kind = 'tool'"
TASK = (
    "INSERT INTO embedding_tasks"
    " (host_id, entity_type, entity_id, source_hash, source_text, fingerprint)"
    " SELECT namespace, kind, key, 'other', {}, (SELECT min(key) FROM fingerprints)"
) + ALL_OF_HERS
VERSION = (
    "INSERT INTO item_versions (namespace, item_key, version, manifest, content_hash, changelog)"
    " SELECT namespace, key, '2.0.0', %s, '', {}"
) + ALL_OF_HERS


def test_a_caller_queues_and_queues_anew(owner):
    assert done(owner, TASK.format("'a text'")) == 1
    again = (
        "status = 'pending', attempt_count = 0, next_attempt_ts = '-infinity', update_ts = now()"
    )
    assert done(owner, f"UPDATE embedding_tasks SET {again}") > 1
    refused(owner, TASK.format("repeat('x', 200000)"))


@pytest.mark.parametrize("how", UNREADABLE)
def test_a_manifest_or_definition_that_python_could_not_read_is_refused(owner, how):
    assert done(owner, VERSION.format("''"), ["{}"]) == 1
    refused(owner, VERSION.format("''"), [UNREADABLE[how]])
    refused(owner, VERSION.format("repeat('x', 21000000)"), ["{}"])
    with acting(owner, ALICE):
        owner.execute("DELETE FROM approved_definitions")
        add = "INSERT INTO approved_definitions SELECT key, namespace, %s" + ALL_OF_HERS
        assert owner.execute(add, ["{}"]).rowcount == 1
        owner.execute("DELETE FROM approved_definitions")
        with pytest.raises(errors.InsufficientPrivilege):
            owner.execute(add, [UNREADABLE[how]])


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../x", "a/../../x", "a\\b", "a/.."])
def test_a_path_that_leads_out_of_its_folder_is_refused(owner, path):
    add = (
        "INSERT INTO version_files (version_key, namespace, path, media_type, sha256, size_bytes)"
        " SELECT v.key, v.namespace, %s, 'text/plain', 'h', 0 FROM item_versions v"
        " JOIN items i ON i.key = v.item_key WHERE i.name = 'zqalphaopenx' AND i.kind = 'tool'"
    )
    assert done(owner, add, ["a..b/.c/x"]) == 1
    refused(owner, add, [path])


def nested(levels):
    return {"x": nested(levels - 1)} if levels else {"n": 10**200}


def test_whatever_the_gate_lets_through_is_written_and_changed_for_its_author(postgres_url):
    limits = Limits()
    deep = nested(limits.object_depth)
    item = make_item(
        "mine",
        source="",
        namespace="a",
        author="alice",
        description="d" * limits.description,
        body="b" * limits.body,
        signature=Signature(**SIGNED, state="unknown key", expires_at="2030-01-01T00:00:00Z"),
        deprecated=True,
        links=(Link("uses", "t" * limits.entry),) * 2,
        permissions=tuple(Permission(a, r) for a in Access for r in Resource),
        executor=deep,
        input_schema=deep | {"text": "é" * 990_000},
        output_schema=deep,
        version=Version("1.0.0", "h", deep),
        **dict.fromkeys(LISTS, ("",) * 2 + ("t" * limits.entry,) * 98),
    )
    target = make_embedder(MODEL, environ={}).fingerprint
    with (
        closing(PostgresStore(postgres_url)) as service,
        closing(PostgresStore(postgres_url, caller=ALICE)) as alice,
    ):
        service.tasks.adopt(target)
        assert alice.items.put([item], target, on_change=OnChange.WARN).added == 1
        changed = item._replace(description="other")
        assert alice.items.put([changed], target, on_change=OnChange.WARN).changed == 1
        [change] = alice.items.changed()
        assert change.approved["input_schema"] == item.input_schema
        assert alice.items.approve([change.entry], target) == 1
        assert alice.curation.describe(change.entry, "Mine.", "bob", target).override_by == "alice"
        assert not alice.curation.deactivate(change.entry, "bob", "too slow").active
        assert alice.curation.activate(change.entry, "bob", target).active
        assert {each.by for each in alice.curation.history(item.id)} == {"", "alice"}
        assert alice.curation.resolve_links() == 0
        assert service.check() == []


def test_whoever_sees_an_item_of_another_is_told_that_it_is_not_for_him_to_change(postgres_url):
    item = make_item("send", namespace="a", author="alice")
    with (
        closing(PostgresStore(postgres_url)) as service,
        closing(PostgresStore(postgres_url, caller=AMOS)) as amos,
    ):
        service.items.put([item], None)
        people = Curating(amos, lambda: None)
        assert people.chosen("send").item.id == item.id
        for decide in (
            lambda: people.describe("send", "Mine.", "alice"),
            lambda: people.reset("send", "alice"),
            lambda: people.deactivate("send", "alice"),
        ):
            with pytest.raises(ItemNotFound, match="not yours to change"):
                decide()
        assert service.curation.history(item.id) == []


# What the owner writes by hand, or an older release has let in.

ON_BOTH = {
    "links": '[{"relation": "uses"}]',
    "permissions": '[{"access": "all", "resource": "shell", "scope": "*"}]',
    "signature": '{"x": 1}',
    "executor": DEEP,
    "input_schema": f'{{"x": {DIGITS}}}',
    "output_schema": "[]",
}
ON_POSTGRES = ON_BOTH | {
    "updated_at": "infinity",
    "drift_at": "20000-01-01",
    "created_at": "0044-03-15 BC",
    "tags": "{NULL}",
    "imported_tags": "{NULL}",
    "tags_override_at": "infinity",
    "examples": "{{a},{b}}",
}
ON_SQLITE = ON_BOTH | {
    "tags": "[null]",
    "imported_tags": "[1]",
    "examples": '[["a"]]',
    "aliases": "{",
}


@pytest.fixture(params=sorted({*ON_POSTGRES, *ON_SQLITE}))
def spoiled(request, store):
    """A board with one row among others that cannot be read, and the column that is to blame."""
    values = ON_SQLITE if isinstance(store, SqliteStore) else ON_POSTGRES
    if request.param not in values:
        pytest.skip("this kind of store cannot hold it")
    store.items.put([make_item("send"), make_item("send_all")], None)
    value = values[request.param]
    if isinstance(store, SqliteStore):
        by_hand(
            store, f"UPDATE items SET {request.param} = :value WHERE name = 'send'", value=value
        )
    else:
        with psycopg.connect(store.database.url) as connection:
            change = f"UPDATE items SET {request.param} = %s WHERE name = 'send'"
            connection.execute(change, [value])
    return store


def test_a_search_leaves_out_what_it_cannot_read_and_the_log_names_it(spoiled, caplog):
    with caplog.at_level(logging.WARNING):
        answer = find(spoiled, None, Ask("send", explain=True), FindSettings())
    assert [hit.name for hit in answer.hits] == ["send_all"]
    assert "'mcptools:mail:send' cannot be read" in caplog.text
    assert "'mcptools:mail:send_all'" not in caplog.text


def test_what_cannot_be_read_is_told_with_its_id_wherever_else_it_is_asked_for(spoiled):
    for ask in (
        lambda: spoiled.items.page(0, 10),
        lambda: spoiled.items.get("mcptools:mail:send", "public"),
        lambda: spoiled.items.named("send"),
    ):
        with pytest.raises(BoardCorrupt, match="'mcptools:mail:send' cannot be read"):
            ask()
    assert [
        said for said in spoiled.check() if said.startswith("mcptools:mail:send cannot be read")
    ]
