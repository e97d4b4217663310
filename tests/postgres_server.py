"""A PostgreSQL for the whole test run, and a fresh database from a template for each test."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from pegboard.store.postgres.opening import upgrade
from pegboard.store.postgres.store import PostgresStore
from trial_postgres import SMALL, TrialPostgres

GIVEN = os.environ.get("PEGBOARD_TEST_POSTGRES", "")
"""The address of a server to use instead of starting one.

Read before tests tidy the environment."""


class Server:
    """Where databases for tests are made."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.prefix = f"pegboard_test_{secrets.token_hex(4)}"
        self.template = ""
        self._connection: psycopg.Connection | None = None

    def address(self, database: str, user: str | None = None) -> str:
        """The address as a URL, for whoever takes nothing else."""
        said = psycopg.conninfo.conninfo_to_dict(self.url) | {"dbname": database}
        if user is not None:
            said["user"] = user
            said.pop("password", None)
        return "postgresql:///?" + "&".join(f"{k}={_quoted(v)}" for k, v in said.items())

    def make(self, template: str = "template0") -> str:
        name = f"{self.prefix}_{secrets.token_hex(4)}"
        # Copied as files: to write each page to the log as well costs twice as much.
        self._run("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy", name, template)
        return name

    def drop(self, name: str) -> None:
        self._run("DROP DATABASE IF EXISTS {} WITH (FORCE)", name)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def _run(self, statement: str, *names: str) -> None:
        said = sql.SQL(statement).format(*map(sql.Identifier, names))
        try:
            self._connected().execute(said)
        except psycopg.OperationalError:  # a test may have ended every session
            self.close()
            self._connected().execute(said)

    def _connected(self) -> psycopg.Connection:
        """One connection for all tests: to make one costs about as much as to drop a database."""
        if self._connection is None or self._connection.closed:
            self._connection = psycopg.connect(make_conninfo(self.url), autocommit=True)
        return self._connection


def _quoted(value: object) -> str:
    from urllib.parse import quote

    return quote(str(value), safe="")


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    if GIVEN:
        yield from _serving(Server(GIVEN))
        return
    trial = TrialPostgres(SMALL, in_memory=True)
    try:
        trial.create()
        trial.start()
        yield from _serving(Server(trial.url()))
    finally:
        trial.remove()


def _serving(server: Server) -> Iterator[Server]:
    server.template = server.make()
    try:
        address = server.address(server.template)
        upgrade(address, address)
        yield server
    finally:
        server.drop(server.template)
        server.close()


@pytest.fixture
def empty_database(postgres_server: Server) -> Iterator[str]:
    """The address of a database in which there is no board yet."""
    with fresh(postgres_server, "template0") as url:
        yield url


@pytest.fixture
def postgres_url(postgres_server: Server) -> Iterator[str]:
    """The address of a database with an empty board."""
    with fresh(postgres_server, postgres_server.template) as url:
        yield url


@pytest.fixture
def postgres_store(postgres_url: str) -> Iterator[PostgresStore]:
    made = PostgresStore(postgres_url)
    yield made
    made.close()


@contextmanager
def fresh(server: Server, template: str) -> Iterator[str]:
    name = server.make(template)
    try:
        yield server.address(name)
    finally:
        server.drop(name)
