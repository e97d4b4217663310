"""What a migration leaves to Python: figures of items that were put before there was a place."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import apsw

from pegboard.model.content import Json
from pegboard.model.items import Item
from pegboard.store.planning import spelled
from pegboard.store.queries import load
from pegboard.store.rows import INDEXED, indexed_item
from pegboard.store.sqlite.term_index import write_terms
from pegboard.text import index_fields

SQL = load("sqlite", "filled_in")
AT_ONCE = 500
"""Items that are held in memory while their terms are written."""


def fill_in(connection: apsw.Connection, migration: str) -> None:
    """In the transaction of the migration."""
    if migration == "0013_seen":
        _count_terms(connection)
        _note_words(connection)
    if migration == "0017_source_labels":  # 0016 leaves both empty
        _index_again(connection)


def _count_terms(connection: apsw.Connection) -> None:
    sizes: Sequence[Any] = connection.execute(SQL["sizes"]).fetchall()
    rows = ({"key": key, "terms": sum(_numbers(size))} for key, size in sizes)
    connection.executemany(SQL["set_terms"], rows)


def _numbers(written: bytes) -> Iterator[int]:
    """Seven bits a byte, the highest first; the last byte of a number is below 128."""
    number = 0
    for byte in written:
        number = number << 7 | byte & 127
        if byte < 128:
            yield number
            number = 0


def _note_words(connection: apsw.Connection) -> None:
    called: Sequence[Any] = connection.execute(SQL["called"]).fetchall()
    found = {
        (word, namespace)
        for namespace, name, aliases, category, subcategory, tags in called
        for word in spelled(name, *json.loads(aliases), category, subcategory, *json.loads(tags))
    }
    rows = [{"word": word, "namespace": namespace} for word, namespace in sorted(found)]
    connection.executemany(SQL["add_word"], rows)


def _index_again(connection: apsw.Connection) -> None:
    """Write index terms, ranking cards and spelling of every stored item."""
    after = -1
    while rows := _rows(connection, after):
        for row in rows:
            item = _item(row)
            fields = index_fields(item)
            write_terms(connection, row["key"], item, fields, replace=False)
            terms = sum(len(field.split()) for field in fields)
            connection.execute(SQL["set_terms"], {"key": row["key"], "terms": terms})
        after = rows[-1]["key"]


def _rows(connection: apsw.Connection, after: int) -> list[dict[str, Any]]:
    found = connection.execute(SQL["indexed"], {"after": after, "limit": AT_ONCE})
    return [dict(zip(("key", *INDEXED), row, strict=True)) for row in found]


def _item(row: dict[str, Any]) -> Item:
    lists = {name: _texts(row[name]) for name in ("tags", "aliases", "keywords")}
    objects = {name: _object(row[name]) for name in ("executor", "input_schema")}
    return indexed_item({**row, **lists, **objects})


def _texts(text: str) -> tuple[str, ...]:
    found = _parsed(text)
    return tuple(each for each in found if isinstance(each, str)) if isinstance(found, list) else ()


def _object(text: str) -> Json:
    found = _parsed(text)
    return found if isinstance(found, dict) else {}


def _parsed(text: str) -> object:
    """Return None for damaged JSON: one damaged row must not prevent the upgrade of a board."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
