"""What sources and embedders promise, and who is told of long work."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from pegboard.model.items import Finding, Fingerprint, Vector


class Progress(Protocol):
    """Is told how far a long piece of work has come; `total` is None while it is not known."""

    def __call__(self, step: str, done: int, total: int | None) -> None: ...


def quiet(step: str, done: int, total: int | None) -> None:
    """Progress that nobody watches."""


class Source(Protocol):
    """A place where candidates come from."""

    def scan(self, known: Mapping[str, str], under: Sequence[str] = ()) -> Iterator[Finding]:
        """Everything that is there now, or at least what is at or under the paths in `under`.

        `known` maps an origin to the content hash it had last time; an origin whose hash is the
        same may be answered with `Unchanged`. Raises `SourceError` if the source as a whole cannot
        be read; whatever is wrong with one origin is a `Rejection`.
        """
        ...


class Embedder(Protocol):
    """Turns text into vectors that can be compared with one another, and with no others."""

    @property
    def fingerprint(self) -> Fingerprint: ...

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector for each text, in order. A text's vector does not depend on its neighbours."""
        ...

    def embed_query(self, text: str) -> Vector: ...

    def close(self) -> None:
        """End whatever it runs in the background."""
        ...
