"""Which models a SQLite board has, and whose vectors are searched."""

import json

from pegboard.model.items import Calibration, Fingerprint, Model, ModelState
from pegboard.store.hanging import model_name
from pegboard.store.queries import load
from pegboard.store.reading.models import ReadModels
from pegboard.store.sqlite.database import Database, Value
from pegboard.store.sqlite.fingerprints import fingerprint_key
from pegboard.store.sqlite.rows import reading
from pegboard.store.sqlite.tasks import adopt

SQL = load("sqlite", "models")

PRUNED = 2_000
"""Vectors that are removed in one transaction."""


class SqliteModels(ReadModels):
    def __init__(self, database: Database) -> None:
        super().__init__(reading(database))
        self._db = database

    def want(self, model: Model, *, chosen: bool) -> ModelState:
        with self._db.write() as tx:
            params: dict[str, Value] = {
                "fingerprint": fingerprint_key(tx, model.fingerprint),
                "spec": json.dumps(model.spec._asdict()),
                "chosen": int(chosen),
            }
            tx.execute(SQL["remember"], params)
            if tx.execute(SQL["want"], params).fetchone() is None:
                tx.execute(SQL["build"], params)
        return self.state()

    def activate(self, target: Fingerprint, *, skip_failed: bool = False) -> bool:
        with self._db.write() as tx:
            params: dict[str, Value] = {
                "fingerprint": fingerprint_key(tx, target),
                "dimension": target.dimension,
                "model": model_name(target),
                "skip_failed": int(skip_failed),
            }
            active, wanted = next(tx.execute(SQL["choice"]))
            if wanted != params["fingerprint"]:
                return bool(active == params["fingerprint"])
            if tx.execute(SQL["lacking"], params).fetchone() is not None:
                return False
            tx.execute(SQL["switch"], params)
            adopt(tx, target)
            tx.execute(SQL["rename_model"], params)
        return True

    def calibrate(self, target: Fingerprint, calibration: Calibration) -> None:
        with self._db.write() as tx:
            params: dict[str, Value] = {
                "fingerprint": fingerprint_key(tx, target),
                "calibration": json.dumps(calibration._asdict()),
            }
            tx.execute(SQL["calibrate"], params)

    def prune(self) -> int:
        removed = 0
        while True:
            with self._db.write() as tx:
                unused = tx.execute(SQL["unused"]).fetchone()
                if unused is None:
                    return removed
                params: dict[str, Value] = {"fingerprint": unused[0], "limit": PRUNED}
                tx.execute(SQL["prune_blocks"], params)
                gone = len(list(tx.execute(SQL["prune_vectors"], params)))
                if gone < PRUNED:
                    tx.execute(SQL["forget"], params)
                removed += gone
