"""A tier beyond the board at hand: opened when it is first asked, and waited for only so long."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import TypeVar

from pegboard.board.find.patience import CLOSE_SECONDS, Beside
from pegboard.errors import PegboardError
from pegboard.model.items import Fingerprint, Vector
from pegboard.ports.stages import Embedder
from pegboard.tiers.opening import Board

R = TypeVar("R")

THREADS = 4
"""So many questions may be put to one tier at the same time."""


class Far:
    """One tier. It may hang in whatever it does: neither an answer nor the end waits for that."""

    def __init__(self, name: str, open_board: Callable[[], Board]) -> None:
        self.name = name
        self._open = open_board
        self._threads = Beside(THREADS, most_late=1)
        self._board: Board | None = None
        self._opening = threading.Lock()
        self._closed = threading.Event()

    def begin(self, work: Callable[[Board], R]) -> "Future[R]":
        """Raises `Overdue` as long as an earlier question has not come back."""
        return self._threads.begin(self._ask, work)

    def give_up(self, begun: "Future[R]") -> None:
        self._threads.give_up(begun)

    def _ask(self, work: Callable[[Board], R]) -> R:
        try:
            return work(self.board())
        finally:
            if self._closed.is_set():  # which did not wait for this
                self._close()

    def board(self) -> Board:
        """As it was opened, or opened now."""
        with self._opening:
            if self._board is None:
                self._board = self._open()
            return self._board

    def close(self) -> None:
        self._closed.set()
        if self._threads.late:
            return  # whoever is late closes it when he comes back
        closing = threading.Thread(target=self._close, name="pegboard-close", daemon=True)
        closing.start()
        closing.join(CLOSE_SECONDS)
        self._threads.close()

    def _close(self) -> None:
        with self._opening:
            board, self._board = self._board, None
        if board is not None:
            with suppress(PegboardError):
                board.close()


class Once:
    """An embedder for several boards: a query that all of them are asked is embedded once."""

    def __init__(self, embedder: Embedder) -> None:
        self._true = embedder
        self._lock = threading.Lock()
        self._text = ""
        self._vector: Future[Vector] | None = None

    @property
    def fingerprint(self) -> Fingerprint:
        return self._true.fingerprint

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        return self._true.embed(texts)

    def embed_query(self, text: str) -> Vector:
        with self._lock:
            known = self._vector if self._text == text else None
            if known is None:
                mine = self._vector = Future[Vector]()
                self._text = text
        if known is not None:
            return known.result()
        try:
            mine.set_result(self._true.embed_query(text))
        except BaseException as error:
            with self._lock:
                if self._vector is mine:
                    self._vector = None  # the next one tries again
            mine.set_exception(error)
            raise
        return mine.result()

    def close(self) -> None:
        self._true.close()


class Lent(Once):
    """The same for a board that has it from another one, which closes it."""

    def __init__(self, embedder: Once) -> None:
        super().__init__(embedder)

    def embed_query(self, text: str) -> Vector:
        return self._true.embed_query(text)

    def close(self) -> None:
        """Whoever lent it closes it."""
