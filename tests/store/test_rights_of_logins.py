"""Who somebody is: what a login says of itself, what it may not, and how the roles come to be."""

import json
import secrets
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import psycopg
import pytest
from psycopg import errors, sql
from rights_parts import ALICE, BOB, HUNG, acting, seen_by

from pegboard.errors import BoardReadOnly
from pegboard.store.postgres.opening import upgrade
from pegboard.store.postgres.store import PostgresStore
from pegboard.store.queries import migrations
from trial_postgres import SMALL, TrialPostgres

NAMES = "SELECT DISTINCT name FROM items"
ROLES = ("anon", "authenticated", "service_role")


def claims(subject, *namespaces):
    return json.dumps({"sub": subject, "app_metadata": {"namespaces": namespaces}})


def seen(connection, said=None):
    """What is seen by a caller who says this of himself."""
    if said is not None:
        connection.execute("SELECT set_config('request.jwt.claims', %s, false)", [said])
    return {name for (name,) in connection.execute(NAMES)}


@pytest.fixture
def owner(tenants):
    with psycopg.connect(tenants, autocommit=True) as connection:
        yield connection


@pytest.fixture
def login(postgres_server, tenants, owner):
    """Makes connections of new logins that have these roles."""
    made = []
    database = owner.info.dbname

    def make(*roles, inherit=True):
        name, password = f"login_{secrets.token_hex(4)}", secrets.token_hex(8)
        statement = "CREATE ROLE {} LOGIN INHERIT PASSWORD {}"
        statement = statement if inherit else statement.replace("INHERIT", "NOINHERIT")
        owner.execute(sql.SQL(statement).format(sql.Identifier(name), sql.Literal(password)))
        for role in roles:
            owner.execute(
                sql.SQL("GRANT {} TO {}").format(sql.Identifier(role), sql.Identifier(name))
            )
        address = f"{postgres_server.address(database, name)}&password={password}"
        connection = psycopg.connect(address, autocommit=True)
        made.append((name, connection))
        return name, connection

    yield make
    for name, connection in made:
        connection.close()
        owner.execute("DELETE FROM logins WHERE login = %s", [name])
        owner.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(name)))


# Logins of tenants.


def test_a_login_is_who_the_board_says_it_is(owner, login):
    name, connection = login("authenticated")
    assert seen(connection) == seen_by(ALICE._replace(subject="", namespaces=()))
    owner.execute("INSERT INTO logins VALUES (%s, 'alice', '{a}')", [name])
    assert seen(connection) == seen_by(ALICE)


def test_a_login_cannot_say_that_it_is_somebody_else(owner, login):
    name, connection = login("authenticated")
    owner.execute("INSERT INTO logins VALUES (%s, 'bob', '{b}')", [name])
    connection.execute("SET request.jwt.claim.sub = 'alice'")
    for said in (claims("alice", "a", "b"), claims("alice", "a"), "", "{"):
        assert seen(connection, said) == seen_by(BOB)
    connection.execute("SET ROLE authenticated")
    assert seen(connection, claims("alice", "a")) == seen_by(BOB)
    for role in ("service_role", owner.info.user):
        for statement in ("SET ROLE {}", "SET SESSION AUTHORIZATION {}"):
            with pytest.raises(errors.InsufficientPrivilege):
                connection.execute(sql.SQL(statement).format(sql.Identifier(role)))


def test_a_login_sees_no_other_login(owner, login):
    (name, connection), (other, _) = login("authenticated"), login("authenticated")
    for each in (name, other):
        owner.execute("INSERT INTO logins VALUES (%s, 'bob', '{b}')", [each])
    assert connection.execute("SELECT login FROM logins").fetchall() == [(name,)]
    with pytest.raises(errors.InsufficientPrivilege):
        connection.execute("UPDATE logins SET subject = 'alice'")


