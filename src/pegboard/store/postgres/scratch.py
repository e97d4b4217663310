"""A database for a while."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote

import psycopg
from psycopg import errors, sql
from psycopg.conninfo import conninfo_to_dict

from pegboard.errors import BoardReadOnly
from pegboard.store.postgres.opening import conninfo
from pegboard.store.postgres.telling import one_line, shown, told

CREATE = sql.SQL("CREATE DATABASE {} TEMPLATE template1")
"""Where an administrator can put pgvector, for those who may not switch it on."""
DROP = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)")
SWITCH_ON = sql.SQL("CREATE EXTENSION IF NOT EXISTS vector")
HINT = (
    "let an administrator run: ALTER ROLE {role} CREATEDB; and, unless vector is a trusted "
    "extension there, in the database template1: CREATE EXTENSION vector"
)


@contextmanager
def scratch_beside(address: str) -> Iterator[str]:
    """The address of a new, empty database on the same server, which is gone afterwards."""
    name = f"pegboard_scratch_{secrets.token_hex(6)}"
    _run(address, CREATE.format(sql.Identifier(name)))
    try:
        made = with_database(address, name)
        _run(made, SWITCH_ON)
        yield made
    finally:
        _run(address, DROP.format(sql.Identifier(name)))


def with_database(address: str, name: str) -> str:
    """The same server's address, for another database."""
    said = conninfo_to_dict(address) | {"dbname": name}
    return "postgresql:///?" + "&".join(
        f"{key}={quote(str(v), safe='')}" for key, v in said.items()
    )


def _run(address: str, statement: sql.SQL | sql.Composed) -> None:
    place = shown(address)
    with told(place), psycopg.connect(conninfo(address), autocommit=True) as connection:
        try:
            connection.execute(statement)
        except errors.InsufficientPrivilege as error:
            role = sql.Identifier(connection.info.user).as_string()
            raise BoardReadOnly(
                f"{place} does not let this user set up another database ({one_line(error)})",
                HINT.format(role=role),
            ) from error
