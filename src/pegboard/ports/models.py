"""What a store promises about the models whose vectors it has."""

from typing import Protocol

from pegboard.model.items import Calibration, Fingerprint, KeptVectors, Model, ModelState


class Models(Protocol):
    """Which model's vectors are searched. Each change is one transaction."""

    def state(self) -> ModelState:
        """As it is now, whichever process changed it; asked at every search."""
        ...

    def want(self, model: Model, *, chosen: bool) -> ModelState:
        """Build this model's vectors beside the active ones; wanting the active one ends that.

        It is active at once if no other is, or if the active one has no vector.
        """
        ...

    def activate(self, target: Fingerprint, *, skip_failed: bool = False) -> bool:
        """Search by these vectors from now on, if they are wanted still and no active item lacks
        one; with `skip_failed`, none but those that were given up. Says whether they are active.
        """
        ...

    def calibrate(self, target: Fingerprint, calibration: Calibration) -> None:
        """Store the scale of a model that the board remembers, in place of an earlier one."""
        ...

    def kept(self) -> list[KeptVectors]: ...

    def prune(self) -> int:
        """Remove vectors of models that are neither active, wanted nor previous; returns how many.

        A little at a time, so that nobody has to wait for it.
        """
        ...
