"""The numbers that stand for fingerprints in a database."""

import apsw

from pegboard.model.items import Fingerprint
from pegboard.store.queries import load
from pegboard.store.sqlite.database import Database

SQL = load("sqlite", "fingerprints")


def fingerprint_key(tx: apsw.Connection, target: Fingerprint) -> int:
    """The number of a fingerprint, which is given one if it has none yet."""
    found = tx.execute(SQL["fingerprint"], target._asdict()).get
    return int(found or tx.execute(SQL["add_fingerprint"], target._asdict()).get)


def known_fingerprint(database: Database, target: Fingerprint) -> int | None:
    found = database.rows(SQL["fingerprint"], target._asdict())
    return int(found[0][0]) if found else None
