"""An item as it is in PostgreSQL, and stays until the end of the transaction."""

from typing import Any

from psycopg.rows import dict_row

from pegboard.model.items import Entry, Item
from pegboard.store.postgres.database import Connection, Params
from pegboard.store.postgres.rows import READER
from pegboard.store.queries import load

SQL = load("postgres", "curation")
ITEM_SQL = load("postgres", "items")
Row = dict[str, Any]


def stored(tx: Connection, entry: Entry) -> list[Row]:
    return _records(tx, SQL["stored"], {"key": entry.key, "namespace": entry.item.namespace})


def item_of(tx: Connection, row: Row) -> Item:
    """With what its hash is made of, for which the files are not needed."""
    item = READER.entry(row).item
    params = {"key": row["key"], "version": row["latest_version"]}
    for version in _records(tx, ITEM_SQL["version_of"], params):
        item = item._replace(version=READER.version(item.id, version, []))
    return item


def _records(tx: Connection, sql: str, params: Params) -> list[Row]:
    with tx.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(sql.encode(), params).fetchall()
