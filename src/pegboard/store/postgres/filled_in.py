"""The part of a migration that needs Python: texts derived from stored items."""

from typing import Any

from psycopg.rows import dict_row

from pegboard.model.items import Item
from pegboard.store.postgres import wire
from pegboard.store.postgres.statements import Connection, columns, query, run
from pegboard.store.postgres.term_index import IndexedText, write_spelling, write_terms
from pegboard.store.queries import load
from pegboard.store.rows import indexed_item
from pegboard.text import card

SQL = load("postgres", "filled_in")
ITEM_SQL = load("postgres", "items")
AT_ONCE = 500
"""Items whose texts one statement carries."""


def fill_in(connection: Connection, migration: str) -> None:
    """Run in the transaction of the migration."""
    if migration == "0017_source_labels":  # 0015 leaves both empty
        wire.register(connection)
        _index_again(connection)


def _index_again(tx: Connection) -> None:
    """Write index terms, ranking cards and spelling of every stored item."""
    after = -1
    while rows := _rows(tx, after):
        items = [_item(row) for row in rows]
        keys = [int(row["key"]) for row in rows]
        for step in ("drop_terms", "drop_texts"):
            run(tx, ITEM_SQL[step], {"keys": keys})
        texts = [
            IndexedText(key, item, row["content"])
            for key, item, row in zip(keys, items, rows, strict=True)
        ]
        write_terms(tx, texts)
        write_spelling(tx, items)
        cards = [(key, card(item)) for key, item in zip(keys, items, strict=True)]
        run(tx, SQL["set_cards"], columns(("keys", "cards"), cards))
        after = keys[-1]


def _rows(tx: Connection, after: int) -> list[dict[str, Any]]:
    with tx.cursor(row_factory=dict_row) as cursor:
        params = {"after": after, "limit": AT_ONCE}
        return cursor.execute(query(SQL["indexed"]), params).fetchall()


def _item(row: dict[str, Any]) -> Item:
    """Return the item; JSON that cannot be read is taken as empty, as it would stop the upgrade."""
    objects = {name: row[name] for name in ("executor", "input_schema")}
    kept = {name: each if isinstance(each, dict) else {} for name, each in objects.items()}
    return indexed_item({**row, **kept})
