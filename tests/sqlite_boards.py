"""New boards in files are copies of one that this process made: that takes a tenth of the time.

The copy has an id of its own, and is opened as any board is. What other processes make, they make
in full, and so do tests that ask for `made_in_full`.
"""

import os
import secrets
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import apsw
import pytest

from pegboard.store.sqlite import database, opening
from pegboard.store.sqlite.store import SqliteStore

NORMAL, OFF = "synchronous = NORMAL", "synchronous = OFF"


class Copies:
    """In the place of `open_connection`."""

    def __init__(self) -> None:
        self.wanted = True
        self._open = opening.open_connection
        self._board: bytes | None = None
        self._id = b""

    def __call__(self, path: Path, busy_seconds: float, *, create: bool) -> apsw.Connection:
        if create and self.wanted and path.name != ":memory:" and not path.exists():
            if self._board is None:
                self._make()
            with suppress(OSError):  # what is wrong with the place is said when it is opened
                self._copy(path)
        return self._open(path, busy_seconds, create=create)

    def _make(self) -> None:
        self.wanted = False
        with TemporaryDirectory() as folder:
            path = Path(folder) / "board.db"
            store = SqliteStore(path, create=True)
            self._id = str(store.database.rows("SELECT id FROM board")[0][0]).encode()
            store.close()
            self._board = path.read_bytes()
        assert self._board.count(self._id) == 1
        self.wanted = True

    def _copy(self, path: Path) -> None:
        """All of it at once: others may be about to make the same board."""
        own = secrets.token_hex(len(self._id) // 2).encode()
        new = path.with_name(f"{path.name}.{own.decode()}")
        try:
            new.write_bytes(self._board.replace(self._id, own))
            os.link(new, path)
        finally:
            new.unlink(missing_ok=True)


COPIES = Copies()
database.open_connection = COPIES
opening.SETUP = opening.SETUP.replace(NORMAL, OFF)  # no test pulls the plug
assert OFF in opening.SETUP


@pytest.fixture
def made_in_full() -> Iterator[None]:
    """For tests of how a board is made."""
    COPIES.wanted = False
    yield
    COPIES.wanted = True
