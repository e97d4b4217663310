"""A board with two tenants, and people who try what they may not."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import psycopg
from psycopg import sql

from making import OTHER_MODEL, make_file, make_item, work
from pegboard.embed.choose import make_embedder
from pegboard.model.calls import Caller, OnChange, ServerConfig, Transport
from pegboard.model.content import Link, Version
from pegboard.model.items import (
    Item,
    ItemId,
    Kind,
    Model,
    ModelSpec,
    Rejection,
    ToolType,
    Visibility,
)
from pegboard.store.postgres.store import PostgresStore

Row = tuple[Any, ...]

ANON = Caller()
STRANGER = Caller("eve")
ALICE = Caller("alice", ("a",))
AMOS = Caller("amos", ("a",))
BOB = Caller("bob", ("b",))
CAROL = Caller("carol")
PEOPLE = {
    "anon": ANON,
    "stranger": STRANGER,
    "alice": ALICE,
    "amos": AMOS,
    "bob": BOB,
    "carol": CAROL,
}
"""Alice and Amos share namespace `a`, Bob has `b`, Carol wrote something in `public`."""


class Hung(NamedTuple):
    """An item of the board; its name is in everything that belongs to it and in nothing else."""

    name: str
    namespace: str
    visibility: str
    author: str


HUNG = (
    Hung("zqpubopenx", "public", "public", ""),
    Hung("zqpubunlistedx", "public", "unlisted", "carol"),
    Hung("zqpubprivatex", "public", "private", "carol"),
    Hung("zqalphaopenx", "a", "public", "alice"),
    Hung("zqalphaunlistedx", "a", "unlisted", "alice"),
    Hung("zqalphaprivatex", "a", "private", "alice"),
    Hung("zqamosopenx", "a", "public", "amos"),
    Hung("zqamosprivatex", "a", "private", "amos"),
    Hung("zqbravoopenx", "b", "public", "bob"),
    Hung("zqbravounlistedx", "b", "unlisted", "bob"),
    Hung("zqbravoprivatex", "b", "private", "bob"),
)
NAMES = frozenset(each.name for each in HUNG)


def seen_by(caller: Caller) -> frozenset[str]:
    """Names of the items that this caller may read."""
    return frozenset(
        each.name
        for each in HUNG
        if (each.visibility == "public" and each.namespace in ("public", *caller.namespaces))
        or (each.visibility == "unlisted" and each.namespace in caller.namespaces)
        or (caller.subject and each.author == caller.subject)
    )


MODEL = ModelSpec("test")
KINDS = ("tool", "directive", "skill", "knowledge")
MORE = """
INSERT INTO embedding_tasks (host_id, entity_type, entity_id, source_hash, source_text, fingerprint)
SELECT namespace, kind, key, source_hash, name, (SELECT min(key) FROM fingerprints) FROM items;
INSERT INTO knowledge_relationships (namespace, from_zettel_id, to_zettel_id, relationship_type)
SELECT namespace, id, id, 'itself' FROM items WHERE kind = 'knowledge';
INSERT INTO kiwi_nulls (item_key, namespace, columns) SELECT key, namespace, ARRAY[name] FROM items;
INSERT INTO item_runs (namespace, uid, item_key, item_id, version, at, outcome, seconds, who)
SELECT namespace, gen_random_uuid(), key, id, '1.0.0', now(), 'ok', 1, who
FROM items, unnest(ARRAY['alice', 'bob', 'cli']) AS each (who);
INSERT INTO board_tokens (id, name, role, namespaces, digest, created_at)
SELECT DISTINCT md5(name), name, 'reader', ARRAY[namespace], sha256(name::bytea), now() FROM items;
INSERT INTO audit_log (who, action, namespace, item_id)
SELECT author, 'publish', namespace, id FROM items;
"""
"""For each item what is not written otherwise: a task for another model, runs, and so on."""


def items_of(hung: Hung, **fields: object) -> list[Item]:
    """One of each kind."""
    version = Version(
        "1.0.0",
        f"content of {hung.name}",
        {"name": hung.name},
        changelog=hung.name,
        files=(make_file("main.py", hung.name.encode()),),
    )
    said = {
        "category": hung.name,
        "description": f"{hung.name} does {hung.name}",
        "tags": (hung.name,),
        "source": f"from_{hung.namespace}",
        "namespace": hung.namespace,
        "visibility": Visibility(hung.visibility),
        "author": hung.author,
        "version": version,
        "links": (Link("related", hung.name),),
    }
    return [
        make_item(
            hung.name,
            id=ItemId(f"{kind}:mail:{hung.name}"),
            kind=Kind(kind),
            tool_type=ToolType.PYTHON if kind == "tool" else None,
            **(said | fields),
        )
        for kind in KINDS
    ]


def fill(url: str) -> None:
    """Everything that can belong to an item or a namespace, for each of them."""
    store, embedder = PostgresStore(url), make_embedder(MODEL, environ={})
    for fingerprint in (OTHER_MODEL, embedder.fingerprint):
        store.tasks.adopt(fingerprint)
    store.models.want(Model(embedder.fingerprint, MODEL), chosen=False)
    for namespace in ("public", "a", "b"):
        source = f"from_{namespace}"
        config = ServerConfig(source, Transport.STDIO, command=source, namespace=namespace)
        store.ledger.put_server(config, f"{source} is here")
        store.ledger.reject([Rejection(source, f"{source}/bad", "h", "bad", f"not of {source}")])
    for verb in ("does", "did"):  # changed, so that what was approved is kept
        items = [
            item
            for each in HUNG
            for item in items_of(each, description=f"{each.name} {verb} {each.name}")
        ]
        store.items.put(items, embedder.fingerprint, on_change=OnChange.WARN)
    work(store, embedder)
    store.items.take_census()
    store.close()
    with psycopg.connect(url) as connection:
        connection.execute(MORE)


@contextmanager
def acting(connection: psycopg.Connection[Row], caller: Caller) -> Iterator[None]:
    """As Supabase does it; whatever is done inside is undone."""
    role = "authenticated" if caller.subject else "anon"
    claims = {"sub": caller.subject, "app_metadata": {"namespaces": caller.namespaces}}
    with connection.transaction(force_rollback=True):
        connection.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(role)))
        connection.execute(
            "SELECT set_config('request.jwt.claims', %s, true)", [json.dumps(claims)]
        )
        yield


def relations(connection: psycopg.Connection[Row], kinds: str) -> list[str]:
    """Names of what the board's schema has: r is a table, p one with partitions, v a view."""
    rows = connection.execute(
        "SELECT relname FROM pg_class WHERE relkind = ANY(%s)"
        " AND relnamespace = current_schema()::regnamespace ORDER BY 1",
        [list(kinds)],
    )
    return [name for (name,) in rows]


class Traces(NamedTuple):
    """Texts by which an item can be known."""

    name: str
    texts: tuple[str, ...]


def traces(connection: psycopg.Connection[Row]) -> list[Traces]:
    """Name, the same as the digits of a file's content, and the numbers of all kinds of each."""
    rows = connection.execute("SELECT name, uid::text, key FROM items").fetchall()
    return [
        Traces(name, (name, name.encode().hex(), uid, f'"item_key":{key},', f'"entity_id":{key},'))
        for name, uid, key in rows
    ]


def told(
    connection: psycopg.Connection[Row], relation: str, known: Sequence[Traces]
) -> frozenset[str]:
    """Names of the items of which anything is told in this table or view."""
    [(allowed,)] = connection.execute("SELECT has_table_privilege(%s, 'SELECT')", [relation])
    if not allowed:
        return frozenset()
    query = sql.SQL("SELECT to_json(t)::text FROM {} AS t").format(sql.Identifier(relation))
    return named_in("".join(text for (text,) in connection.execute(query)), known)


def named_in(text: str, known: Sequence[Traces]) -> frozenset[str]:
    return frozenset(each.name for each in known if any(trace in text for trace in each.texts))
