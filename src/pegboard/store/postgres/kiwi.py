"""Items from a database of old on a PostgreSQL board: all that a put does not know about them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pegboard.model.content import Version
from pegboard.model.items import Fingerprint, Item, Rejection, Vector
from pegboard.store.hanging import model_name
from pegboard.store.postgres.database import Connection, run, run_many
from pegboard.store.postgres.fingerprints import fingerprint_key
from pegboard.store.postgres.putting import Putting
from pegboard.store.postgres.rows import as_rows
from pegboard.store.postgres.store import PostgresStore
from pegboard.store.postgres.vector import to_database
from pegboard.store.queries import load

SQL = load("postgres", "kiwi")
TASK_SQL = load("postgres", "tasks")


class CarriedVersion(NamedTuple):
    uid: str
    version: Version
    said: str | None = None
    """The number it had, which may be none that a board can have."""
    created_at: str | None = None
    nulls: tuple[str, ...] = ()
    marked: bool = False
    """Whether the old row called it the latest."""


class Carried(NamedTuple):
    """An admitted item with what it was before: its UUID, counts and times, and every version."""

    item: Item
    uid: str
    download_count: int = 0
    quality_score: float | None = None
    success_rate: float | None = None
    estimated_cost_usd: float | None = None
    created_at: str | None = None
    updated_at: str | None = None
    versions: tuple[CarriedVersion, ...] = ()
    nulls: tuple[str, ...] = ()
    """Columns that were empty and cannot be here: old readers are shown them empty."""


class Relation(NamedTuple):
    """Between two knowledge entries, by their ids on the board."""

    from_id: str
    to_id: str
    kind: str
    id: str | None = None
    created_at: str | None = None


class There(NamedTuple):
    """Something on the board that has to do with an old row."""

    id: str
    uid: str
    source: str
    origin: str
    origin_hash: str
    active: bool
    text_version: int
    embedding_status: str
    source_hash: str
    manual_override: bool
    description: str
    retagged: bool
    tags: list[str]

    def as_decided(self, item: Item) -> Item:
        """What an old row says of the item, under what a person said of it here."""
        if self.manual_override:
            item = item._replace(description=self.description)
        return item._replace(tags=tuple(self.tags)) if self.retagged else item


class OldVector(NamedTuple):
    """A vector with the hash of the text that it stands for."""

    vector: Vector
    source_hash: str


class Put(NamedTuple):
    refused: tuple[Rejection, ...] = ()
    hung: frozenset[str] = frozenset()
    """Ids of the items that got a vector."""


class Wanted(NamedTuple):
    """By what the board is asked whether old rows are on it, or something in their place."""

    ids: Sequence[str]
    uids: Sequence[str]
    origins: Sequence[str]
    version_uids: Sequence[str]


class KiwiBoard:
    """Everything under one source and one namespace."""

    def __init__(
        self, store: PostgresStore, source: str, namespace: str, target: Fingerprint | None
    ) -> None:
        self._store = store
        self._db = store.database
        self._target = target
        self._at: dict[str, object] = {"source": source, "namespace": namespace}

    def there(self, wanted: Wanted) -> list[There]:
        return [There(*row) for row in self._db.rows(SQL["there"], self._asked(wanted))]

    def versions_elsewhere(self, wanted: Wanted) -> dict[str, str]:
        """Those of these versions' UUIDs that others have: the id of the item that does."""
        return dict(self._db.rows(SQL["versions_elsewhere"], self._asked(wanted)))

    def _asked(self, wanted: Wanted) -> dict[str, object]:
        return self._at | {name: list(values) for name, values in wanted._asdict().items()}

    def put(self, carried: Sequence[Carried], vectors: Mapping[str, OldVector]) -> Put:
        """Each whole or not at all, in one transaction with the vectors.

        `vectors` has, by id, those that are to be hung, of these items or of others.
        """

        def work(tx: Connection) -> Put:
            fingerprint = fingerprint_key(tx, self._target) if self._target else None
            refused = self._put(tx, carried, fingerprint) if carried else ()
            if fingerprint is None or not vectors:
                return Put(refused)
            return Put(refused, self._hang(tx, vectors, fingerprint))

        return self._db.write(work, tell=True) if carried or vectors else Put()

    def _put(
        self, tx: Connection, carried: Sequence[Carried], fingerprint: int | None
    ) -> tuple[Rejection, ...]:
        items = [each.item for each in carried]
        named = {"ids": [i.id for i in items], "origins": [i.origin for i in items]}
        run(tx, SQL["drop_renamed"], self._at | named)
        run(tx, SQL["set_aside"], self._at | named)
        put = Putting(tx, self._target, fingerprint, None, {}).put(items, rewrite=False)
        refused = {each.origin for each in put.refused}
        moved = [each for each in carried if each.item.origin not in refused]
        rows = as_rows([_item_row(each) for each in moved])
        keys: dict[str, int] = dict(run(tx, SQL["carry"], self._at | {"rows": rows}))
        run(tx, SQL["drop_versions"], {"keys": list(keys.values())})
        self._add_versions(tx, [(keys[each.item.id], v) for each in moved for v in each.versions])
        self._remember(tx, moved, keys)
        return put.refused

    def _add_versions(self, tx: Connection, versions: Sequence[tuple[int, CarriedVersion]]) -> None:
        rows = [_version_row(key, each) for key, each in versions]
        run(tx, SQL["add_versions"], self._at | {"rows": as_rows(rows)})
        # Files stay in the database, however large: there the views for old readers find them.
        files: list[Mapping[str, object]] = [
            self._at
            | {
                "uid": each.uid,
                "path": file.path,
                "media_type": file.media_type,
                "sha256": file.sha256,
                "size_bytes": len(file.content),
                "executable": file.executable,
                "content": file.content,
            }
            for _, each in versions
            for file in each.version.files
        ]
        if files:
            run_many(tx, SQL["add_file"], files)

    def _remember(self, tx: Connection, moved: Sequence[Carried], keys: Mapping[str, int]) -> None:
        """What old readers are shown instead of what is here."""
        run(tx, SQL["forget"], {"keys": list(keys.values())})
        rows = [row for each in moved for row in _differences(keys[each.item.id], each)]
        if rows:
            run(tx, SQL["remember"], self._at | {"rows": as_rows(rows)})

    def _hang(
        self, tx: Connection, vectors: Mapping[str, OldVector], fingerprint: int
    ) -> frozenset[str]:
        """As a worker that has just embedded them: only while items wait, and have that text."""
        hashes = [each.source_hash for each in vectors.values()]
        waiting = run(tx, SQL["waiting"], self._at | {"ids": list(vectors), "hashes": hashes})
        rows: list[Mapping[str, object]] = [
            {
                "key": key,
                "fingerprint": fingerprint,
                "passage": 0,
                "vector": to_database(vectors[item_id].vector),
            }
            for key, item_id, _ in waiting
        ]
        if not rows or self._target is None:
            return frozenset()
        run_many(tx, TASK_SQL["hang_vector"], rows)
        params: dict[str, object] = {
            "keys": [key for key, _, _ in waiting],
            "hashes": [source_hash for _, _, source_hash in waiting],
            "fingerprint": fingerprint,
            "model": model_name(self._target),
            "dimension": self._target.dimension,
        }
        run(tx, TASK_SQL["drop_done"], params)
        run(tx, TASK_SQL["mark_hung"], params)
        return frozenset(item_id for _, item_id, _ in waiting)

    def related(self) -> set[tuple[str, str, str]]:
        return {(a, b, kind) for a, b, kind in self._db.rows(SQL["related"], self._at)}

    def relate(self, relations: Sequence[Relation]) -> None:
        rows = as_rows([each._asdict() for each in relations])
        self._db.write(lambda tx: run(tx, SQL["relate"], self._at | {"rows": rows}))

    def index(self) -> None:
        """What many vectors and many words need to be found quickly."""
        self._store.items.take_census()
        if self._target is not None:
            self._store.nearest.build(self._target)


def _item_row(each: Carried) -> dict[str, Any]:
    left = ("item", "versions", "nulls")
    named = {name: value for name, value in each._asdict().items() if name not in left}
    return named | {"id": each.item.id}


def _differences(key: int, each: Carried) -> Iterator[dict[str, Any]]:
    """Of an item and of its versions, if something of them is not as it was."""
    if each.nulls:
        yield {"item_key": key, "version": "", "columns": list(each.nulls), "number": None}
    for old in each.versions:
        number = old.version.version
        said = None if old.said == number else old.said
        if old.nulls or said is not None:
            yield {
                "item_key": key,
                "version": number,
                "columns": list(old.nulls),
                "number": said,
            }


def _version_row(key: int, each: CarriedVersion) -> dict[str, Any]:
    return {
        "uid": each.uid,
        "item_key": key,
        "version": each.version.version,
        "manifest": dict(each.version.manifest),
        "content_hash": each.version.content_hash,
        "changelog": each.version.changelog,
        "created_at": each.created_at,
    }
