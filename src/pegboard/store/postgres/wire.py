"""Lists, JSON and times on the wire, for the few types we send: a search sends many.

What Python cannot hold comes as the text it is, so that whoever reads the row can name it: an error
in here would be one of the whole result.
"""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import cast

from psycopg import Connection, DataError
from psycopg.abc import Buffer
from psycopg.adapt import Dumper, Loader
from psycopg.types.json import set_json_loads


def register(connection: Connection[tuple[object, ...]]) -> None:
    connection.adapters.register_dumper(list, _ListDumper)
    connection.adapters.register_loader("timestamptz", _MomentLoader)
    set_json_loads(_loads, connection)


class _ListDumper(Dumper):
    """As the text of an array whose type the query says: it need not be found out here."""

    def dump(self, obj: list[object]) -> bytes:
        return _array(obj).encode()


class _MomentLoader(Loader):
    """Infinity, and what is before year 1 or after 9999, is no moment that a calendar has."""

    def load(self, data: Buffer) -> datetime | str:
        text = bytes(data).decode()
        try:
            return datetime.fromisoformat(text)
        except ValueError:
            return text


def _array(values: Sequence[object]) -> str:
    """Numbers and texts all at once, anything else one by one."""
    kinds = set(map(type, values))
    if kinds <= {int, float}:
        return "{" + ",".join(map(repr, values)) + "}"
    if kinds == {str}:
        texts = "\0".join(cast("Sequence[str]", values))
        if texts.count("\0") == len(values) - 1:
            escaped = texts.replace("\\", "\\\\").replace('"', '\\"')
            return '{"' + escaped.replace("\0", '","') + '"}'
    return "{" + ",".join([_element(value) for value in values]) + "}"


def _element(value: object) -> str:
    if isinstance(value, str):
        if "\0" in value:
            raise DataError("PostgreSQL keeps no text with a NUL in it")
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if value is None:
        return "NULL"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, bytes):
        return f'"\\\\x{value.hex()}"'
    raise DataError(f"a list with a {type(value).__name__} in it cannot be sent")


def _loads(text: str | bytes) -> object:
    """Most objects of most items are empty."""
    if text == b"{}":
        return {}
    try:
        return json.loads(text)
    except (ValueError, RecursionError):  # a number too long, or nested too deep
        return text if isinstance(text, str) else text.decode(errors="replace")
