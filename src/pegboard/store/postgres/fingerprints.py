"""The numbers that stand for fingerprints in a database."""

from pegboard.model.items import Fingerprint
from pegboard.store.postgres.database import Connection, Database, run
from pegboard.store.queries import load

SQL = load("postgres", "fingerprints")


def fingerprint_key(tx: Connection, target: Fingerprint) -> int:
    """The number of a fingerprint, which is given one if it has none yet."""
    found = run(tx, SQL["fingerprint"], target._asdict())
    return int((found or run(tx, SQL["add_fingerprint"], target._asdict()))[0][0])


def known_fingerprint(database: Database, target: Fingerprint) -> int | None:
    """A number that was given once is never another's, so it is asked for once."""
    if target not in database.fingerprints:
        found = database.rows(SQL["fingerprint"], target._asdict())
        if not found:
            return None
        database.fingerprints[target] = int(found[0][0])
    return database.fingerprints[target]
