"""What is published, for whoever looks around."""

from pegboard.model.releases import MOST_CHOICES, Offer, Offered, Wanted
from pegboard.store.postgres.database import Database
from pegboard.store.postgres.rows import READER, sayable
from pegboard.store.queries import load

SQL = load("postgres", "offered")


def offered(database: Database, wanted: Wanted) -> Offered:
    said = [each for each in (wanted.category, wanted.tag) if each is not None]
    if len(sayable(said)) < len(said):
        return Offered()
    bounds: dict[str, object] = {
        "category": wanted.category,
        "tag": wanted.tag,
        "namespaces": sayable(wanted.namespaces) if wanted.namespaces else None,
    }
    place = {"order": wanted.order.value, "start": wanted.start, "limit": wanted.limit}
    rows = database.records(SQL["page"], bounds | place)
    [(total,)] = database.rows(SQL["total"], bounds)
    most = {"most": MOST_CHOICES}
    categories = database.rows(SQL["categories"], bounds | most)
    tags = database.rows(SQL["tags"], bounds | most)
    return Offered(
        tuple(
            Offer(READER.entry(row), row["latest_version"], row["published_at"].timestamp())
            for row in rows
        ),
        total,
        tuple((name, count) for name, count in categories),
        tuple((name, count) for name, count in tags),
    )
