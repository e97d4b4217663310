"""Which models a PostgreSQL board has, and whose vectors are searched."""

import json
from typing import Any

from pegboard.errors import BoardCorrupt
from pegboard.model.items import Fingerprint, KeptVectors, Model, ModelSpec, ModelState
from pegboard.store.postgres.database import Connection, Database, run
from pegboard.store.postgres.fingerprints import fingerprint_key, model_name
from pegboard.store.postgres.memory import Memory
from pegboard.store.postgres.nearest import Nearest
from pegboard.store.postgres.tasks import adopt
from pegboard.store.queries import load

SQL = load("postgres", "models")

PRUNED = 2_000
"""Vectors that are removed in one transaction."""


class PostgresModels:
    def __init__(self, database: Database, memory: Memory, nearest: Nearest) -> None:
        self._db = database
        self._memory = memory
        self._nearest = nearest

    def state(self) -> ModelState:
        return self._memory.recall("models", self._read_state)

    def _read_state(self) -> ModelState:
        found: dict[str, Model] = {}
        chosen = False
        for role, by_person, spec, *fingerprint in self._db.rows(SQL["state"]):
            found[role] = Model(Fingerprint(*fingerprint), _spec(spec))
            chosen = by_person
        return ModelState(**found, chosen=chosen)

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
        return self._read_state()

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

    def kept(self) -> list[KeptVectors]:
        return [
            KeptVectors(Fingerprint(*fingerprint), _spec(spec) if spec else None, vectors)
            for spec, vectors, *fingerprint in self._db.rows(SQL["kept"])
        ]

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


def _spec(said: dict[str, Any]) -> ModelSpec:
    """As it was written; a later release may have written more."""
    try:
        return ModelSpec(**{name: said[name] for name in ModelSpec._fields if name in said})
    except TypeError as error:
        raise BoardCorrupt(
            f"how to ask a model is written as {said!r}", "say it again: pegboard model use"
        ) from error
