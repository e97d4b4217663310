"""A replica, as docs/explanation/scale.md has it; and that a table can be spread by its tenant."""

from types import SimpleNamespace

import psycopg
import pytest

import replica
from pegboard.store.postgres import memory
from pegboard.store.postgres.listening import CHANGES, Listening
from pegboard.store.postgres.memory import ON_A_STANDBY, STALE_AFTER, Memory
from waiting import until

pytestmark = pytest.mark.server

TENANT = {"namespace", "host_id"}
SAME_ON_EVERY_SHARD = {
    "board",
    "board_tokens",
    "fingerprints",
    "logins",
    "model_choice",
    "models",
    "pegboard_migrations",
}
"""Small tables of no tenant: reference tables, as Citus calls them."""

UNIQUE = """
SELECT t.relname, i.relname, array_agg(a.attname::text)
FROM pg_index x JOIN pg_class t ON t.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid
JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = ANY (x.indkey[0:x.indnkeyatts - 1])
WHERE x.indisunique AND t.relnamespace = current_schema()::regnamespace AND t.relkind IN ('r', 'p')
GROUP BY 1, 2
"""
WITHOUT_PRIMARY_KEY = """
SELECT t.relname FROM pg_class t
WHERE t.relnamespace = current_schema()::regnamespace AND t.relkind IN ('r', 'p')
  AND NOT EXISTS (SELECT FROM pg_index x WHERE x.indrelid = t.oid AND x.indisprimary)
"""
FOREIGN = """
SELECT c.conrelid::regclass::text, c.confrelid::regclass::text,
  ARRAY(SELECT a.attname::text FROM unnest(c.conkey) k JOIN pg_attribute a
    ON a.attrelid = c.conrelid AND a.attnum = k),
  ARRAY(SELECT a.attname::text FROM unnest(c.confkey) k JOIN pg_attribute a
    ON a.attrelid = c.confrelid AND a.attnum = k)
FROM pg_constraint c WHERE c.contype = 'f' AND c.connamespace = current_schema()::regnamespace
"""


@pytest.fixture(scope="module")
def pair():
    with replica.replicated() as made:
        yield made


@pytest.fixture
def on_a_standby(pair):
    listening = Listening(pair.replica.url())

    def known() -> bool:
        listening.count(CHANGES)
        return listening.standby

    until(known, "that it is a standby")
    yield listening
    listening.close()


def test_a_standby_has_no_news_and_nobody_complains(on_a_standby, caplog):
    assert on_a_standby.standby
    assert on_a_standby.deaf
    assert not caplog.records


def test_what_is_read_from_a_standby_is_remembered_for_less_than_a_second(
    on_a_standby, monkeypatch
):
    kept, now = Memory(on_a_standby), [1000.0]
    monkeypatch.setattr(memory, "time", SimpleNamespace(monotonic=lambda: now[0]))
    assert kept.recall("answer", lambda: "old") == "old"
    now[0] += ON_A_STANDBY / 2
    assert kept.recall("answer", lambda: "new") == "old"
    now[0] += ON_A_STANDBY
    assert kept.recall("answer", lambda: "new") == "new"
    assert ON_A_STANDBY < STALE_AFTER <= 1.0


*STAYING, LAST = replica.PROOFS
"""The last one stops the primary and puts the replica in its place."""


@pytest.mark.parametrize("proof", STAYING, ids=lambda proof: proof.__name__)
def test_a_replica_is_what_the_document_says(pair, proof):
    assert proof(pair)


def test_a_replica_takes_over_as_the_document_says():
    assert LAST is replica.takes_over
    with replica.replicated(items=60) as pair:
        assert LAST(pair)


@pytest.fixture
def catalogue(postgres_url):
    with psycopg.connect(postgres_url) as connection:
        yield connection


def test_the_tenant_is_part_of_every_primary_key_and_of_whatever_is_unique(catalogue):
    found = catalogue.execute(UNIQUE).fetchall()
    assert not catalogue.execute(WITHOUT_PRIMARY_KEY).fetchall()
    without = {table for table, _, columns in found if not TENANT & set(columns)}
    assert without == SAME_ON_EVERY_SHARD
    assert {table for table, *_ in found} > without | {"items", "vectors", "tool_vectors"}


def test_what_refers_to_a_row_of_a_tenant_names_the_tenant(catalogue):
    found = catalogue.execute(FOREIGN).fetchall()
    assert found
    for table, target, columns, targets in found:
        assert target in SAME_ON_EVERY_SHARD or (TENANT & set(columns) and TENANT & set(targets)), (
            f"{table} refers to {target} by {columns}"
        )
        assert table not in SAME_ON_EVERY_SHARD or target in SAME_ON_EVERY_SHARD
