"""An item as it is in SQLite, read in the transaction that is to change it."""

from typing import Any

from pegboard.model.items import Entry, Item
from pegboard.store.queries import load
from pegboard.store.sqlite.database import Database, Params
from pegboard.store.sqlite.rows import READER

SQL = load("sqlite", "curation")
ITEM_SQL = load("sqlite", "items")
Row = dict[str, Any]


def stored(database: Database, entry: Entry) -> list[Row]:
    """By all that it is known by: SQLite gives the number of a removed row to another one."""
    known: Params = {"key": entry.key, "id": entry.item.id, "namespace": entry.item.namespace}
    return database.records(SQL["stored"], known)


def item_of(database: Database, row: Row) -> Item:
    """With what its hash is made of, for which the files are not needed."""
    item = READER.entry(row).item
    params = {"key": row["key"], "version": row["latest_version"]}
    for version in database.records(ITEM_SQL["version_of"], params):
        item = item._replace(version=READER.version(item.id, version, []))
    return item
