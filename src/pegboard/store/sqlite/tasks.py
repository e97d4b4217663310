"""The outbox in SQLite: what is to be embedded, who has it, and what became of it."""

import threading
import time
from collections.abc import Sequence
from functools import partial

import apsw

from pegboard.model.items import Fingerprint, Task, Vector
from pegboard.store.hanging import ENOUGH, LATELY, a_second, by_task, model_name
from pegboard.store.queries import load
from pegboard.store.reading.tasks import ReadTasks
from pegboard.store.rows import kept_text
from pegboard.store.sqlite.database import Database, Params, Row, Value
from pegboard.store.sqlite.fingerprints import fingerprint_key, known_fingerprint
from pegboard.store.sqlite.rows import reading
from pegboard.store.sqlite.sealing import BLOCK, Family, compact, seal
from pegboard.text import source_hash

SQL = load("sqlite", "tasks")

LOOK_SECONDS = 0.25
"""Between two looks at whether anybody has written to the board: each costs microseconds."""


def adopt(tx: apsw.Connection, target: Fingerprint, beside: Fingerprint | None = None) -> None:
    params: dict[str, Value] = {
        "fingerprint": fingerprint_key(tx, target),
        "beside": fingerprint_key(tx, beside) if beside else None,
        "model": model_name(target),
        "dimension": target.dimension,
    }
    tx.execute(SQL["drop_tasks_of_others"], params)
    tx.execute(SQL["adopt"], params)


