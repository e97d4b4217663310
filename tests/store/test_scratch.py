"""A database for a while: who may have one, and what whoever may not is told."""

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg
import pytest
from click.testing import CliRunner
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from pegboard.cli.main import cli
from pegboard.errors import BoardReadOnly
from pegboard.store.postgres.scratch import scratch_beside
from pegboard.store.postgres.store import PostgresStore
from postgres_server import Server


@pytest.fixture
def owner(postgres_server) -> Iterator[Callable[[str], str]]:
    """Makes a user with these attributes; gives the address of a database of theirs."""
    role, database = f"owner_{secrets.token_hex(4)}", ""

    def made(attributes: str) -> str:
        nonlocal database
        run(postgres_server, f"CREATE ROLE {{}} LOGIN {attributes}", role)
        run(postgres_server, "GRANT anon, authenticated TO {} WITH INHERIT FALSE", role)
        database = postgres_server.make()
        run(postgres_server, "ALTER DATABASE {} OWNER TO {}", database, role)
        return postgres_server.address(database, role)

    yield made
    postgres_server.drop(database)
    run(postgres_server, "DROP ROLE {}", role)


def run(server: Server, statement: str, *names: str, database: str = "") -> None:
    address = server.address(database) if database else server.url
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


def scratches(server: Server, address: str) -> list[str]:
    """The databases of this user, but for the one at the address."""
    said = conninfo_to_dict(address)
    with psycopg.connect(server.url) as connection:
        found = connection.execute(
            "SELECT datname FROM pg_database"
            " WHERE pg_get_userbyid(datdba) = %(user)s AND datname <> %(dbname)s",
            said,
        )
        return [row[0] for row in found.fetchall()]


@contextmanager
def vector_in_template1(server: Server) -> Iterator[None]:
    run(server, "CREATE EXTENSION vector", database="template1")
    try:
        yield
    finally:
        run(server, "DROP EXTENSION vector", database="template1")


def test_an_owner_with_the_right_and_the_extension_has_a_board_for_a_while(postgres_server, owner):
    address = owner("CREATEDB")
    with vector_in_template1(postgres_server), scratch_beside(address) as made:
        store = PostgresStore(made, create=True)
        assert store.items.page(0, 1) == []
        store.close()
        assert len(scratches(postgres_server, address)) == 1
    assert scratches(postgres_server, address) == []


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        ("NOCREATEDB", "permission denied to create database"),
        ("CREATEDB", 'permission denied to create extension "vector"'),
    ],
)
def test_an_owner_who_may_not_is_told_what_an_administrator_has_to_run(
    postgres_server, owner, attributes, reason
):
    address = owner(attributes)
    with pytest.raises(BoardReadOnly, match=reason) as refused, scratch_beside(address):
        raise AssertionError("there is none")
    role = conninfo_to_dict(address)["user"]
    assert f'ALTER ROLE "{role}" CREATEDB' in refused.value.hint
    assert "template1: CREATE EXTENSION vector" in refused.value.hint
    assert "trusted extension" in refused.value.hint
    assert scratches(postgres_server, address) == []


def test_eval_says_so_too(owner, tmp_path):
    ran = CliRunner().invoke(
        cli, ["eval", str(tmp_path), "--store", "postgres", "--board", owner("NOCREATEDB")]
    )
    assert isinstance(ran.exception, BoardReadOnly)
    assert "permission denied to create database" in ran.exception.message
    assert "CREATEDB" in ran.exception.hint
