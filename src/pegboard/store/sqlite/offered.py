"""What is published, for whoever looks around."""

from typing import Any

from pegboard.model.releases import MOST_CHOICES, Offer, Offered, Wanted
from pegboard.store.queries import load
from pegboard.store.sqlite.database import Database, Value, in_list
from pegboard.store.sqlite.rows import READER

SQL = load("sqlite", "offered")


def offered(database: Database, wanted: Wanted) -> Offered:
    bounds: dict[str, Value] = {
        "category": wanted.category,
        "tag": wanted.tag,
        "namespaces": in_list(wanted.namespaces) if wanted.namespaces else None,
    }
    place: dict[str, Value] = {
        "order": wanted.order,
        "start": wanted.start,
        "limit": wanted.limit,
    }
    rows: list[dict[str, Any]] = database.records(SQL["page"], bounds | place)
    [(total,)] = database.rows(SQL["total"], bounds)
    in_category = {name: each for name, each in bounds.items() if name != "tag"}
    with_tag = {name: each for name, each in bounds.items() if name != "category"}
    categories = database.rows(SQL["categories"], with_tag | {"most": MOST_CHOICES})
    tags = database.rows(SQL["tags"], in_category | {"most": MOST_CHOICES})
    return Offered(
        tuple(Offer(READER.entry(row), row["latest_version"], row["published_at"]) for row in rows),
        total,
        tuple((name, count) for name, count in categories),
        tuple((name, count) for name, count in tags),
    )