def test_a_table_of_ones_own_is_not_taken_for_that_of_the_logins(login):
    name, connection = login("authenticated")
    with connection.transaction(force_rollback=True):
        connection.execute("CREATE TEMP TABLE logins (login name, subject text, namespaces text[])")
        connection.execute("INSERT INTO logins VALUES (%s, 'alice', '{a}')", [name])
        connection.execute("SET LOCAL search_path = pg_temp, public")
        found = connection.execute("SELECT DISTINCT name FROM public.items").fetchall()
    assert found == [("zqpubopenx",)]


def test_a_login_without_a_role_has_no_right(login):
    _, connection = login()
    with pytest.raises(errors.InsufficientPrivilege):
        seen(connection, claims("alice", "a"))
    with pytest.raises(errors.InsufficientPrivilege):
        connection.execute("SELECT caller_claims()")


def test_a_login_of_the_service_sees_and_writes_everything(login):
    _, connection = login("service_role")
    assert seen(connection) == {each.name for each in HUNG}
    with connection.transaction(force_rollback=True):
        assert connection.execute("UPDATE items SET name = 'x'").rowcount > 0
        connection.execute("INSERT INTO logins VALUES ('somebody', 'x')")
        connection.execute("DELETE FROM sources")


def test_the_login_of_a_gateway_acts_for_others(login):
    """As Supabase's `authenticator`: it has nothing by itself, and may put on each of the roles."""
    _, connection = login(*ROLES, inherit=False)
    with pytest.raises(errors.InsufficientPrivilege):
        seen(connection)
    with acting(connection, ALICE):
        assert seen(connection) == seen_by(ALICE)
    with acting(connection, BOB):
        assert seen(connection) == seen_by(BOB)
    with connection.transaction():
        connection.execute("SET LOCAL ROLE service_role")
        assert seen(connection) == {each.name for each in HUNG}


def test_a_store_that_is_opened_by_a_login_has_its_rights(postgres_server, tenants, owner, login):
    name, connection = login("authenticated")
    owner.execute("INSERT INTO logins VALUES (%s, 'bob', '{b}')", [name])
    address = postgres_server.address(connection.info.dbname, name)
    store = PostgresStore(f"{address}&password={connection.info.password}")
    assert {entry.item.name for entry in store.items.page(0, 100)} == seen_by(BOB)
    store.close()


# What is said.


@pytest.mark.parametrize(
    "said",
    [
        "",
        "{",
        "null",
        "[]",
        "alice",
        '"alice"',
        '{"sub": "\\u0000"}',
        '{"sub": ["alice"]}',
        '{"sub": 5, "app_metadata": 5}',
        '{"sub": "", "app_metadata": {"namespaces": "a"}}',
        '{"sub": null, "app_metadata": {"namespaces": {"a": 1}}}',
        '{"app_metadata": {"namespaces": [1, null, ["a"], {"a": 1}]}}',
        '{"namespaces": ["a"], "user_metadata": {"namespaces": ["a"]}}',
    ],
)
def test_claims_that_make_no_sense_are_those_of_nobody(owner, said):
    with acting(owner, ALICE):
        owner.execute("SELECT set_config('request.jwt.claims', %s, true)", [said])
        assert {name for (name,) in owner.execute(NAMES)} == {"zqpubopenx"}
        with pytest.raises(errors.InsufficientPrivilege), owner.transaction():
            owner.execute("INSERT INTO items (namespace, id, author) VALUES ('a', 'x', '')")


def test_an_identity_ends_with_its_transaction(owner):
    with owner.transaction():
        owner.execute("SET LOCAL ROLE authenticated")
        owner.execute("SELECT set_config('request.jwt.claims', %s, true)", [claims("bob", "b")])
    with owner.transaction():
        owner.execute("SET LOCAL ROLE authenticated")
        assert seen(owner) == {"zqpubopenx"}


# How the roles come to be. A server of its own: they are the server's, not a database's.


