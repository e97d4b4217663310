"""What was decided, written in the transaction in which it is done, and never changed.

Lines about items are written by triggers of the database: they only have to be told who acts.
"""

import uuid

from pegboard.model.releases import Action, AuditLine
from pegboard.store.postgres.database import Connection, run
from pegboard.store.queries import load
from pegboard.store.rows import kept_text

SQL = load("postgres", "audit")


def act(tx: Connection, by: str, action: Action, reason: str = "") -> None:
    """Who does what follows; of somebody whom policies bind, the database knows that itself."""
    params = {"by": kept_text(by), "act": action.value, "reason": kept_text(reason)}
    run(tx, SQL["act"], params)


def write_down(tx: Connection, line: AuditLine, uid: uuid.UUID) -> None:
    texts = {name: kept_text(value) for name, value in line._asdict().items() if name != "at"}
    run(tx, SQL["add"], texts | {"at": line.at, "uid": uid})
