"""Which models a SQLite board has, and whose vectors are searched."""

import json

from pegboard.errors import BoardCorrupt
from pegboard.model.items import Fingerprint, KeptVectors, Model, ModelSpec, ModelState
from pegboard.store.queries import load
from pegboard.store.sqlite.database import Database, Value
from pegboard.store.sqlite.tasks import adopt, fingerprint_key, model_name

SQL = load("sqlite", "models")

PRUNED = 2_000
"""Vectors that are removed in one transaction."""


class SqliteModels:
    def __init__(self, database: Database) -> None:
        self._db = database

    def state(self) -> ModelState:
        found: dict[str, Model] = {}
        chosen = False
        for role, by_person, spec, *fingerprint in self._db.rows(SQL["state"]):
            found[role] = Model(Fingerprint(*fingerprint), _spec(spec))
            chosen = bool(by_person)
        return ModelState(**found, chosen=chosen)

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

    def kept(self) -> list[KeptVectors]:
        return [
            KeptVectors(Fingerprint(*fingerprint), _spec(spec) if spec else None, vectors)
            for spec, vectors, *fingerprint in self._db.rows(SQL["kept"])
        ]

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


def _spec(text: str) -> ModelSpec:
    """As it was written; a later release may have written more."""
    try:
        said = json.loads(text)
        return ModelSpec(**{name: said[name] for name in ModelSpec._fields if name in said})
    except (ValueError, TypeError) as error:
        raise BoardCorrupt(
            f"how to ask a model is written as {text!r}", "say it again: pegboard model use"
        ) from error
