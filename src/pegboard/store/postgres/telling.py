"""PostgreSQL's errors in Pegboard's words."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import PoolClosed, PoolTimeout

from pegboard.errors import (
    BoardBusy,
    BoardCorrupt,
    BoardError,
    BoardFull,
    BoardReadOnly,
    BoardUnreachable,
)

GONE = (
    errors.AdminShutdown,
    errors.CrashShutdown,
    errors.CannotConnectNow,
    errors.IdleInTransactionSessionTimeout,
    PoolTimeout,
)
"""The connection is lost, or the server is on its way down or up."""
AGAIN = (errors.DeadlockDetected, errors.SerializationFailure)
"""The transaction came to nothing because of another one: the same again may succeed."""
RACES = ("items_namespace_id_key", "sources_pkey", "rejections_pkey", "mcp_servers_pkey")
MISSING = (errors.UndefinedTable, errors.UndefinedFunction, errors.UndefinedColumn)


def again(error: psycopg.Error) -> bool:
    """Whether the same once more may succeed: of two who add the same id, the second finds it."""
    if isinstance(error, errors.UniqueViolation):
        return (error.diag.constraint_name or "") in RACES
    return isinstance(error, AGAIN)


def lost(error: psycopg.Error) -> bool:
    """Whether the server may be there again in a moment."""
    if isinstance(error, GONE):
        return True
    if isinstance(error, PoolClosed):
        return False
    # What the driver itself says when the connection breaks has no code from the server.
    return isinstance(error, psycopg.OperationalError) and error.sqlstate is None


def hopeless(error: psycopg.Error) -> bool:
    """Whether a connection was refused for a reason that waiting does not change."""
    told = str(error)
    return any(
        reason in told
        for reason in ("does not exist", "authentication failed", "no password", "pg_hba.conf")
    )


def shown(url: str) -> str:
    """The address without its password."""
    try:
        said = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        return "postgresql://(unreadable)"
    place = f"{said.get('host') or 'localhost'}"
    if port := said.get("port"):
        place += f":{port}"
    user = f"{said['user']}@" if said.get("user") else ""
    return f"postgresql://{user}{place}/{said.get('dbname') or said.get('user') or ''}"


NO_ROOM = (errors.DiskFull, errors.OutOfMemory, errors.ConfigurationLimitExceeded)
TOO_LONG = (errors.QueryCanceled, errors.LockNotAvailable, errors.TooManyConnections)
TOO_MUCH = (
    errors.ProgramLimitExceeded,
    errors.StatementTooComplex,
    errors.TooManyColumns,
    errors.TooManyArguments,
)
NO_CONNECTION = (PoolClosed, psycopg.OperationalError, psycopg.InterfaceError)


class Told(NamedTuple):
    """What an error of the driver is in our words."""

    kinds: tuple[type[Exception], ...]
    ours: type[BoardError]
    message: str
    hint: str
    saying: tuple[str, ...] = ()
    """Only with one of these words, because a refused connection has no code to know it by."""


_TOLD = (
    Told(
        NO_ROOM,
        BoardFull,
        "the server of {place} has no room left ({said})",
        "free some space on it and run the command again; nothing committed was lost",
    ),
    Told(
        (errors.ReadOnlySqlTransaction,),
        BoardReadOnly,
        "{place} cannot be written: it is a standby, or read-only for this user",
        "connect to the primary; searching still works here",
    ),
    Told(
        (errors.InsufficientPrivilege,),
        BoardReadOnly,
        "{place} does not allow this ({said})",
        "connect as a user who may",
    ),
    Told(
        TOO_LONG,
        BoardBusy,
        "{place} took too long ({said})",
        "try again, or see in pg_stat_activity what holds it up",
    ),
    Told(
        (PoolTimeout,),
        BoardBusy,
        "all connections of this process to {place} are in use",
        "try again, or ask less of it at a time",
    ),
    Told(
        (psycopg.OperationalError,),
        BoardBusy,
        "the server of {place} has no connection left ({said})",
        "try again, or raise max_connections there; pegboard db status tells who has them",
        ("too many clients", "too many connections", "connection slots"),
    ),
    Told(
        (errors.UniqueViolation,),
        BoardBusy,
        "{place} has such a row already ({said})",
        "choose another id: it may be one that this caller is not shown; or try again",
    ),
    Told(AGAIN, BoardBusy, "others kept changing the same rows of {place} ({said})", "try again"),
    Told(
        (errors.ObjectInUse,),
        BoardBusy,
        "somebody else is using what {place} needs for itself ({said})",
        "try again when they have left; pg_stat_activity shows who it is",
    ),
    Told(
        TOO_MUCH,
        BoardError,
        "{place} was given more than PostgreSQL or pgvector can take ({said})",
        "make it smaller: a vector, for one, has at most 16,000 dimensions there",
    ),
    Told(
        (errors.DataCorrupted,),
        BoardCorrupt,
        "{place} is damaged ({said})",
        "restore it from a backup",
    ),
    Told(
        MISSING,
        BoardError,
        "{place} lacks something that a board has ({said})",
        "bring it up to date with: pegboard db upgrade",
    ),
    Told(
        NO_CONNECTION,
        BoardUnreachable,
        "{place} cannot be reached ({said})",
        "check the address, the password, and that the server is up",
    ),
    Told(
        (psycopg.Error,),
        BoardError,
        "{place} refused what it was given ({said})",
        "check it with: pegboard doctor",
    ),
)
"""The first that fits counts."""


@contextmanager
def told(place: str) -> Iterator[None]:
    """Every error of the driver as one of ours; `place` is the address as it may be shown."""
    try:
        yield
    except psycopg.Error as error:
        fits = next(each for each in _TOLD if _fits(each, error))
        said = fits.message.format(place=place, said=one_line(error))
        raise fits.ours(said, fits.hint) from error


def _fits(each: Told, error: psycopg.Error) -> bool:
    said = str(error)
    return isinstance(error, each.kinds) and (
        not each.saying or any(words in said for words in each.saying)
    )


def one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__
