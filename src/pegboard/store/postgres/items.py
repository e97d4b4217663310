"""Items in PostgreSQL: put, look up, page through, retire."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from pegboard.errors import BoardUnreachable
from pegboard.model.calls import CensusLine, Change, OnChange
from pegboard.model.content import Version, VersionLine
from pegboard.model.curation import Event
from pegboard.model.items import Entry, Fingerprint, Item, ItemId, PutReport
from pegboard.model.releases import Action
from pegboard.store.blobs.large_files import AGAIN, LOST, LargeFiles
from pegboard.store.checking import PublishedVersion
from pegboard.store.planning import EVERY_CHANGE, Noted, check_sources, definition_hash
from pegboard.store.postgres.audit import act
from pegboard.store.postgres.database import Connection, Database, Params, run
from pegboard.store.postgres.files import known_and_held
from pegboard.store.postgres.fingerprints import fingerprint_key
from pegboard.store.postgres.history import note
from pegboard.store.postgres.putting import Putting, queue_again
from pegboard.store.postgres.rows import READER, sayable
from pegboard.store.postgres.words import Words
from pegboard.store.queries import load
from pegboard.store.versioning import ordered
from pegboard.text import TEXT_VERSION

SQL = load("postgres", "items")
VERSION_SQL = load("postgres", "versions")
Row = dict[str, Any]


class PostgresItems:
    def __init__(self, database: Database, words: Words, files: LargeFiles) -> None:
        self._db = database
        self._words = words
        self._files = files

    def put(
        self,
        items: Sequence[Item],
        target: Fingerprint | None,
        *,
        rewrite: bool = False,
        on_change: OnChange | None = None,
        yielding: frozenset[str] = frozenset(),
        fixed: bool = False,
        own: bool = False,
    ) -> PutReport:
        def work(tx: Connection) -> PutReport:
            fingerprint = fingerprint_key(tx, target) if target else None
            lying = uploads.keys(partial(known_and_held, tx))
            putting = Putting(tx, target, fingerprint, on_change, lying, yielding)
            return putting.put(items, rewrite=rewrite, fixed=fixed, own=own)

        check_sources(items)
        with self._files.uploaded(items, check=rewrite, unsure=(BoardUnreachable,)) as uploads:
            return self._db.write(work, tell=True)

    def get(self, item_id: ItemId, namespace: str, *, files: bool = True) -> Entry | None:
        def read() -> tuple[Row, Row | None, list[Row]] | None:
            for row in self._db.records(SQL["get"], {"id": item_id, "namespace": namespace}):
                return row, *self._version_of(row["key"], row["latest_version"] if files else None)
            return None

        if not sayable([item_id, namespace])[1:]:
            return None
        found = self._db.snapshot(read)
        if found is None:
            return None
        entry = READER.entry(found[0])
        version = self._version(item_id, *found[1:], AGAIN)
        return entry._replace(item=entry.item._replace(version=version))

    def versions(self, item_id: ItemId, namespace: str) -> list[VersionLine]:
        if not sayable([item_id, namespace])[1:]:
            return []
        rows = self._db.rows(VERSION_SQL["listed"], {"id": item_id, "namespace": namespace})
        return ordered((published, VersionLine(*line)) for published, *line in rows)

    def version(self, item_id: ItemId, namespace: str, number: str) -> Version | None:
        def read() -> tuple[str, Row | None, list[Row]] | None:
            for row in self._db.records(SQL["get"], {"id": item_id, "namespace": namespace}):
                return row["latest_version"], *self._version_of(row["key"], number)
            return None

        if not sayable([item_id, namespace, number])[2:]:
            return None
        found = self._db.snapshot(read)
        if found is None:
            return None
        remedy = AGAIN if number == found[0] else LOST
        return self._version(f"{item_id}@{number}", *found[1:], remedy)

    def published_versions(self) -> list[PublishedVersion]:
        return [PublishedVersion(*row) for row in self._db.rows(VERSION_SQL["published"])]

    def older_versions(self) -> list[tuple[ItemId, str, str]]:
        rows = self._db.rows(VERSION_SQL["older"])
        return [(ItemId(item_id), namespace, number) for item_id, namespace, number in rows]

    def ids(self) -> list[tuple[ItemId, str]]:
        return [(ItemId(item_id), namespace) for item_id, namespace in self._db.rows(SQL["ids"])]

    def named(self, name: str) -> list[Entry]:
        # A name is whatever a source says: it must never be taken for the id of something else.
        by_id, by_name = ("with_id", "named_with_namespace"), ("named", "named_by_last_part")
        ways = by_id if ":" in name else by_name
        for way in ways if sayable([name]) else ():
            if found := self._db.records(SQL[way], {"name": name}):
                return [READER.entry(row) for row in found]
        return []

    def page(self, after: int, limit: int) -> list[Entry]:
        rows = self._db.records(SQL["page"], {"after": after, "limit": limit})
        return [READER.entry(row) for row in rows]

    def origins(self, source: str, under: Sequence[str] = ()) -> dict[str, str]:
        params: dict[str, object] = {"source": source, "text_version": TEXT_VERSION}
        sql = SQL["origins"]
        if under:
            sql, params["under"] = SQL["origins_under"], sayable(under)
        return {str(o): str(h) for o, h in self._db.rows(sql, params)}

    def retire(
        self, source: str, seen: Sequence[str], began: float, purge_before: float
    ) -> tuple[int, int]:
        params: dict[str, object] = {
            "source": source,
            "seen": sayable(seen),
            "began": began,
            "before": purge_before,
        }

        def work(tx: Connection) -> tuple[int, int]:
            retired = _keys(tx, SQL["retire"], params)
            run(tx, SQL["drop_tasks_of_retired"], params)
            note(tx, [(key, Noted(Event.MISSING)) for key in retired])
            purged = _keys(tx, SQL["long_missing"], params)
            gone = Noted(Event.PURGED, "gone from its source for too long")
            note(tx, [(key, gone) for key in purged])
            run(tx, SQL["purge"], {"keys": purged})
            return len(retired), len(purged)

        return self._db.write(work, tell=True)

    def retire_under(
        self, source: str, under: Sequence[str], seen: Sequence[str], began: float
    ) -> int:
        params: dict[str, object] = {
            "source": source,
            "under": sayable(under),
            "seen": sayable(seen),
            "began": began,
        }

        def work(tx: Connection) -> int:
            keys = _keys(tx, SQL["retire_under"], params)
            run(tx, SQL["drop_tasks_of"], {"keys": keys})
            note(tx, [(key, Noted(Event.MISSING)) for key in keys])
            return len(keys)

        return self._db.write(work, tell=True)

    def changed(self) -> list[Change]:
        rows = self._db.records(SQL["changed"])
        return [Change(READER.entry(row), READER.definition(row)) for row in rows]

    def approve(self, entries: Sequence[Entry], target: Fingerprint | None, by: str = "") -> int:
        def work(tx: Connection) -> int:
            act(tx, who, Action.APPROVE)
            fingerprint = fingerprint_key(tx, target) if target else None
            approved = [(entry, done) for entry in entries for done in _approve(tx, entry)]
            note(tx, [(entry.key, Noted(Event.APPROVED)) for entry, _ in approved], who)
            for entry, active in approved:
                if active:  # and not switched off
                    queue_again(tx, entry, target, fingerprint)
            return len(approved)

        who = by if self._db.caller is None else self._db.caller.subject
        return self._db.write(work, tell=True)

    def apply_policy(self, source: str, on_change: OnChange) -> None:
        allow = on_change is OnChange.ALLOW
        noted = Noted(Event.APPROVED, EVERY_CHANGE) if allow else Noted(Event.HELD)
        steps = ("accept", "forget_accepted") if allow else ("hold", "drop_tasks_of_retired")

        def work(tx: Connection) -> None:
            keys = _keys(tx, SQL[steps[0]], {"source": source})
            note(tx, [(key, noted) for key in keys])
            run(tx, SQL[steps[1]], {"source": source})

        if on_change is not OnChange.WARN:
            self._db.write(work, tell=True)

    def census(self, namespaces: Sequence[str]) -> list[CensusLine]:
        params = {"namespaces": sayable(namespaces) if namespaces else None}
        return [CensusLine(*row) for row in self._db.rows(SQL["census"], params)]

    def listed(
        self,
        categories: Sequence[str],
        namespaces: Sequence[str],
        after: tuple[str, str],
        limit: int,
    ) -> list[Entry]:
        params: dict[str, object] = {
            "categories": sayable(categories) if categories else None,
            "namespaces": sayable(namespaces) if namespaces else None,
            "id": after[0],
            "namespace": after[1],
            "limit": limit,
        }
        return [READER.entry(row) for row in self._db.records(SQL["listed"], params)]

    def take_census(self) -> None:
        self._words.take_census()

    def _version_of(self, key: int, number: str | None) -> tuple[Row | None, list[Row]]:
        if number is None:
            return None, []
        for row in self._db.records(SQL["version_of"], {"key": key, "version": number}):
            return row, self._db.records(SQL["files_of"], {"version_key": row["key"]})
        return None, []

    def _version(
        self, of: str, row: Row | None, contents: Sequence[Row], remedy: str
    ) -> Version | None:
        for file in contents:
            file["content"] = self._files.content(of, file, remedy)
        return READER.version(of, row, contents) if row else None


def _keys(tx: Connection, sql: str, params: Params) -> list[int]:
    return [int(key) for (key,) in run(tx, sql, params)]


def _approve(tx: Connection, entry: Entry) -> list[bool]:
    """Whether it is active then; nothing if it is no longer what the entry says."""
    offered = entry.item._replace(description=entry.imported_description)
    params: dict[str, object] = {
        "key": entry.key,
        "content_hash": entry.content_hash,
        "approved_hash": definition_hash(offered),
    }
    done = run(tx, SQL["approve"], params)
    if done:
        run(tx, SQL["forget_approved"], {"keys": [entry.key]})
    return [bool(active) for (active,) in done]
