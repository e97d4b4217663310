"""An item's vector out of the two parts of its text: what it is called, and what it does.

Embedded together, the name colours the whole description; embedded apart and added with half the
weight, it counts where the query names the thing and hardly disturbs where the query describes it.
"""

import math
from array import array
from collections.abc import Callable, Sequence

from pegboard.errors import EmbeddingError
from pegboard.model.items import Fingerprint, Vector
from pegboard.ports.stages import Embedder
from pegboard.text import NAMES_MARK, PART_MARK

LABEL_WEIGHT = 0.5


class PartsEmbedder:
    """Any embedder, made to take texts of two parts."""

    def __init__(self, whole: Embedder, readable: Callable[[str], str] | None = None) -> None:
        """`readable`: returns the part of a text that the model knows, blank if it knows none.

        The vector of the rest would be noise and drown the name.
        """
        self._whole = whole
        self._readable = readable

    @property
    def fingerprint(self) -> Fingerprint:
        return self._whole.fingerprint

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        parts = [self._known_parts(text) for text in texts]
        flat = [part for pair in parts for part in pair]
        found = iter(self._vectors(flat))
        return [_sum([next(found) for _ in pair]) for pair in parts]

    def _known_parts(self, text: str) -> list[str]:
        """Return the parts of a text as far as the model knows them.

        Where it knows nothing of them, return them whole: every text gets a vector.
        """
        text, _, names = text.partition(NAMES_MARK)
        parts = text.split(PART_MARK, 1)
        if self._readable is None:
            return parts
        *label, body = [self._readable(part) for part in parts]
        if names and body != parts[-1]:
            body = f"{body}. {names}" if body else names
        return [part for part in (*label, body) if part] or parts

    def _vectors(self, flat: Sequence[str]) -> list[Vector]:
        """Each different text once: the same short names occur again and again."""
        once = list(dict.fromkeys(flat))
        found = self._whole.embed(once)
        if len(found) != len(once):
            raise EmbeddingError(f"{len(found)} vectors came back for {len(once)} texts")
        by_text = dict(zip(once, found, strict=True))
        return [by_text[text] for text in flat]

    def embed_query(self, text: str) -> Vector:
        return self._whole.embed_query(text)

    def close(self) -> None:
        self._whole.close()


def _sum(vectors: list[Vector]) -> Vector:
    if len(vectors) == 1:
        return vectors[0]
    label, body = (array("f", vector) for vector in vectors)
    if len(label) != len(body):
        raise EmbeddingError(f"vectors of {len(label)} and {len(body)} numbers came back")
    both = [LABEL_WEIGHT * a + b for a, b in zip(label, body, strict=True)]
    length = math.sqrt(math.fsum(value * value for value in both))
    if length == 0 or not math.isfinite(length):
        return vectors[1]
    return Vector(array("f", [value / length for value in both]).tobytes())
