"""How a database is recognised as a board, and brought to today's schema."""

import psycopg
from psycopg import Connection, errors
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from pegboard.errors import BoardError, BoardMissing, ConfigError
from pegboard.store.postgres import vector, wire
from pegboard.store.postgres.filled_in import fill_in
from pegboard.store.postgres.telling import told
from pegboard.store.queries import load, migrations, too_new

SQL = load("postgres", "opening")

CONNECT_SECONDS = 10
SILENCE: dict[str, str | int] = {
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}
"""After a minute without a sign of life a server's machine is gone; else it would be two hours."""


def conninfo(url: str) -> str:
    """The address, with what a person is told in pg_stat_activity and a bound on connecting."""
    try:
        said = conninfo_to_dict(url)
    except psycopg.ProgrammingError:  # whose words may have the password in them
        raise ConfigError(
            "the address of the board cannot be read as one of PostgreSQL",
            "write it as postgresql://user:password@host:port/database; "
            "in a password, % is %25, @ is %40, : is %3A and / is %2F",
        ) from None
    more: dict[str, str | int] = {
        "application_name": "pegboard",
        "connect_timeout": CONNECT_SECONDS,
        **SILENCE,
    }
    return make_conninfo(url, **{name: value for name, value in more.items() if name not in said})


def settle(connection: Connection[tuple[object, ...]]) -> None:
    """What every connection of a pool is told once."""
    connection.execute(SQL["settle"].encode())
    vector.register(connection)
    wire.register(connection)


def prepare(url: str, place: str, *, create: bool) -> None:
    """Make sure that this is a board with today's schema."""
    with psycopg.connect(conninfo(url), autocommit=True) as connection:
        applied, known = schema_number(connection), migrations("postgres")[-1][0]
    if applied > known:
        raise too_new(place, applied, known)
    if applied < known and create:
        upgrade(url, place)
    elif applied == 0:
        raise BoardMissing(
            f"there is no board in {place}", "make one with: pegboard init --board ADDRESS"
        )
    elif applied < known:
        raise BoardError(
            f"{place} has schema {applied}, this Pegboard needs {known}",
            "bring it up to date with: pegboard db upgrade",
        )


def schema_number(connection: Connection[tuple[object, ...]]) -> int:
    there = connection.execute(SQL["has_migrations"].encode()).fetchone()
    if there is None or not there[0]:
        return 0
    found = connection.execute(SQL["schema_number"].encode()).fetchone()
    return int(str(found[0])) if found else 0


def upgrade(url: str, place: str, through: int | None = None) -> list[str]:
    """Apply what is missing, all in one transaction; returns the names.

    Two machines at once: the second waits for the first and finds nothing left to do.
    """
    applied: list[str] = []
    with told(place), psycopg.connect(conninfo(url)) as connection:
        connection.execute(SQL["lock"].encode())
        _need_vector(connection, place)
        connection.execute(SQL["make_migrations"].encode())
        current = schema_number(connection)
        for number, name, text in migrations("postgres"):
            if number > current and (through is None or number <= through):
                connection.execute(text.encode())
                fill_in(connection, name)
                connection.execute(SQL["record"].encode(), {"number": number, "name": name})
                applied.append(name)
    return applied


def _need_vector(connection: Connection[tuple[object, ...]], place: str) -> None:
    try:
        with connection.transaction():
            connection.execute(b"CREATE EXTENSION IF NOT EXISTS vector")
    except (errors.FeatureNotSupported, errors.UndefinedFile) as error:
        raise BoardError(
            f"the server of {place} has no pgvector",
            "install it there, 0.8 or newer: https://github.com/pgvector/pgvector",
        ) from error
    except errors.InsufficientPrivilege as error:
        raise BoardError(
            f"pgvector is not switched on in {place}, and this user may not do it",
            "let an administrator run there: CREATE EXTENSION vector",
        ) from error
