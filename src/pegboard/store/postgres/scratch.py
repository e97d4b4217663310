"""A database for a while."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from pegboard.store.postgres.opening import conninfo
from pegboard.store.postgres.telling import shown, told

CREATE = sql.SQL("CREATE DATABASE {} TEMPLATE template0")
DROP = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)")


@contextmanager
def scratch_beside(address: str) -> Iterator[str]:
    """The address of a new, empty database on the same server, which is gone afterwards."""
    name = f"pegboard_scratch_{secrets.token_hex(6)}"
    _run(address, CREATE, name)
    try:
        yield with_database(address, name)
    finally:
        _run(address, DROP, name)


def with_database(address: str, name: str) -> str:
    """The same server's address, for another database."""
    said = conninfo_to_dict(address) | {"dbname": name}
    return "postgresql:///?" + "&".join(
        f"{key}={quote(str(v), safe='')}" for key, v in said.items()
    )


def _run(address: str, statement: sql.SQL, name: str) -> None:
    with told(shown(address)), psycopg.connect(conninfo(address), autocommit=True) as connection:
        connection.execute(statement.format(sql.Identifier(name)))
