"""A database that was upgraded step by step is the one that is made today."""

import threading

import psycopg
import pytest

from pegboard.errors import BoardError, BoardMissing
from pegboard.store.postgres.inspecting import inspect
from pegboard.store.postgres.opening import upgrade
from pegboard.store.postgres.store import PostgresStore
from pegboard.store.queries import migrations
from postgres_server import fresh

HERE = """n.nspname = 'public' AND NOT EXISTS
    (SELECT 1 FROM pg_depend d WHERE d.objid = {oid} AND d.deptype = 'e')"""

CATALOGUE = {
    "relations": f"""SELECT c.relname, c.relkind, c.relrowsecurity, c.relforcerowsecurity,
        c.reloptions::text, c.relacl::text, pg_get_expr(c.relpartbound, c.oid)
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE {HERE.format(oid="c.oid")}""",
    "columns": f"""SELECT c.relname, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod),
        a.attnotnull, a.attidentity, a.attgenerated, a.attcollation::regcollation::text,
        a.attacl::text, pg_get_expr(e.adbin, e.adrelid)
        FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        JOIN pg_namespace n ON n.oid = c.relnamespace
        LEFT JOIN pg_attrdef e ON e.adrelid = a.attrelid AND e.adnum = a.attnum
        WHERE a.attnum > 0 AND NOT a.attisdropped AND {HERE.format(oid="c.oid")}""",
    "constraints": """SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid)
        FROM pg_constraint WHERE connamespace = 'public'::regnamespace""",
    "indexes": "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'",
    "policies": "SELECT * FROM pg_policies",
    "views": "SELECT viewname, definition FROM pg_views WHERE schemaname = 'public'",
    "functions": f"""SELECT p.oid::regprocedure::text, pg_get_functiondef(p.oid), p.proacl::text
        FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
        WHERE p.prokind = 'f' AND {HERE.format(oid="p.oid")}""",
    "triggers": """SELECT tgrelid::regclass::text, pg_get_triggerdef(oid) FROM pg_trigger
        WHERE NOT tgisinternal""",
    "schema": "SELECT nspacl::text FROM pg_namespace WHERE nspname = 'public'",
}


def catalogue(url):
    with psycopg.connect(url) as connection:
        return {
            name: sorted(connection.execute(query).fetchall(), key=str)
            for name, query in CATALOGUE.items()
        }


def test_a_database_that_was_upgraded_step_by_step_is_like_a_new_one(
    empty_database, postgres_server
):
    for number, name, _ in migrations("postgres"):
        assert upgrade(empty_database, "here", through=number) == [name]
    with fresh(postgres_server, "template0") as new:
        upgrade(new, "here")
        stepwise, at_once = catalogue(empty_database), catalogue(new)
    for part, found in at_once.items():
        assert stepwise[part] == found, part
        assert found, f"{part} compares nothing"


def test_an_upgrade_of_what_is_up_to_date_changes_nothing(postgres_url):
    before = catalogue(postgres_url)
    assert upgrade(postgres_url, "here") == []
    assert catalogue(postgres_url) == before


def test_two_who_upgrade_at_once_apply_everything_once(empty_database):
    applied, start = [], threading.Barrier(4)

    def work():
        start.wait(30)
        applied.extend(upgrade(empty_database, "here"))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert applied == [name for _, name, _ in migrations("postgres")]


def test_a_board_that_is_behind_is_not_opened_but_says_what_to_do(empty_database):
    with pytest.raises(BoardMissing):
        PostgresStore(empty_database)
    upgrade(empty_database, "here", through=1)
    with pytest.raises(BoardError) as behind:
        PostgresStore(empty_database)
    assert "pegboard db upgrade" in str(behind.value)


def test_a_migration_that_fails_leaves_nothing_behind(empty_database):
    with psycopg.connect(empty_database) as connection:
        connection.execute("CREATE TABLE directives (id uuid)")
    with pytest.raises(BoardError):
        upgrade(empty_database, "here")
    assert inspect(empty_database, "here").schema == 0
    with psycopg.connect(empty_database) as connection:
        found = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        assert found.fetchall() == [("directives",)]
