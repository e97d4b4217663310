"""Models with the rights of a caller: which there are is for everybody, to choose is not."""

from pegboard.model.items import Calibration, Fingerprint, KeptVectors, Model, ModelState
from pegboard.store.seen.rights import Rights, of_the_whole


class SeenModels:
    def __init__(self, rights: Rights) -> None:
        self._seen = rights.seen.models

    def state(self) -> ModelState:
        return self._seen.state()

    def kept(self) -> list[KeptVectors]:
        """With as many vectors as the caller's items have."""
        return self._seen.kept()

    def want(self, model: Model, *, chosen: bool) -> ModelState:
        raise of_the_whole("choose a model")

    def activate(self, target: Fingerprint, *, skip_failed: bool = False) -> bool:
        raise of_the_whole("choose a model")

    def calibrate(self, target: Fingerprint, calibration: Calibration) -> None:
        raise of_the_whole("calibrate a model")

    def prune(self) -> int:
        raise of_the_whole("remove vectors")
