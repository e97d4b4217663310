"""The seam to blob storage: a folder or a bucket."""

from collections.abc import Iterator
from typing import Protocol

from pegboard.model.content import Blob


class Blobs(Protocol):
    """Large files, each under a key. Raises `BoardError` if the place cannot be used."""

    @property
    def place(self) -> str:
        """Where this is, for people to read."""
        ...

    def put(self, key: str, content: bytes) -> None:
        """Whole or not at all, even if the process is killed."""
        ...

    def get(self, key: str) -> bytes | None: ...

    def has(self, key: str) -> bool: ...

    def delete(self, key: str) -> None:
        """Nothing happens if it is not there."""
        ...

    def listed(self, under: str) -> Iterator[Blob]:
        """What has a key in this folder, and what is left of puts that were killed."""
        ...
