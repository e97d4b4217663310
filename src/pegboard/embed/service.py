"""Models that run elsewhere: batches, prefixes, retries, and whose fault a failure is.

One text that a service cannot embed must not stop the others, and a service that is down must not
use up the attempts of every text. So after a failure the service is asked for one plain word. If
it can do that, the texts are at fault (`EmbeddingError`), otherwise it is (`ModelUnavailable`).
"""

import hashlib
import logging
import math
import random
import sys
import threading
import time
from array import array
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from pegboard.embed.cache import VectorCache
from pegboard.embed.faults import LONGEST_WAIT, Fault, ServiceFault
from pegboard.embed.known import KnownModel
from pegboard.errors import EmbeddingError, ModelUnavailable
from pegboard.model.items import Fingerprint, Vector
from pegboard.text import TEXT_VERSION

log = logging.getLogger(__name__)

FIRST_WAIT = 0.5
LONGEST_QUERY_WAIT = 1.0
REST = 5.0
"""Seconds in which a service that was found unavailable is not asked again."""
PROBE = "test"
CHARACTERS_A_TOKEN = 3
"""English has more than four. What the model would not read is cut: some services refuse it."""
_SHOWN = 60


class Service(Protocol):
    def ask(self, texts: Sequence[str], *, query: bool) -> Sequence[Sequence[float]]:
        """What it answers, in the order of the texts. Raises `ServiceFault`."""
        ...

    def close(self) -> None: ...


class Manner(NamedTuple):
    """Who is asked, and how."""

    provider: str
    model: str
    dimension: int
    """0 to learn it from the first answer."""
    query: str = ""
    document: str = ""
    max_tokens: int = 0
    batch_size: int = 128
    max_retries: int = 3

    @property
    def name(self) -> str:
        """The model and, where it has prefixes, their hash: with others the vectors are others."""
        if not self.query and not self.document:
            return self.model
        prefixes = hashlib.sha256(f"{self.query}\0{self.document}".encode()).hexdigest()
        return f"{self.model}@{prefixes[:8]}"

    def prompted(self, text: str, prefix: str) -> str:
        """As it is sent; JSON has no lone surrogates."""
        if self.max_tokens:
            text = text[: self.max_tokens * CHARACTERS_A_TOKEN]
        return (prefix + text).encode("utf-8", "replace").decode("utf-8")

    def knowing(self, known: KnownModel | None) -> "Manner":
        if known is None:
            return self
        return self._replace(
            dimension=self.dimension or known.dimension,
            query=known.query,
            document=known.document,
            max_tokens=known.max_tokens,
        )


