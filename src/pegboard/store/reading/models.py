"""Which models a board has vectors of, and whose are searched."""

import json
from typing import Any

from pegboard.errors import BoardCorrupt
from pegboard.model.items import (
    Calibration,
    Fingerprint,
    KeptVectors,
    Model,
    ModelSpec,
    ModelState,
)
from pegboard.store.reading.database import Reading


class ReadModels:
    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._sql = reading.sql("models")

    def state(self) -> ModelState:
        found: dict[str, Model] = {}
        chosen, calibration = False, None
        rows = self._reading.database.rows(self._sql["state"])
        for role, by_person, calibrated, spec, *fingerprint in rows:
            found[role] = Model(Fingerprint(*fingerprint), _spec(spec))
            chosen = bool(by_person)
            if role == "active":
                calibration = _calibration(calibrated)
        return ModelState(**found, chosen=chosen, calibration=calibration)

    def kept(self) -> list[KeptVectors]:
        return [
            KeptVectors(
                Fingerprint(*fingerprint),
                _spec(spec) if spec else None,
                vectors,
                _calibration(calibrated),
            )
            for spec, calibrated, vectors, *fingerprint in self._reading.database.rows(
                self._sql["kept"]
            )
        ]


def _spec(written: object) -> ModelSpec:
    """From an object or the JSON of one; a later release may have written more into it."""
    try:
        said: Any = json.loads(written) if isinstance(written, str) else written
        return ModelSpec(**{name: said[name] for name in ModelSpec._fields if name in said})
    except (ValueError, TypeError) as error:
        raise BoardCorrupt(
            f"how to ask a model is written as {written!r}", "say it again: pegboard model use"
        ) from error


def _calibration(written: object) -> Calibration | None:
    """Return what was measured; None for what cannot be read, which is measured again."""
    try:
        said: Any = json.loads(written) if isinstance(written, str) else written
        return Calibration(
            slope=float(said["slope"]),
            offset=float(said["offset"]),
            items=int(said["items"]),
            questions=int(said["questions"]),
            at=float(said["at"]),
        )
    except (ValueError, TypeError, KeyError):
        return None
