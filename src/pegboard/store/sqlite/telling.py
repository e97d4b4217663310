"""SQLite's errors in Pegboard's words."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from pegboard.errors import (
    BoardBusy,
    BoardCorrupt,
    BoardError,
    BoardFull,
    BoardReadOnly,
    NotAllowed,
    PegboardError,
)


@contextmanager
def told(path: Path) -> Iterator[None]:
    try:
        yield
    except PegboardError:
        raise
    except apsw.BusyError as error:
        raise BoardBusy(
            f"{path} is locked by another process",
            "try again, or find the process that holds it",
        ) from error
    except apsw.FullError as error:
        raise BoardFull(
            f"the disk that holds {path} is full",
            "free some space and run the command again; nothing committed was lost",
        ) from error
    except apsw.ReadOnlyError as error:
        raise read_only_error(path) from error
    except (apsw.CorruptError, apsw.NotADBError, UnicodeDecodeError) as error:
        raise BoardCorrupt(
            f"{path} is damaged or not a board ({error})",
            f"if it was a board, keep a copy; then restore a backup, or {anew(path)}",
        ) from error
    except apsw.AuthError as error:
        raise NotAllowed("that part of the board is not to be read from here") from error
    except apsw.SQLError as error:
        raise BoardError(
            f"{path} holds something that it should not ({error})",
            "check it with: pegboard doctor",
        ) from error
    except (apsw.CantOpenError, apsw.IOError, apsw.PermissionsError, OSError) as error:
        raise BoardError(
            f"{path} cannot be opened or used ({error})",
            "check that the folder exists and may be written, and that the disk is healthy",
        ) from error


def anew(path: Path) -> str:
    """With its name: the project may have another board that is in order."""
    named = shlex.quote(str(path))
    return f"make it anew from what the project has: pegboard rebuild --board {named}"


def read_only_error(path: Path) -> BoardReadOnly:
    return BoardReadOnly(
        f"{path} cannot be written",
        "check the owner and permissions of the file and its folder; searching still works",
    )
