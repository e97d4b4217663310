"""What was decided, written in the transaction in which it is done, and never changed."""

import apsw

from pegboard.model.releases import AuditLine
from pegboard.store.queries import load
from pegboard.store.rows import kept_text

SQL = load("sqlite", "audit")


def write_down(tx: apsw.Connection, line: AuditLine) -> None:
    texts = {name: kept_text(value) for name, value in line._asdict().items() if name != "at"}
    tx.execute(SQL["add"], texts | {"at": line.at})
