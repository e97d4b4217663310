"""The derived texts of one item in SQLite: index terms, ranking card and spelling."""

import json

import apsw

from pegboard.model.items import Item, Visibility
from pegboard.store.planning import spelled_words
from pegboard.store.queries import load
from pegboard.text import IndexFields, card, variants

SQL = load("sqlite", "items")
WORD_SQL = load("sqlite", "words")


def write_terms(
    tx: apsw.Connection, key: int, item: Item, fields: IndexFields, *, replace: bool
) -> None:
    """Write all derived texts of an item. With `replace`, remove its old terms first."""
    if replace:
        tx.execute(SQL["drop_terms"], {"key": key})
    tx.execute(SQL["add_terms"], fields._asdict() | {"key": key})
    tx.execute(SQL["put_card"], {"key": key, "card": card(item)})
    _add_spelling(tx, item)


def _add_spelling(tx: apsw.Connection, item: Item) -> None:
    """Store the words of a public item for spelling correction; search finds no other items."""
    if item.visibility is not Visibility.PUBLIC:
        return
    params = {"words": json.dumps(spelled_words(item)), "namespace": item.namespace}
    rows = [
        {"variant": variant, "word": word}
        for (word,) in tx.execute(WORD_SQL["unknown_words"], params).fetchall()
        for variant in variants(str(word))
    ]
    if rows:
        tx.executemany(WORD_SQL["add_variant"], rows)
    tx.execute(WORD_SQL["add_words_there"], params)
