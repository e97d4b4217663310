"""Items in PostgreSQL: put, approve, retire."""

from collections.abc import Sequence
from functools import partial

from pegboard.errors import BoardUnreachable
from pegboard.model.calls import OnChange
from pegboard.model.curation import Event
from pegboard.model.items import Entry, Fingerprint, Item, PutReport
from pegboard.model.releases import Action
from pegboard.store.blobs.large_files import LargeFiles
from pegboard.store.planning import EVERY_CHANGE, Noted, check_sources, definition_hash
from pegboard.store.postgres.audit import act
from pegboard.store.postgres.database import Connection, Database, Params, run
from pegboard.store.postgres.files import known_and_held
from pegboard.store.postgres.fingerprints import fingerprint_key
from pegboard.store.postgres.history import note
from pegboard.store.postgres.putting import Putting, queue_again
from pegboard.store.postgres.rows import reading
from pegboard.store.postgres.words import Words
from pegboard.store.queries import load
from pegboard.store.reading.items import ReadItems
from pegboard.store.rows import storable

SQL = load("postgres", "items")


class PostgresItems(ReadItems):
    def __init__(self, database: Database, words: Words, files: LargeFiles) -> None:
        super().__init__(reading(database), files)
        self._db = database
        self._words = words

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

    def retire(
        self, source: str, seen: Sequence[str], began: float, purge_before: float
    ) -> tuple[int, int]:
        params: dict[str, object] = {
            "source": source,
            "seen": storable(seen),
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
            "under": storable(under),
            "seen": storable(seen),
            "began": began,
        }

        def work(tx: Connection) -> int:
            keys = _keys(tx, SQL["retire_under"], params)
            run(tx, SQL["drop_tasks_of"], {"keys": keys})
            note(tx, [(key, Noted(Event.MISSING)) for key in keys])
            return len(keys)

        return self._db.write(work, tell=True)

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

    def take_census(self) -> None:
        self._words.take_census()


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
