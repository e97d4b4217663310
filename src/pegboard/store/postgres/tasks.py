"""The outbox in PostgreSQL: what is to be embedded, who has it, and what became of it."""

import threading
from collections.abc import Sequence
from functools import partial

from pegboard.model.items import Fingerprint, Task, Vector
from pegboard.store.hanging import LATELY, a_second, by_task, model_name
from pegboard.store.postgres.database import Connection, Database, Row, run, run_many
from pegboard.store.postgres.fingerprints import fingerprint_key, known_fingerprint
from pegboard.store.postgres.listening import TASKS, Listening
from pegboard.store.postgres.memory import Memory
from pegboard.store.postgres.nearest import Nearest
from pegboard.store.postgres.rows import reading
from pegboard.store.postgres.vector import to_database
from pegboard.store.queries import load
from pegboard.store.reading.tasks import ReadTasks
from pegboard.store.rows import kept_text
from pegboard.text import source_hash

SQL = load("postgres", "tasks")


def adopt(tx: Connection, target: Fingerprint, beside: Fingerprint | None = None) -> None:
    params: dict[str, object] = {
        "fingerprint": fingerprint_key(tx, target),
        "beside": fingerprint_key(tx, beside) if beside else None,
        "model": model_name(target),
        "dimension": target.dimension,
    }
    run(tx, SQL["drop_tasks_of_others"], params)
    run(tx, SQL["adopt"], params)


class PostgresTasks(ReadTasks):
    def __init__(
        self, database: Database, listening: Listening, memory: Memory, nearest: Nearest
    ) -> None:
        super().__init__(reading(database), partial(known_fingerprint, database))
        self._db = database
        self._memory = memory
        self._listening = listening
        self._nearest = nearest
        self._served = ""
        """The namespace that had the last turn."""

    def enqueue(self, target: Fingerprint, texts: Sequence[tuple[int, str, str]]) -> int:
        def work(tx: Connection) -> int:
            fingerprint = fingerprint_key(tx, target)
            wanted = {key: (content, source_hash(text), text) for key, content, text in texts}
            params: dict[str, object] = {
                "keys": list(wanted),
                "contents": [content for content, _, _ in wanted.values()],
                "hashes": [digest for _, digest, _ in wanted.values()],
            }
            run(tx, SQL["lock_items"], params)
            still = sorted(int(row[0]) for row in run(tx, SQL["await_vectors"], params))
            params = {
                "keys": still,
                "hashes": [wanted[key][1] for key in still],
                "texts": [wanted[key][2] for key in still],
                "fingerprint": fingerprint,
            }
            run(tx, SQL["drop_stale_texts"], params)
            run(tx, SQL["drop_other_tasks"], params)
            run(tx, SQL["add_tasks"], params)
            return len(still)

        return self._db.write(work) if texts else 0

    def disable(self) -> int:
        def work(tx: Connection) -> int:
            run(tx, SQL["drop_all_tasks"])
            return len(run(tx, SQL["disable"]))

        return self._db.write(work)

    def adopt(self, target: Fingerprint, beside: Fingerprint | None = None) -> None:
        self._db.write(lambda tx: adopt(tx, target, beside))

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
        params = {"fingerprint": fingerprint, "owner": owner, "limit": limit, "lease": lease}
        tries = 0

        def work(tx: Connection) -> list[Row]:
            nonlocal tries
            tries += 1
            if tries > 1:  # the first may have been committed, and nobody knows of what it took
                run(tx, SQL["release"], params)
            if tried_first and (tried := run(tx, SQL["claim_again"], params)):
                return tried
            fresh = run(tx, SQL["claim_fresh"], params | {"served": self._served})
            if not fresh:
                return run(tx, SQL["claim_again"], params)
            self._served = max((row[-1] for row in fresh), key=lambda n: (n <= self._served, n))
            found = [row[:-1] for row in fresh]
            if len(found) < limit:
                found += run(tx, SQL["claim_more"], params | {"limit": limit - len(found)})
            return found

        return [Task(*row) for row in sorted(self._db.write(work, changes=False))]

    def finish(self, target: Fingerprint, done: Sequence[tuple[Task, Vector]]) -> int:
        """Compare and set: vectors whose item has another text by now are dropped."""
        made = by_task(done)

        def work(tx: Connection) -> int:
            fingerprint = fingerprint_key(tx, target)
            keys = [task.item_key for task in made]
            current: dict[int, str] = dict(run(tx, SQL["lock_items"], {"keys": keys}))
            fitting = [task for task in made if current.get(task.item_key) == task.source_hash]
            run_many(
                tx,
                SQL["hang_vector"],
                [
                    {
                        "key": task.item_key,
                        "fingerprint": fingerprint,
                        "passage": passage,
                        "vector": to_database(vector),
                    }
                    for task in fitting
                    for passage, vector in enumerate(made[task])
                ],
            )
            params: dict[str, object] = {
                "keys": keys,
                "hashes": [task.source_hash for task in made],
                "fingerprint": fingerprint,
            }
            run(tx, SQL["drop_done"], params)
            params = {
                "keys": [task.item_key for task in fitting],
                "model": model_name(target),
                "dimension": target.dimension,
            }
            run(tx, SQL["mark_hung"], params)
            return len(fitting)

        return self._db.write(work) if done else 0

    def fail(self, owner: str, task: Task, error: str, retry_at: float | None) -> None:
        params: dict[str, object] = {
            "id": task.id,
            "key": task.item_key,
            "source_hash": task.source_hash,
            "owner": owner,
            "error": kept_text(error),
            "status": "failed" if retry_at is None else "pending",
            "retry_at": retry_at,
        }

        def work(tx: Connection) -> None:
            if run(tx, SQL["put_back"], params) and retry_at is None:
                run(tx, SQL["mark_failed"], params)

        self._db.write(work)

    def release(self, owner: str, *, died: bool = False) -> int:
        query = SQL["reclaim" if died else "release"]

        def work(tx: Connection) -> int:
            released = len(run(tx, query, {"owner": owner}))
            if released:
                run(tx, SQL["tell_workers"])
            return released

        return self._db.write(work)

    def rest(self, target: Fingerprint, stop: threading.Event) -> None:
        self._nearest.build(target, stop)

    def await_work(self, stop: threading.Event, seconds: float) -> None:
        self._listening.wait(TASKS, stop, seconds)

    def revive(self, item_key: int | None) -> int:
        def work(tx: Connection) -> int:
            revived = [int(row[0]) for row in run(tx, SQL["revive"], {"key": item_key})]
            run(tx, SQL["mark_pending"], {"keys": revived})
            run(tx, SQL["tell_workers"])
            return len(revived)

        return self._db.write(work)

    def waiting(self, target: Fingerprint | None) -> int:
        """Asked at every search, so it is remembered for a moment."""
        return self._memory.recall(f"waiting {target}", partial(super().waiting, target))

    def without_vector(self, target: Fingerprint) -> int:
        """Goes through all items, and is asked at every search while some wait."""
        return self._memory.recall(f"without {target}", partial(super().without_vector, target))

    def pace(self, target: Fingerprint | None) -> tuple[float | None, float]:
        fingerprint = target and known_fingerprint(self._db, target)
        done = self._db.rows(SQL["done_lately"], {"seconds": LATELY})[0]
        return self._db.rows(SQL["oldest"], {"fingerprint": fingerprint})[0][0], a_second(*done)
