"""An item as a row of SQLite: lists and objects are JSON, times are seconds."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pegboard.model.content import Json, Link, Permission
from pegboard.model.items import Item
from pegboard.store.reading.database import Reading
from pegboard.store.rows import LISTS, OBJECTS, RECORDS, Reader, plain_values, record_of
from pegboard.store.sqlite.database import Database, Value, in_list


def as_json(value: Sequence[str] | Json, empty: str) -> str:
    if not value:
        return empty  # most are, and this is a hundred times quicker
    plain = dict(value) if isinstance(value, Mapping) else value
    return json.dumps(plain, ensure_ascii=False)


def item_params(item: Item) -> dict[str, Value]:
    params: dict[str, Value] = plain_values(item)
    params |= {name: as_json(getattr(item, name), "[]") for name in LISTS}
    params |= {name: as_json(getattr(item, name), "{}") for name in OBJECTS}
    params |= {name: as_records(getattr(item, name)) for name in RECORDS}
    params["signature"] = json.dumps(item.signature._asdict()) if item.signature else None
    return params


def as_records(values: Sequence[Link | Permission]) -> str:
    if not values:
        return "[]"
    return json.dumps([record_of(each) for each in values], ensure_ascii=False)


def _list(text: str) -> tuple[str, ...]:
    return () if text == "[]" else tuple(json.loads(text))  # most are empty


def _object(text: str) -> Json:
    if text == "{}":
        return {}
    found = json.loads(text)
    if not isinstance(found, dict):
        raise TypeError(f"{text[:60]} is no JSON object")
    return found


def _records(text: str) -> Sequence[Json]:
    if text == "[]":
        return ()
    found = json.loads(text)
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise TypeError(f"{text[:60]} is no list of JSON objects")
    return found


def _seconds(found: Any) -> float | None:  # noqa: ANN401 (whatever is in the column)
    return None if found is None else float(found)


READER = Reader(_list, _object, _records, _seconds)


def reading(database: Database) -> Reading:
    return Reading(database, "sqlite", READER, in_list)
