"""A model that a board remembers, by the fingerprint of the vectors it made."""

from collections.abc import Callable, Sequence

from pegboard.errors import ModelUnavailable, PegboardError
from pegboard.model.items import Fingerprint, Vector
from pegboard.ports.stages import Embedder


class Recalled:
    """Is made when it is first asked, and makes vectors of that kind or none."""

    def __init__(self, fingerprint: Fingerprint, make: Callable[[], Embedder]) -> None:
        self.fingerprint = fingerprint
        self._make = make

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        return self._true().embed(texts)

    def embed_query(self, text: str) -> Vector:
        return self._true().embed_query(text)

    def close(self) -> None:
        """Whoever made it closes it."""

    def _true(self) -> Embedder:
        """Whatever is wrong with the model, a board goes on without it for the time being."""
        try:
            embedder = self._make()
            made = embedder.fingerprint
        except ModelUnavailable:
            raise
        except PegboardError as error:
            raise ModelUnavailable(
                f"{self.fingerprint.key} cannot be asked: {error.message}", error.hint
            ) from error
        # The text version is of the items' texts: a query is compared with old and new ones alike.
        if made._replace(text_version=self.fingerprint.text_version) != self.fingerprint:
            raise ModelUnavailable(
                f"this board's vectors are of {self.fingerprint.key}, and what is there is "
                f"{made.key}",
                "make new vectors with: pegboard model use",
            )
        return embedder