class SqliteTasks(ReadTasks):
    def __init__(self, database: Database, block: int = BLOCK) -> None:
        super().__init__(reading(database), partial(known_fingerprint, database))
        self._db = database
        self._block = block
        self._seen = threading.local()
        self._served = ""
        """The namespace after which the next turn begins, where there are too many for one."""

    def enqueue(self, target: Fingerprint, texts: Sequence[tuple[int, str, str]]) -> int:
        queued = 0
        with self._db.write() as tx:
            now = time.time()
            fingerprint = fingerprint_key(tx, target)
            for key, content_hash, text in texts:
                params: dict[str, Value] = {
                    "key": key,
                    "content_hash": content_hash,
                    "source_hash": source_hash(text),
                    "fingerprint": fingerprint,
                    "text": text,
                    "now": now,
                }
                if tx.execute(SQL["await_vector"], params).fetchone() is None:
                    continue
                tx.execute(SQL["drop_stale_vectors"], params)
                tx.execute(SQL["drop_other_tasks"], params)
                tx.execute(SQL["add_task"], params)
                queued += 1
        return queued

    def disable(self) -> int:
        with self._db.write() as tx:
            tx.execute(SQL["drop_all_tasks"])
            return len(list(tx.execute(SQL["disable"])))

    def claim(
        self,
        target: Fingerprint,
        owner: str,
        limit: int,
        lease: float,
        *,
        tried_first: bool = False,
    ) -> list[Task]:
        fingerprint = known_fingerprint(self._db, target)
        if fingerprint is None:
            return []
        params: dict[str, Value] = {"fingerprint": fingerprint, "owner": owner, "limit": limit}
        if not self._db.rows(SQL["due"], {**params, "now": time.time()}):
            return []  # without waiting for the write lock
        with self._db.write() as tx:
            now = time.time()  # a lease that began while others wrote could be over by now
            params |= {"now": now, "lease_until": now + lease}
            rows = list(tx.execute(SQL["claim_again"], params)) if tried_first else []
            rows = rows or self._claim_in_turn(tx, params, limit)
            return [Task(*row) for row in rows or tx.execute(SQL["claim_again"], params)]

    def _claim_in_turn(self, tx: apsw.Connection, params: Params, limit: int) -> list[Row]:
        """The same number of each namespace, and what some have not got, of the others."""
        waiting = self._next_namespaces(tx, params, limit)
        taken: list[Row] = []
        while waiting and len(taken) < limit:
            share = max((limit - len(taken)) // len(waiting), 1)
            for namespace in waiting[: limit - len(taken)]:
                wanted = {**params, "namespace": namespace, "limit": share}
                found = list(tx.execute(SQL["claim_fresh"], wanted))
                taken += found
                if len(found) < share:
                    waiting = [each for each in waiting if each != namespace]
        return taken

    def _next_namespaces(self, tx: apsw.Connection, params: Params, limit: int) -> list[str]:
        """Those with fresh tasks, from the one after the last that was served, once round."""
        served = self._served
        ahead = [row[0] for row in tx.execute(SQL["namespaces"], {**params, "after": served})]
        again = tx.execute(SQL["namespaces"], {**params, "after": ""}) if len(ahead) < limit else ()
        found = [*ahead, *(row[0] for row in again if row[0] <= served)][:limit]
        self._served = found[-1] if len(found) == limit else ""
        return found

    def finish(self, target: Fingerprint, done: Sequence[tuple[Task, Vector]]) -> int:
        hung = 0
        with self._db.write() as tx:
            fingerprint = fingerprint_key(tx, target)
            common = {
                "fingerprint": fingerprint,
                "model": model_name(target),
                "dimension": target.dimension,
                "now": time.time(),
            }
            for task, vectors in by_task(done).items():
                params = common | {"item_key": task.item_key, "source_hash": task.source_hash}
                fits = True
                for passage, vector in enumerate(vectors):
                    own = {**params, "passage": passage, "vector": vector}
                    fits = fits and tx.execute(SQL["hang_vector"], own).fetchone() is not None
                tx.execute(SQL["drop_task"], params)
                if fits:
                    tx.execute(SQL["mark_hung"], params)
                    hung += 1
            self._seal(tx, Family(fingerprint, target.dimension), len(done))
        return hung

    def _seal(self, tx: apsw.Connection, family: Family, hung: int) -> None:
        """No more than is due, as others wait; old blocks are looked at when there is a new one."""
        due = hung // self._block + 1
        while due and seal(tx, family, self._block):
            due -= 1
        if due <= hung // self._block:
            compact(tx, family, self._block)

    def _seal_all(self, target: Fingerprint) -> None:
        """A block at a time, for a board that has many: one from before there were blocks."""
        more = True
        while more:
            with self._db.write() as tx:
                family = Family(fingerprint_key(tx, target), target.dimension)
                more = seal(tx, family, self._block) or compact(tx, family, self._block)

    def fail(self, owner: str, task: Task, error: str, retry_at: float | None) -> None:
        params: dict[str, Value] = {
            "id": task.id,
            "item_key": task.item_key,
            "source_hash": task.source_hash,
            "owner": owner,
            "error": kept_text(error),
            "status": "failed" if retry_at is None else "pending",
            "next_attempt_at": retry_at or 0.0,
            "now": time.time(),
        }
        with self._db.write() as tx:
            still_held = tx.execute(SQL["put_back"], params).fetchone() is not None
            if still_held and retry_at is None:
                tx.execute(SQL["mark_failed"], params)

    def release(self, owner: str, *, died: bool = False) -> int:
        query = SQL["reclaim" if died else "release"]
        with self._db.write() as tx:
            return len(list(tx.execute(query, {"owner": owner, "now": time.time()})))

    def rest(self, target: Fingerprint, stop: threading.Event) -> None:
        """Codes are sealed as vectors are hung, so there is nothing left to do."""

    def await_work(self, stop: threading.Event, seconds: float) -> None:
        self.await_change(stop, seconds)

    def await_change(self, stop: threading.Event, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        before: tuple[int, int] | None = getattr(self._seen, "moment", None)
        while not stop.wait(max(min(LOOK_SECONDS, deadline - time.monotonic()), 0.0)):
            self._seen.moment = self._db.moment()
            if self._seen.moment != before:
                return True
            if time.monotonic() >= deadline:
                break
        return False

    def revive(self, item_key: int | None) -> int:
        with self._db.write() as tx:
            params = {"item_key": item_key, "now": time.time()}
            revived = [row[0] for row in tx.execute(SQL["revive"], params)]
            tx.executemany(SQL["mark_pending"], [{"item_key": key} for key in revived])
        return len(revived)

    def adopt(self, target: Fingerprint, beside: Fingerprint | None = None) -> None:
        with self._db.write() as tx:
            adopt(tx, target, beside)
        for each in filter(None, (target, beside)):
            self._seal_all(each)

    def pace(self, target: Fingerprint | None) -> tuple[float | None, float]:
        now, fingerprint = time.time(), target and known_fingerprint(self._db, target)
        params: Params = {"fingerprint": fingerprint, "most": ENOUGH, "since": now - LATELY}
        done, since = self._db.rows(SQL["done_lately"], params)[0]
        return self._db.rows(SQL["oldest"], params)[0][0], a_second(done, since, now)
