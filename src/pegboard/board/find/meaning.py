"""The leg of meaning: the query is embedded, and what is near it looked up, beside the words."""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from pegboard.board.find.patience import Beside, Overdue, Patience
from pegboard.errors import EmbeddingError
from pegboard.model.items import Filters, Fingerprint, Leg, LegHit, Vector, WordHits, WordQuery
from pegboard.ports.stages import Embedder
from pegboard.ports.store import Store

R = TypeVar("R")


class Words(NamedTuple):
    """One leg over words: what it looked for, and what it found."""

    query: WordQuery
    known: float
    found: WordHits


class Meant(NamedTuple):
    """The query's vector, when it was ready, and what is near it once that is known."""

    vector: Vector
    ready: float
    near: list[LegHit] | None = None
    words: Mapping[Leg, Mapping[int, float]] = MappingProxyType({})
    """How what is near scores in legs over words, as far as that was looked up with it."""


class Looked(NamedTuple):
    """Items that were looked up, and the scores of those that have one."""

    keys: frozenset[int] = frozenset()
    scores: Mapping[int, float] = MappingProxyType({})


class Meaning:
    """Begun in another thread, and waited for in this one."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        text: str,
        filters: Filters,
        depth: int,
        patience: Patience | None,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._text = text
        self._filters = filters
        self._depth = depth
        self._patience = patience
        self._vector: Future[Vector] = Future()
        """For whoever does not wait for what is near it."""
        self._sought: Future[Mapping[Leg, Words]] = Future()
        """The legs whose words are to score what meaning finds."""
        self._begun: Future[Meant] = Future()
        self._beside: Executor | None = None
        self.notices: list[str] = []
        self.embed_seconds = 0.0
        self.late = False
        """Whether it was waited for in vain."""
        self.found: Meant | None = None
        """What it has found, as soon as it has."""

    def begin(self, beside: Executor, *, stay: bool) -> bool:
        """With threads that `stay`, and so keep their own way to the database, all is done there.

        Not begun if others have not come back.
        """
        work = self._meant_and_near if stay else self._meant
        self._beside = beside
        try:
            begin = beside.begin if isinstance(beside, Beside) else beside.submit
            self._begun = begin(work)
        except Overdue:
            self.notices.append(
                "searched by words only: the model has not answered the searches before this one"
            )
            return False
        return True

    def told(self, legs: Mapping[Leg, Words]) -> None:
        """What words have found; whoever waits for it here would wait for ever without."""
        self._sought.set_result({k: words for k, words in legs.items() if not words.found.whole})

    def scores(self, keys: Sequence[int]) -> Looked:
        """How near these are, while others are still looked for."""
        try:
            if not keys or self._waited(self._vector.exception) is not None:
                return Looked()
        except TimeoutError:
            return Looked()
        return Looked(frozenset(keys), self.scores_of(self._vector.result(), keys))

    def scores_of(self, vector: Vector, keys: Sequence[int]) -> dict[int, float]:
        return self._store.index.vector_scores(vector, self._embedder.fingerprint, keys)

    def wait(self) -> Meant | None:
        """None if there is no vector, or none in time; the notices say why."""
        try:
            meant = self._waited(self._begun.result)
        except EmbeddingError as error:
            next_step = f"; {error.hint}" if error.hint else ""
            self.notices.append(f"searched by words only: {error.message}{next_step}")
            return None
        except TimeoutError:
            self._give_up()
            return None
        return meant if meant.near is not None else self._with_near(meant)

    def _waited(self, wait: Callable[[float | None], R]) -> R:
        return self._patience.wait(wait) if self._patience else wait(None)

    def _give_up(self) -> None:
        self.late = True
        seconds = self._patience.seconds if self._patience else 0.0
        self.notices.append(
            f"searched by words only: meaning was not looked up within {seconds:g} s"
        )
        if isinstance(self._beside, Beside):
            self._beside.give_up(self._begun)

    def _meant(self) -> Meant:
        began = time.perf_counter()
        try:
            vector = self._embedder.embed_query(self._text)
        except BaseException as error:
            self._vector.set_exception(error)
            raise
        ready = time.perf_counter()
        self.embed_seconds = ready - began
        self._vector.set_result(vector)
        return Meant(vector, ready)

    def _meant_and_near(self) -> Meant:
        meant = self.found = self._with_near(self._meant())
        legs = self._sought.result().items()
        return meant._replace(words={leg: self._by_terms(words, meant) for leg, words in legs})

    def _by_terms(self, words: Words, meant: Meant) -> dict[int, float]:
        """How those score that only meaning has found."""
        keys = [hit.key for hit in meant.near or () if hit.key not in words.found.scores]
        return self._store.index.keyword_scores(words.query, keys)

    def _with_near(self, meant: Meant) -> Meant:
        target = self._embedder.fingerprint
        near = self._store.index.vector(meant.vector, target, self._filters, self._depth)
        if not near or self._store.tasks.waiting(target):
            self._tell_what_is_missing(target)
        return meant._replace(near=near)

    def _tell_what_is_missing(self, target: Fingerprint) -> None:
        if self._filters.namespaces:
            return  # how many there are elsewhere is not for this caller
        if missing := self._store.tasks.without_vector(target):
            have = "item has" if missing == 1 else "items have"
            self.notices.append(
                f"{missing:,} {have} no vector yet and can be found by words only; "
                "whoever runs this board can embed them with: pegboard backfill"
            )
