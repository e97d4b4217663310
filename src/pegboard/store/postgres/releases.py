"""Published items in PostgreSQL."""

import uuid
from functools import partial

from pegboard.errors import BoardUnreachable
from pegboard.model.calls import Caller
from pegboard.model.curation import Event
from pegboard.model.items import Entry, Fingerprint, Item, ItemId, Visibility
from pegboard.model.releases import Action, AuditLine, Decision, Published
from pegboard.store.blobs.large_files import LargeFiles
from pegboard.store.planning import Noted, content_hash, plan_put
from pegboard.store.postgres.audit import act, write_down
from pegboard.store.postgres.database import Connection, Database, run
from pegboard.store.postgres.files import known_and_held
from pegboard.store.postgres.fingerprints import fingerprint_key
from pegboard.store.postgres.history import note
from pegboard.store.postgres.putting import Planned, Putting
from pegboard.store.postgres.rows import READER, reading
from pegboard.store.postgres.stored import Row, item_of, stored
from pegboard.store.postgres.term_index import write_spelling
from pegboard.store.postgres.versions import add_version
from pegboard.store.queries import load
from pegboard.store.reading.releases import ReadReleases
from pegboard.store.releasing import (
    Kept,
    Standing,
    check_release,
    decided,
    gone,
    plan_release,
    plan_yank,
)
from pegboard.store.rows import is_storable, kept_text

SQL = load("postgres", "releases")
ITEM_SQL = load("postgres", "items")


class PostgresReleases(ReadReleases):
    def __init__(self, database: Database, files: LargeFiles) -> None:
        super().__init__(reading(database))
        self._db = database
        self._files = files

    def publish(
        self, item: Item, target: Fingerprint | None, by: str, caller: Caller | None = None
    ) -> Published:
        who, left = self._who(by), list[Published]()

        def work(tx: Connection) -> Published:
            fingerprint = fingerprint_key(tx, target) if target else None
            lying = uploads.keys(partial(known_and_held, tx))
            putting = Putting(tx, target, fingerprint, None, lying, by=who)
            done = _publish(putting, item, caller)
            if left and done.state == "unchanged":  # it was committed, and nobody heard of it
                return left[0]
            if done.state == "published":
                left.append(done)
            return done

        if refusal := check_release(item):
            return Published("refused", refused=refusal)
        with self._files.uploaded([item], unsure=(BoardUnreachable,)) as uploads:
            return self._db.write(work, tell=True)

    def yank(
        self,
        entry: Entry,
        number: str,
        *,
        yanked: bool,
        by: str,
        reason: str = "",
        becomes: Item | None,
        target: Fingerprint | None,
    ) -> bool:
        who, done = self._who(by), list[bool]()

        def work(tx: Connection) -> bool:
            row = next(iter(stored(tx, entry)), None)
            if row is None:
                raise gone(entry.item)
            kept = _kept(tx, row["key"])
            plan = plan_yank(entry.item, kept, number, becomes, yanked=yanked)
            if not plan.changes:
                return bool(done)  # or it was committed, and nobody heard of it
            act(tx, who, Action.YANK if yanked else Action.UNYANK, reason)
            params: dict[str, object] = {"key": row["key"], "version": number, "yanked": yanked}
            run(tx, SQL["yank"], params | {"by": who, "reason": kept_text(reason)})
            if becomes is None:
                _unhang(tx, row["key"], who)
            elif plan.hangs != row["latest_version"] or row["drift"] == "missing":
                fingerprint = fingerprint_key(tx, target) if target else None
                _hang(Putting(tx, target, fingerprint, None, {}), becomes)
            done.append(True)
            return True

        return self._db.write(work, tell=True)

    def decide(self, entry: Entry, decision: Decision, by: str) -> Entry | None:
        who = self._who(by)

        def work(tx: Connection) -> Entry | None:
            for row in stored(tx, entry):
                _decide(tx, row, decision, who)
            after = [READER.entry(row) for row in stored(tx, entry)]
            return after[0] if after else None

        return self._db.write(work, tell=True)

    def count_download(self, item_id: ItemId, namespace: str, number: str) -> None:
        params: dict[str, object] = {"id": item_id, "namespace": namespace, "version": number}
        before: dict[int, int] = {}

        def work(tx: Connection) -> None:
            if run(tx, SQL["is_bound"]) == [(True,)]:
                run(tx, SQL["count_for_caller"], params)
                return
            for key, count in run(tx, SQL["counted"], params):
                if before.setdefault(key, count) == count:  # else it was committed already
                    run(tx, SQL["count_version"], params | {"key": key})
                    run(tx, SQL["count_item"], {"key": key})

        if is_storable(item_id, namespace, number):
            self._db.write(work, changes=False)

    def note(self, line: AuditLine) -> None:
        uid = uuid.uuid4()
        self._db.write(lambda tx: write_down(tx, line, uid), changes=False)

    def _who(self, by: str) -> str:
        """A caller decides in no other name."""
        return kept_text(by) if self._db.caller is None else self._db.caller.subject


def _publish(putting: Putting, item: Item, caller: Caller | None) -> Published:
    tx, who = putting.tx, putting.by or ""
    existing = putting.existing([item]).get((item.namespace, item.id))
    standing = _standing(tx, existing.key) if existing else None
    kept = _kept(tx, existing.key) if existing else []
    release = plan_release(item, existing, standing, kept, caller)
    if release.told.state != "published":
        return release.told
    act(tx, who, Action.PUBLISH)
    if existing is None or release.hangs:
        putting.write([Planned(plan_put(release.item, existing, None), existing)])
    else:
        add_version(tx, existing.key, release.item, putting.lying, who)
    return release.told


def _standing(tx: Connection, key: int) -> Standing:
    [(author, visibility, deprecated, replacement, latest)] = run(tx, SQL["standing"], {"key": key})
    return Standing(author, Visibility(visibility), deprecated, replacement, latest)


def _kept(tx: Connection, key: int) -> list[Kept]:
    return [Kept(*row) for row in run(tx, SQL["kept"], {"key": key})]


def _unhang(tx: Connection, key: int, by: str) -> None:
    run(tx, SQL["unhang"], {"key": key})
    run(tx, ITEM_SQL["drop_tasks_of"], {"keys": [key]})
    note(tx, [(key, Noted(Event.MISSING, "every version was taken back"))], by)


def _hang(putting: Putting, item: Item) -> None:
    """The item in one of its versions, which is there with its files."""
    existing = putting.existing([item])[item.namespace, item.id]
    held = _standing(putting.tx, existing.key).hold(item)
    putting.hang([Planned(plan_put(held, existing, None), existing)])


def _decide(tx: Connection, row: Row, decision: Decision, by: str) -> None:
    after, lines = decided(item_of(tx, row), decision)
    if not lines:
        return
    act(tx, by, lines[0][0])
    params: dict[str, object] = {
        "key": row["key"],
        "author": after.author,
        "visibility": after.visibility.value,
        "deprecated": after.deprecated,
        "replacement": after.replacement,
        "content_hash": content_hash(after),
    }
    run(tx, SQL["decide"], params)
    write_spelling(tx, [after])
