"""Which models a PostgreSQL board has, and whose vectors are searched."""

import json

from pegboard.model.items import Calibration, Fingerprint, Model, ModelState
from pegboard.store.hanging import model_name
from pegboard.store.postgres.database import Connection, Database, run
from pegboard.store.postgres.fingerprints import fingerprint_key
from pegboard.store.postgres.memory import Memory
from pegboard.store.postgres.nearest import Nearest
from pegboard.store.postgres.rows import reading
from pegboard.store.postgres.tasks import adopt
from pegboard.store.queries import load
from pegboard.store.reading.models import ReadModels

SQL = load("postgres", "models")

PRUNED = 2_000
"""Vectors that are removed in one transaction."""


class PostgresModels(ReadModels):
    def __init__(self, database: Database, memory: Memory, nearest: Nearest) -> None:
        super().__init__(reading(database))
        self._db = database
        self._memory = memory
        self._nearest = nearest

    def state(self) -> ModelState:
        return self._memory.recall("models", super().state)

    def want(self, model: Model, *, chosen: bool) -> ModelState:
        def work(tx: Connection) -> None:
            params: dict[str, object] = {
                "fingerprint": fingerprint_key(tx, model.fingerprint),
                "spec": json.dumps(model.spec._asdict()),
                "chosen": chosen,
            }
            run(tx, SQL["choice"])  # whoever else chooses waits
            run(tx, SQL["remember"], params)
            if not run(tx, SQL["want"], params):
                run(tx, SQL["build"], params)

        self._db.write(work, tell=True)
        return super().state()

    def activate(self, target: Fingerprint, *, skip_failed: bool = False) -> bool:
        if self._nearest.owes_index(target):
            return False  # whoever makes it when the rush is over comes here again

        def work(tx: Connection) -> bool:
            params: dict[str, object] = {
                "fingerprint": fingerprint_key(tx, target),
                "dimension": target.dimension,
                "model": model_name(target),
                "skip_failed": skip_failed,
            }
            [(active, wanted)] = run(tx, SQL["choice"])
            if wanted != params["fingerprint"]:
                return bool(active == params["fingerprint"])
            if run(tx, SQL["lacking"], params):
                return False
            run(tx, SQL["switch"], params)
            adopt(tx, target)
            run(tx, SQL["rename_model"], params)
            return True

        return self._db.write(work, tell=True)

    def calibrate(self, target: Fingerprint, calibration: Calibration) -> None:
        def work(tx: Connection) -> None:
            params: dict[str, object] = {
                "fingerprint": fingerprint_key(tx, target),
                "calibration": json.dumps(calibration._asdict()),
            }
            run(tx, SQL["calibrate"], params)

        self._db.write(work, tell=True)

    def prune(self) -> int:
        removed = 0
        while unused := self._db.rows(SQL["unused"]):
            removed += self._prune(int(unused[0][0]))
        return removed

    def _prune(self, fingerprint: int) -> int:
        params: dict[str, object] = {"fingerprint": fingerprint, "limit": PRUNED}
        self._nearest.drop(fingerprint)

        def work(tx: Connection) -> int:
            gone = len(run(tx, SQL["prune_vectors"], params))
            if gone < PRUNED:
                run(tx, SQL["forget"], params)
            return gone

        return self._db.write(work, tell=True)