class ServiceEmbedder:
    """Threads may share it."""

    def __init__(self, service: Service, manner: Manner, cache: VectorCache | None = None) -> None:
        self._service = service
        self._manner = manner
        self._cache = cache
        self._probe = manner.prompted(PROBE, manner.document)
        self._dimension = manner.dimension
        self._batch_size = manner.batch_size
        self._closed = threading.Event()
        self._learning = threading.Lock()
        self._failure: ModelUnavailable | None = None
        self._retry_at = 0.0

    @property
    def fingerprint(self) -> Fingerprint:
        manner = self._manner
        return Fingerprint(manner.provider, manner.name, self._known_dimension(), TEXT_VERSION)

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        prefix = self._manner.document
        return self._vectors([self._manner.prompted(text, prefix) for text in texts], query=False)

    def embed_query(self, text: str) -> Vector:
        """Somebody waits: one more try at most, and soon."""
        [vector] = self._vectors([self._manner.prompted(text, self._manner.query)], query=True)
        return vector

    def close(self) -> None:
        self._closed.set()
        self._service.close()

    def _vectors(self, texts: list[str], *, query: bool) -> list[Vector]:
        if not texts:
            return []
        self._known_dimension()
        found = {text: vector for text in texts if (vector := self._kept(text, query)) is not None}
        missing = list(dict.fromkeys(text for text in texts if text not in found))
        while missing:
            batch, missing = missing[: self._batch_size], missing[self._batch_size :]
            found |= zip(batch, self._made(batch, query=query), strict=True)
        return [found[text] for text in texts]

    def _kept(self, text: str, query: bool) -> Vector | None:
        vector = self._cache.get(f"{query}\0{text}") if self._cache else None
        return vector if vector and len(vector) == 4 * self._dimension else None

    def _made(self, texts: list[str], *, query: bool) -> list[Vector]:
        """A batch may be too large, or take too long, where its halves do not."""
        self._not_resting()
        try:
            return self._tried(texts, query=query)
        except ServiceFault as fault:
            judged = self._judged(fault, texts, query)
            halved = fault.kind in (Fault.REFUSED, Fault.HUNG) and len(texts) > 1
            if isinstance(judged, ModelUnavailable) or not halved:
                raise judged from fault
        half = (len(texts) + 1) // 2
        vectors = [
            *self._made(texts[:half], query=query),
            *self._made(texts[half:], query=query),
        ]
        self._batch_size = min(self._batch_size, half)  # each half went through: it was the size
        return vectors

    def _tried(self, texts: list[str], *, query: bool) -> list[Vector]:
        retries = min(self._manner.max_retries, 1) if query else self._manner.max_retries
        longest = LONGEST_QUERY_WAIT if query else LONGEST_WAIT
        for attempt in range(retries + 1):
            try:
                return self._answered(texts, query=query)
            except ServiceFault as fault:
                wait = max(fault.wait, _backoff(attempt))
                again = fault.kind in (Fault.BUSY, Fault.BROKEN) and wait <= longest
                if not again or attempt == retries:
                    raise
                log.info("%s; asking again in %.1f s", fault.message, wait)
                if self._closed.wait(wait):
                    raise
        raise AssertionError("the last attempt returns or raises")

    def _answered(self, texts: list[str], *, query: bool) -> list[Vector]:
        answer = self._service.ask(texts, query=query)
        if len(answer) != len(texts):
            raise ServiceFault(
                Fault.GARBLED, f"{len(answer)} vectors came back for {len(texts)} texts"
            )
        vectors = [_unit(numbers, self._dimension) for numbers in answer]
        if self._cache:
            for text, vector in zip(texts, vectors, strict=True):
                self._cache.put(f"{query}\0{text}", vector)
        self._failure = None
        return vectors

    def _judged(self, fault: ServiceFault, texts: list[str], query: bool) -> EmbeddingError:
        """Who is to blame: see above. A search does not wait for a second answer that may hang."""
        if fault.kind in (Fault.BARRED, Fault.BUSY) or (query and fault.kind is Fault.HUNG):
            return self._unavailable(fault)
        try:
            self._answered([self._probe], query=False)
        except ServiceFault:
            return self._unavailable(fault)
        others = f" and {len(texts) - 1} more" if len(texts) > 1 else ""
        return EmbeddingError(
            f"{texts[0][:_SHOWN]!r}{others} could not be embedded by {self._manner.model}:"
            f" {fault.message}",
            fault.hint,
        )

    def _unavailable(self, fault: ServiceFault) -> ModelUnavailable:
        failure = ModelUnavailable(
            f"{self._manner.model} cannot be used: {fault.message}", fault.hint
        )
        self._failure = failure
        self._retry_at = time.monotonic() + REST
        return failure

    def _not_resting(self) -> None:
        failure = self._failure
        if failure is not None and time.monotonic() < self._retry_at:
            raise ModelUnavailable(failure.message, failure.hint)

    def _known_dimension(self) -> int:
        with self._learning:
            if not self._dimension:
                self._not_resting()
                try:
                    [vector] = self._tried([self._probe], query=True)
                except ServiceFault as fault:
                    raise self._unavailable(fault) from fault
                self._dimension = len(vector) // 4
            return self._dimension


def _unit(numbers: Sequence[float], dimension: int) -> Vector:
    """Scaled to length 1. A `dimension` of 0 takes any."""
    if dimension and len(numbers) != dimension:
        raise ServiceFault(
            Fault.GARBLED,
            f"a vector of {len(numbers)} numbers came back instead of {dimension}",
            "set embed.dimension to what the model makes",
        )
    try:
        length = math.hypot(*numbers)
    except (TypeError, OverflowError) as error:
        raise ServiceFault(Fault.GARBLED, f"a vector came back that is none: {error}") from None
    if length == 0 or not math.isfinite(length):
        raise ServiceFault(Fault.GARBLED, f"a vector of length {length} came back")
    floats = array("f", [number / length for number in numbers])
    if sys.byteorder == "big":
        floats.byteswap()
    return Vector(floats.tobytes())


def _backoff(attempt: int) -> float:
    """Doubling, with jitter so that workers do not move in step."""
    longest = min(FIRST_WAIT * 2.0**attempt, LONGEST_WAIT)
    return longest * random.uniform(0.5, 1.0)  # noqa: S311 (no secret depends on it)