@contextmanager
def started():
    trial = TrialPostgres(SMALL, in_memory=True)
    try:
        trial.create()
        trial.start()
        yield trial
    finally:
        trial.remove()


@pytest.fixture(scope="module")
def server():
    """One that has had a board, and so the roles."""
    with started() as trial:
        upgrade(trial.url(), trial.url())
        yield trial


@pytest.fixture
def run(server):
    with runner(server) as run:
        yield run


@contextmanager
def runner(server):
    with psycopg.connect(server.url(), autocommit=True) as connection:
        yield lambda statement: connection.execute(statement).fetchall


def owned(server, run, name, owner):
    """The address of a new database for somebody who is no superuser."""
    run(f"CREATE DATABASE {name} OWNER {owner}")
    with psycopg.connect(server.url(name), autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector")
    return server.url(name, owner)


@pytest.fixture
def untouched():
    """A server that has none of the roles yet."""
    with started() as server, runner(server) as run:
        yield server, run


def test_roles_are_made_once_and_by_a_user_who_may(untouched):
    server, run = untouched
    run("CREATE ROLE plain LOGIN")
    address = owned(server, run, "of_plain", "plain")
    with pytest.raises(BoardReadOnly) as told:
        upgrade(address, address)
    assert "the role anon is missing, and plain may not make it" in str(told.value)
    assert "CREATE ROLE anon NOLOGIN" in str(told.value)

    run("CREATE ROLE maker LOGIN CREATEROLE")
    together = [owned(server, run, f"race_{n}", "maker") for n in range(4)]
    with ThreadPoolExecutor(len(together)) as pool:
        done = list(pool.map(lambda url: upgrade(url, url), together))
    assert all("0002_rights" in applied for applied in done)
    store = PostgresStore(together[0], caller=ALICE)  # whoever made the roles can put them on
    assert store.items.page(0, 10) == []
    store.close()

    assert "0002_rights" in upgrade(address, address)  # they are there now: nothing to make
    store = PostgresStore(address, caller=ALICE)
    with pytest.raises(BoardReadOnly):
        store.items.page(0, 10)
    store.close()


def test_the_migration_can_be_run_again(server, run):
    run("CREATE DATABASE twice")
    url = server.url("twice")
    upgrade(url, url)
    rights = [text for _, name, text in migrations("postgres") if "rights" in name]
    dump = "SELECT polname, polrelid::regclass::text, pg_get_expr(polqual, polrelid) FROM pg_policy"
    with psycopg.connect(url, autocommit=True) as connection:
        before = connection.execute(f"{dump} ORDER BY 1, 2").fetchall()
        for text in rights:
            connection.execute(text.encode())
        assert connection.execute(f"{dump} ORDER BY 1, 2").fetchall() == before


def test_a_server_that_gives_everything_to_everybody_is_brought_in_order(server, run):
    """Supabase's default privileges."""
    run("CREATE DATABASE generous")
    url = server.url("generous")
    with psycopg.connect(url, autocommit=True) as connection:
        for kind in ("TABLES", "SEQUENCES", "FUNCTIONS"):
            connection.execute(
                f"ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT ALL ON {kind} TO"
                " anon, authenticated, service_role"
            )
        upgrade(url, url)
        granted = connection.execute(
            "SELECT c.relname, r.rolname FROM pg_class c CROSS JOIN pg_roles r"
            " WHERE c.relnamespace = 'public'::regnamespace"
            " AND r.rolname IN ('anon', 'authenticated') AND CASE"
            "   WHEN c.relkind IN ('r', 'p', 'v')"
            "   THEN has_table_privilege(r.oid, c.oid, 'UPDATE, TRUNCATE, REFERENCES, TRIGGER')"
            "   WHEN c.relkind = 'S'"
            "   THEN has_sequence_privilege(r.oid, c.oid, 'USAGE, SELECT, UPDATE') END"
        ).fetchall()
        assert granted == []
