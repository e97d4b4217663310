"""Which boards the tiers are, and how they are asked at the same time."""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Generic, NamedTuple, Self, TypeVar

from pegboard.app.pegboard import Pegboard, located
from pegboard.board.find.patience import Overdue, Patience
from pegboard.config.places import Located, Tier
from pegboard.config.settings import TIERS
from pegboard.errors import PegboardError, TookTooLong, UsageError
from pegboard.model.answers import TierState
from pegboard.tiers.asking import Far, Lent, Once
from pegboard.tiers.opening import (
    Board,
    is_users,
    no_registry,
    no_user_board,
    open_registry,
    open_user,
    registry_place,
    user_place,
)

log = logging.getLogger(__name__)

R = TypeVar("R")

ALL = "all"
LOCAL = "local"
BEYOND = (Tier.USER.value, Tier.REGISTRY.value)
"""The tiers beside the one at hand, the nearer first."""
PATIENT = 0.5
"""The share of the time limit after which a database that is gone is given up."""


class Took(NamedTuple, Generic[R]):
    result: R
    seconds: float


class Reach(NamedTuple, Generic[R]):
    """What the tiers brought back that answered, and how each of them did."""

    found: dict[str, R]
    states: list[TierState]


class Boards:
    """The board at hand and those beyond it. Those are opened when they are first asked."""

    def __init__(self, local: Pegboard, *, seconds: float | None = None) -> None:
        self.local = local
        self.place = local.place or located()
        self.seconds = local.settings.search.tier_seconds if seconds is None else seconds
        self.near = _name_of(self.place)
        """What the board at hand is called: `project`, `user`, `registry`, or just `local`."""
        self._fars: dict[str, Far] = {}
        self._lock = threading.Lock()
        self._once = Once(local.embedder) if local.embedder else None
        local.embedder = self._once

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        """Of those beyond; one that hangs is not waited for."""
        with self._lock:
            fars, self._fars = list(self._fars.values()), {}
        for each in fars:
            each.close()

    def named(self, tier: str | None) -> list[str]:
        """The tiers that are meant, the nearest first; if none is said, those of the settings."""
        said = tier or self.local.settings.search.tier
        if said not in TIERS:
            raise UsageError(f"tier is {said!r}; it must be one of {', '.join(TIERS)}")
        if said == ALL:
            return list(dict.fromkeys((self.near, *BEYOND)))
        return [self.near if said == LOCAL else said]

    def ask(
        self, names: Sequence[str], work: Callable[[str, Board], R], *, alone: bool = False
    ) -> Reach[R]:
        """Ask these at the same time, each of those beyond for as long as the limit is.

        Raises what the board at hand raises and, where a tier is asked `alone`, if it is not there.
        """
        begun = {name: self._begin(name, work) for name in names if name != self.near}
        found: dict[str, R] = {}
        states: dict[str, TierState] = {}
        if self.near in names:
            try:
                found[self.near], seconds = _timed(work, self.near, self.local)
            except BaseException:
                for each in begun.values():
                    each.give_up()
                raise
            states[self.near] = TierState(self.near, "ok", seconds=seconds)
        # From now on: what the board at hand takes, such as to load the model, is not their fault.
        patience = Patience(self.seconds)
        for name, each in begun.items():
            if each.missing and alone:
                raise each.missing
            states[name], answer = each.wait(patience)
            if answer is not None:
                found[name] = answer.result
        ordered = {name: found[name] for name in names if name in found}
        return Reach(ordered, [states[name] for name in names])

    def board(self, name: str) -> Board:
        """As it is open, or opened now; for as long as that takes."""
        if name == self.near:
            return self.local
        if (missing := self._missing(name)) is not None:
            raise missing
        return self._far(name).board()

    def _begin(self, name: str, work: Callable[[str, Board], R]) -> "_Begun[R]":
        missing = self._missing(name)
        if missing is not None:
            return _Begun(name, missing=missing)
        far = self._far(name)
        try:
            return _Begun(name, far, far.begin(lambda board: _timed(work, name, board)))
        except Overdue:
            return _Begun(name, far)

    def _missing(self, name: str) -> PegboardError | None:
        """Why there is no such board, if there is none at all."""
        if name == Tier.REGISTRY:
            return None if self.place.settings.registry.url else no_registry()
        there = Path(user_place(self.place).board).exists()
        return None if there else no_user_board(self.place)

    def _far(self, name: str) -> Far:
        with self._lock:
            if name not in self._fars:
                self._fars[name] = Far(name, lambda: self._open(name))
            return self._fars[name]

    def _open(self, name: str) -> Board:
        if name == Tier.USER:
            board: Board = open_user(self.place)
        else:  # given up before nobody waits for it any more
            board = open_registry(self.place, patience=self.seconds * PATIENT)
        if isinstance(board, Pegboard):
            board.within = self.local.within
            if board.embedder and self._once:
                board.embedder = Lent(self._once)
        return board


class _Begun(NamedTuple, Generic[R]):
    """A question to a tier, and what is waited for."""

    name: str
    far: Far | None = None
    asked: "Future[Took[R]] | None" = None
    missing: PegboardError | None = None

    def give_up(self) -> None:
        if self.far and self.asked:
            self.far.give_up(self.asked)

    def wait(self, patience: Patience) -> "tuple[TierState, Took[R] | None]":
        if self.missing is not None:
            return TierState(self.name, "empty", error=self.missing.message), None
        slow = TierState(self.name, "slow", seconds=patience.seconds)
        if self.asked is None:
            return slow._replace(seconds=0.0, error="it has not answered an earlier question"), None
        try:
            error = patience.wait(self.asked.exception)
        except TimeoutError:
            self.give_up()
            said = f"it did not answer within {patience.seconds:g} s"
            return slow._replace(error=said), None
        if error is not None:
            if not isinstance(error, PegboardError):
                log.error("the %s tier failed", self.name, exc_info=error)
            said = error.message if isinstance(error, PegboardError) else type(error).__name__
            state = "slow" if isinstance(error, TookTooLong) else "down"
            return TierState(self.name, state, error=said), None
        answer = self.asked.result()
        return TierState(self.name, "ok", seconds=answer.seconds), answer


def _timed(work: Callable[[str, Board], R], name: str, board: Board) -> Took[R]:
    began = time.monotonic()
    return Took(work(name, board), time.monotonic() - began)


def _name_of(place: Located) -> str:
    if is_users(place):
        return Tier.USER
    url = place.settings.registry.url
    if url and not url.startswith("http") and registry_place(place).board == place.board:
        return Tier.REGISTRY
    return Tier.PROJECT if Tier.PROJECT in place.tiers else LOCAL
