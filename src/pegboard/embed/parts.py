"""An item's vector: the weighted sum of the vectors of the parts of its text.

Embedded together, the name colours the whole description; embedded apart and added with half the
weight, it counts where the query names the thing and hardly disturbs where the query describes it.
The same holds for the title. Parameters count little.
"""

import math
from array import array
from collections.abc import Callable, Sequence

from pegboard.errors import EmbeddingError
from pegboard.model.items import Fingerprint, Vector
from pegboard.ports.stages import Embedder
from pegboard.text import PART_MARK

WEIGHTS = (0.5, 1.0, 0.5, 0.2)
"""Of label, body, title and parameters, as `pegboard.text.Passage` orders them."""
BODY = 1


class PartsEmbedder:
    """Any embedder, made to take texts of several parts."""

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
        parts = [self._weighted(text) for text in texts]
        flat = [part for several in parts for part, _ in several]
        found = iter(self._vectors(flat))
        return [_sum([(next(found), weight) for _, weight in several]) for several in parts]

    def _weighted(self, text: str) -> list[tuple[str, float]]:
        """Return the parts of a text that the model knows, with their weights.

        Where it does not know the body, parameters stand in for it: their names are often English.
        Where it knows nothing, return all parts: every text gets a vector.
        """
        parts = text.split(PART_MARK, len(WEIGHTS) - 1)
        known = parts if self._readable is None else [self._readable(part) for part in parts]
        is_read = len(parts) == 1 or known[BODY] == parts[BODY]
        weights = WEIGHTS if is_read else (*WEIGHTS[:-1], WEIGHTS[BODY])
        return _given(known, weights) or _given(parts, WEIGHTS) or [(text, 1.0)]

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


def _given(parts: Sequence[str], weights: Sequence[float]) -> list[tuple[str, float]]:
    return [(part, weight) for part, weight in zip(parts, weights, strict=False) if part]


def _sum(vectors: list[tuple[Vector, float]]) -> Vector:
    if len(vectors) == 1:
        return vectors[0][0]
    numbers = [(array("f", vector), weight) for vector, weight in vectors]
    if len({len(each) for each, _ in numbers}) > 1:
        lengths = " and ".join(str(len(each)) for each, _ in numbers)
        raise EmbeddingError(f"vectors of {lengths} numbers came back")
    total = [0.0] * len(numbers[0][0])
    for each, weight in numbers:
        total = [value + weight * more for value, more in zip(total, each, strict=True)]
    length = math.sqrt(math.fsum(value * value for value in total))
    if length == 0 or not math.isfinite(length):
        return max(vectors, key=lambda each: each[1])[0]
    return Vector(array("f", [value / length for value in total]).tobytes())
