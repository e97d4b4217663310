"""An item as a row of PostgreSQL: lists are arrays, objects are json, times are timestamps."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime

from pegboard.model.content import Json
from pegboard.model.items import Item
from pegboard.store.postgres.database import Database
from pegboard.store.reading.database import Reading
from pegboard.store.rows import LISTS, OBJECTS, RECORDS, Reader, plain_values, record_of


def item_values(item: Item) -> dict[str, object]:
    """What the columns of an item get, ready to be sent as JSON."""
    values: dict[str, object] = plain_values(item)
    values |= {name: list(getattr(item, name)) for name in LISTS}
    values |= {name: dict(getattr(item, name)) for name in OBJECTS}
    values |= {name: [record_of(each) for each in getattr(item, name)] for name in RECORDS}
    return values | {"signature": item.signature._asdict() if item.signature else None}


def as_rows(rows: Sequence[Mapping[str, object]]) -> str:
    """Rows as the JSON array that `json_to_recordset` takes: one statement for all of them."""
    return json.dumps(list(rows), ensure_ascii=False, default=dict)


def _object(found: object) -> Json:
    if not isinstance(found, dict):
        raise TypeError(f"{str(found)[:60]} is no JSON object")
    return found


def _records(found: object) -> Sequence[Json]:
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise TypeError(f"{str(found)[:60]} is no list of JSON objects")
    return found


def _seconds(moment: datetime | str | None) -> float | None:
    if isinstance(moment, str):
        raise TypeError(f"{moment} is no moment that can be told")
    return None if moment is None else moment.timestamp()


READER = Reader(tuple, _object, _records, _seconds)


def reading(database: Database) -> Reading:
    return Reading(database, "postgres", READER, list)
