"""What became of items, and where their links lead."""

from typing import Any

from pegboard.model.curation import Event, Happening, LooseLink, Tie
from pegboard.model.items import ItemId, Kind
from pegboard.ports.curation import Curation
from pegboard.store.reading.database import Reading
from pegboard.store.rows import is_storable


class ReadCuration(Curation):
    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._sql = reading.sql("curation")

    def ties(self, key: int) -> list[Tie]:
        return [_tie(*row) for row in self._reading.database.rows(self._sql["ties"], {"key": key})]

    def loose_links(self, source: str | None = None) -> list[LooseLink]:
        if not is_storable(source):
            return []
        rows = self._reading.database.rows(self._sql["loose_links"], {"source": source})
        return [LooseLink(*row) for row in rows]

    def history(self, item_id: str, namespace: str | None = None) -> list[Happening]:
        if not is_storable(item_id, namespace):
            return []
        params = {"id": item_id, "namespace": namespace}
        return [
            Happening(space, ItemId(name), at, Event(event), by, detail)
            for space, name, at, event, by, detail in self._reading.database.rows(
                self._sql["history"], params
            )
        ]


def _tie(relation: str, outward: Any, target: str, *end: Any) -> Tie:  # noqa: ANN401 (of a row)
    item_id, namespace, name, kind = end
    if item_id is None:
        return Tie(relation, bool(outward), target)
    return Tie(relation, bool(outward), target, ItemId(item_id), namespace, name, Kind(kind))
