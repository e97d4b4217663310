"""An embedder for tests that truly ranks: texts are near when they share words or parts of words.

It needs no model and no third-party package, and gives the same vectors on every machine.
"""

import math
import re
import sys
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from zlib import crc32

from pegboard.errors import ConfigError
from pegboard.model.items import Fingerprint, Vector
from pegboard.text import TEXT_VERSION, fold

GRAM_LENGTHS = (3, 4)
WHOLE_WORD_WEIGHT = 2.0

_WORD = re.compile(r"[^\W_]+")


class HashedEmbedder:
    """Words and their character n-grams, each added to or taken from the slot its hash names."""

    def __init__(self, dimension: int = 256) -> None:
        if dimension < 1:
            raise ConfigError(f"{dimension} is no dimension for a vector; use 1 or more")
        self._dimension = dimension

    @property
    def fingerprint(self) -> Fingerprint:
        return Fingerprint("test", "hashed-ngrams", self._dimension, TEXT_VERSION)

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        return [self._vector(text) for text in texts]

    def embed_query(self, text: str) -> Vector:
        return self._vector(text)

    def close(self) -> None:
        """Nothing runs in the background."""

    def _vector(self, text: str) -> Vector:
        sums = [0.0] * self._dimension
        folded = text if text.isascii() else fold(text)
        counts = Counter(
            feature for word in _WORD.findall(folded.casefold()) for feature in _features(word)
        )
        for (code, weight), count in counts.items():
            # The lowest bit is the sign, the others choose the slot.
            value = weight if count == 1 else weight * (1.0 + math.log(count))
            sums[(code >> 1) % self._dimension] += value if code & 1 else -value
        return _unit(sums)


@lru_cache(maxsize=16_384)
def _features(word: str) -> tuple[tuple[int, float], ...]:
    """Hash and weight of the word and of its n-grams; marks tell the ends from the middle."""
    whole = (_code(f"={word}"), WHOLE_WORD_WEIGHT)
    return (whole, *((_code(gram), 1.0) for gram in _grams(f"<{word}>")))


def _grams(marked: str) -> Iterator[str]:
    for length in GRAM_LENGTHS:
        for start in range(len(marked) - length + 1):
            yield marked[start : start + length]


def _code(feature: str) -> int:
    return crc32(feature.encode())


def _unit(sums: list[float]) -> Vector:
    """Scaled to length 1; a text without words gets the first axis, so that none is zero."""
    length = math.sqrt(math.fsum(value * value for value in sums))
    if length == 0:
        sums[0] = length = 1.0
    floats = array("f", [value / length for value in sums])
    if sys.byteorder == "big":
        floats.byteswap()
    return Vector(floats.tobytes())
