"""What a migration leaves to Python: figures of items that were put before there was a place."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import apsw

from pegboard.store.planning import spelled
from pegboard.store.queries import load

SQL = load("sqlite", "filled_in")


def fill_in(connection: apsw.Connection, migration: str) -> None:
    """In the transaction of the migration."""
    if migration == "0013_seen":
        _count_terms(connection)
        _note_words(connection)


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
