"""Items and their versions, looked up and paged through."""

from collections.abc import Sequence
from typing import Any

from pegboard.model.calls import CensusLine, Change
from pegboard.model.content import Version, VersionLine
from pegboard.model.items import Entry, ItemId
from pegboard.store.blobs.large_files import AGAIN, LOST, LargeFiles
from pegboard.store.checking import PublishedVersion
from pegboard.store.reading.database import Reading
from pegboard.store.rows import beginning, is_storable, storable
from pegboard.store.versioning import ordered
from pegboard.text import TEXT_VERSION

Row = dict[str, Any]


class ReadItems:
    def __init__(self, reading: Reading, files: LargeFiles) -> None:
        self._reading = reading
        self._files = files
        self._sql = reading.sql("items")
        self._version_sql = reading.sql("versions")

    def get(self, item_id: ItemId, namespace: str, *, files: bool = True) -> Entry | None:
        found = self._with_version(item_id, namespace, latest=files)
        if found is None:
            return None
        row, version, contents = found
        entry = self._reading.reader.entry(row)
        whole = self._version(item_id, version, contents, AGAIN)
        return entry._replace(item=entry.item._replace(version=whole))

    def versions(self, item_id: ItemId, namespace: str) -> list[VersionLine]:
        if not is_storable(item_id, namespace):
            return []
        params = {"id": item_id, "namespace": namespace}
        rows = self._reading.database.rows(self._version_sql["listed"], params)
        return ordered((bool(published), VersionLine(*line)) for published, *line in rows)

    def version(self, item_id: ItemId, namespace: str, number: str) -> Version | None:
        found = self._with_version(item_id, namespace, number)
        if found is None:
            return None
        row, version, contents = found
        remedy = AGAIN if number == row["latest_version"] else LOST
        return self._version(f"{item_id}@{number}", version, contents, remedy)

    def _with_version(
        self, item_id: ItemId, namespace: str, number: str | None = None, *, latest: bool = False
    ) -> tuple[Row, Row | None, list[Row]] | None:
        """The rows of an item, of this version of it or of its latest, and of the files of that."""

        def read() -> tuple[Row, Row | None, list[Row]] | None:
            records = self._reading.database.records
            for row in records(self._sql["get"], {"id": item_id, "namespace": namespace}):
                wanted = row["latest_version"] if latest else number
                if wanted is None:
                    return row, None, []
                asked = {"key": row["key"], "version": wanted}
                for version in records(self._sql["version_of"], asked):
                    files = {"version_key": version["key"]}
                    return row, version, records(self._sql["files_of"], files)
                return row, None, []
            return None

        if not is_storable(item_id, namespace, number):
            return None
        return self._reading.database.snapshot(read)

    def _version(
        self, of: str, row: Row | None, contents: Sequence[Row], remedy: str
    ) -> Version | None:
        for file in contents:
            file["content"] = self._files.content(of, file, remedy)
        return self._reading.reader.version(of, row, contents) if row else None

    def ids(self) -> list[tuple[ItemId, str]]:
        rows = self._reading.database.rows(self._sql["ids"])
        return [(ItemId(item_id), namespace) for item_id, namespace in rows]

    def published_versions(self) -> list[PublishedVersion]:
        rows = self._reading.database.rows(self._version_sql["published"])
        return [PublishedVersion(*row) for row in rows]

    def older_versions(self) -> list[tuple[ItemId, str, str]]:
        rows = self._reading.database.rows(self._version_sql["older"])
        return [(ItemId(item_id), namespace, number) for item_id, namespace, number in rows]

    def named(self, name: str) -> list[Entry]:
        # A name is whatever a source says: it must never be taken for the id of something else.
        by_id, by_name = ("with_id", "named_with_namespace"), ("named", "named_by_last_part")
        ways = by_id if ":" in name else by_name
        for way in ways if is_storable(name) else ():
            if found := self._reading.entries(self._sql[way], {"name": name}):
                return found
        return []

    def page(self, after: int, limit: int) -> list[Entry]:
        return self._reading.entries(self._sql["page"], {"after": after, "limit": limit})

    def origins(self, source: str, under: Sequence[str] = ()) -> dict[str, str]:
        if not is_storable(source):
            return {}
        params: dict[str, object] = {"source": source, "text_version": TEXT_VERSION}
        sql = self._sql["origins"]
        if under:
            sql, params["under"] = self._sql["origins_under"], self._reading.many(storable(under))
        return {str(o): str(h) for o, h in self._reading.database.rows(sql, params)}

    def changed(self) -> list[Change]:
        reader = self._reading.reader
        rows = self._reading.database.records(self._sql["changed"])
        return [Change(reader.entry(row), reader.definition(row)) for row in rows]

    def census(self, namespaces: Sequence[str]) -> list[CensusLine]:
        params = {"namespaces": self._reading.any_of(namespaces)}
        rows = self._reading.database.rows(self._sql["census"], params)
        return [CensusLine(*row) for row in rows]

    def listed(
        self,
        categories: Sequence[str],
        namespaces: Sequence[str],
        after: tuple[str, str],
        limit: int,
    ) -> list[Entry]:
        item_id, namespace = map(beginning, after)
        params: dict[str, object] = {
            "categories": self._reading.any_of(categories),
            "namespaces": self._reading.any_of(namespaces),
            "id": item_id,
            "namespace": namespace,
            "limit": limit,
        }
        return self._reading.entries(self._sql["listed"], params)
