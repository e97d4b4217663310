"""A board's models as one process has them: the one it searches by, and the one it builds.

Vectors of a new model are made beside those of the active one, which stay and are searched until no
item lacks a new one; then the board switches, in one transaction. An item that is edited meanwhile
gets a vector of the active model first, so that it can be found, and one of the new model after it.
"""

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Sequence
from copy import copy
from functools import partial
from typing import NamedTuple

from pegboard.board.find.answering import FindSettings
from pegboard.board.maintain.calibration import (
    LEAST_ITEMS,
    Shares,
    Trial,
    answered,
    fit_calibration,
    is_packaged,
)
from pegboard.board.maintain.queueing import queue_missing
from pegboard.board.maintain.status import Building
from pegboard.board.trust.allowing import Trust
from pegboard.embed.choose import PACKAGED_MODEL, PROVIDERS, SERVICES, named_model
from pegboard.embed.recalled import Recalled
from pegboard.errors import EmbeddingError, ModelUnavailable, PegboardError, UsageError
from pegboard.model.items import (
    Calibration,
    EmbeddingCounts,
    Filters,
    Fingerprint,
    KeptVectors,
    Model,
    ModelSpec,
    ModelState,
)
from pegboard.ports.stages import Embedder, Progress, quiet
from pegboard.ports.store import Store
from pegboard.search.cosine_scale import CosineScale
from pegboard.text import TEXT_VERSION

log = logging.getLogger(__name__)

DISABLED = "embedding is disabled", "set embed.provider to something else"
AGAIN_SECONDS = 1.0
TRIAL = "is the model well?"
CALIBRATION_RETRY_SECONDS = 600.0
"""Wait after a calibration that failed: a service is not asked all questions again and again."""
PACKAGED = ModelSpec("local")


class ModelLine(NamedTuple):
    """One line of the list of models."""

    model: str
    role: str
    vectors: int
    building: Building | None = None
    calibrated: str = ""
    """`packaged`, `on this board` or, for a model with raw scores, `no`."""
    calibrated_at: float | None = None


class Calibrated(NamedTuple):
    """A calibration on request, and what it changes for the questions that it was fitted on."""

    model: str
    items: int
    questions: int
    slope: float
    offset: float
    threshold: float
    before: Shares
    after: Shares


class Changed(NamedTuple):
    """How far a change of model has come."""

    model: str
    switched: bool
    embeddings: EmbeddingCounts
    notices: tuple[str, ...] = ()


class BoardModels:
    def __init__(
        self,
        store: Store,
        configured: ModelSpec,
        make: Callable[[ModelSpec], Embedder | None],
        trust: Trust,
    ) -> None:
        self.own = make(configured)
        """What the settings ask for; None if this process is to embed nothing."""
        self._store = store
        self._configured = configured
        self._make = make
        self._trust = trust
        self._others: dict[ModelSpec, Embedder] = {}
        self._lock = threading.Lock()
        self._followed = False
        self._calibrating = threading.Lock()
        self._calibrate_at: dict[Fingerprint, float] = {}
        """When to try again what could not be calibrated."""
        self._notices: list[str] = []

    def seen_by(self, store: Store, trust: Trust) -> "BoardModels":
        """The same models for whoever sees only some of the board, and chooses none."""
        view = copy(self)
        view._store, view._trust, view._followed = store, trust, True
        return view

    @property
    def another_serves(self) -> bool:
        """Whether search by meaning goes on while the model that is to be used is gone."""
        state = self._store.models.state()
        if state.active is None or state.chosen or state.wanted:
            return state.wanted is not None
        return not _same_model(state.active.spec, self._configured)

    def close(self) -> None:
        for embedder in filter(None, (self.own, *self._others.values())):
            embedder.close()

    def searching(self, name: str | None = None) -> tuple[Embedder | None, CosineScale]:
        """What embeds a query now; another process may have switched since the last one.

        And the scale of its cosines. With a name, that model, if the board has vectors of it:
        others cannot be compared with what it makes of a query.
        """
        if name is not None:
            return self._searching_by(name)
        if self.own is None:
            return None, CosineScale()
        state = self._store.models.state()
        if state.active is None:
            return self.own, CosineScale()
        return self._recalled(state.active, state), _scale(state.calibration)

    def _searching_by(self, name: str) -> tuple[Embedder, CosineScale]:
        named, state = self.named(name), self._store.models.state()
        kept = [each for each in self._store.models.kept() if _is_of(each, named)]
        active = state.active and state.active.fingerprint
        kept.sort(key=lambda each: (each.fingerprint == active, each.vectors), reverse=True)
        if not kept:
            serves = f"search goes by {active.key}" if active else "it has no vectors at all"
            raise UsageError(
                f"this board has no vectors of {name}; {serves}",
                f"leave --model out, or make them with: pegboard model use {name}",
            )
        first = kept[0]
        embedder = Recalled(first.fingerprint, partial(self._allowed, first.spec or named))
        return embedder, _scale(first.calibration)

    def prune(self) -> int:
        """Remove the vectors of models that are neither in use nor the one before."""
        return self._store.models.prune()

    def target(self) -> Fingerprint | None:
        """What the vector of an item that is put now must be like."""
        if self.own is None:
            return None
        return next(iter(self.targets()), None) or self.own.fingerprint

    def targets(self) -> list[Fingerprint]:
        """The kinds of vectors that are made at present, the active model's first."""
        return [embedder.fingerprint for embedder in self._embedders()]

    def embedders(self) -> Sequence[Embedder]:
        self.follow_settings()
        return self._embedders()

    def _embedders(self) -> Sequence[Embedder]:
        """Of models whose vectors can still be made: texts of an older version are gone."""
        if self.own is None:
            return []
        state = self._store.models.state()
        return [
            self._recalled(model, state)
            for model in (state.active, state.wanted)
            if model and model.fingerprint.text_version == TEXT_VERSION
        ]

    def follow_settings(self) -> None:
        """Want what the settings ask for, unless a person has chosen for the board.

        Once in the life of a process: two that go on with different settings must not take turns.
        """
        if self.own is None or self._followed:
            return
        state = self._store.models.state()
        latest = state.wanted or state.active
        if state.chosen and latest:
            goal = latest._replace(
                fingerprint=latest.fingerprint._replace(text_version=TEXT_VERSION)
            )
        else:
            goal = Model(self.own.fingerprint, self._configured)
        if goal != latest:
            self._store.models.want(goal, chosen=state.chosen)
        self._followed = True

    def queue_missing(self, progress: Progress) -> int:
        """Give every item a task for each vector that it lacks; without a model, mark it so."""
        if self.own is None:
            return self._store.tasks.disable()
        return queue_missing(self._store, self.targets(), progress)

    def advance(self) -> bool:
        """When nothing is left to claim, queue what is missing, or switch to the new model."""
        wanted = self._store.models.state().wanted
        if self.own is None:
            return False
        if wanted is None:
            if self._put_by_others() and self.queue_missing(quiet):
                return True
            self._calibrate_once()
            return False
        if self._store.tasks.waiting(wanted.fingerprint):
            return False
        if self.queue_missing(quiet):
            return True
        if self._store.models.activate(wanted.fingerprint):
            log.info("searching by %s from now on", wanted.fingerprint.key)
            self._calibrate_once()
        return False

    def _calibrate_once(self) -> None:
        """Calibrate the active model, unless that was done; whatever fails stops nothing else."""
        state = self._store.models.state()
        if state.active is None or state.calibration or is_packaged(state.active.fingerprint):
            return
        target = state.active.fingerprint
        due = self._calibrate_at.get(target, 0.0) <= time.monotonic()
        if not due or self._store.index.source_counts().within(Filters()) < LEAST_ITEMS:
            return
        if not self._calibrating.acquire(blocking=False):
            return  # another thread does it
        try:
            found = self._calibrated(state.active, state, again=False).calibration
            notice = (
                f"scores of {target.key} were calibrated on this board's own content "
                f"({found.items} items); again: pegboard model calibrate"
            )
        except PegboardError as error:
            self._calibrate_at[target] = time.monotonic() + CALIBRATION_RETRY_SECONDS
            notice = f"scores were not calibrated: {error}"
        finally:
            self._calibrating.release()
        log.info("%s", notice)
        self._notices.append(notice)

    def take_notices(self) -> list[str]:
        """Return what there is to say about calibrations since the last call."""
        found, self._notices = self._notices, []
        return found

    def calibrate(self, settings: FindSettings) -> Calibrated:
        """Calibrate the active model on this board's content, in place of an earlier calibration.

        Raises `UsageError` if there is nothing to calibrate or too little to do it with.
        """
        if self.own is None:
            raise UsageError(*DISABLED)
        state = self._store.models.state()
        if state.active is None:
            raise UsageError("this board has no vectors yet", "make them with: pegboard backfill")
        if is_packaged(state.active.fingerprint):
            raise UsageError(
                f"{state.active.fingerprint.key} is calibrated: its curves come with Pegboard"
            )
        trial = self._calibrated(state.active, state, again=True)
        found = trial.calibration
        return Calibrated(
            state.active.fingerprint.key,
            found.items,
            found.questions,
            found.slope,
            found.offset,
            settings.threshold,
            before=answered(self._store, trial, settings, CosineScale()),
            after=answered(self._store, trial, settings, _scale(found)),
        )

    def _calibrated(self, model: Model, state: ModelState, *, again: bool) -> Trial:
        """Fit and keep a calibration; without `again`, the one of another process stays."""
        packaged = self._make(PACKAGED)
        if packaged is None:
            raise UsageError(*DISABLED)
        try:
            trial = fit_calibration(self._store, self._recalled(model, state), packaged)
        finally:
            packaged.close()
        if again or self._store.models.state().calibration is None:
            self._store.models.calibrate(model.fingerprint, trial.calibration)
        return trial

    def _put_by_others(self) -> bool:
        """Whether somebody who had not heard of a change has queued for a model that was left."""
        targets = self.targets()
        return bool(targets) and self._store.tasks.has_stray(targets)

    def use(self, spec: ModelSpec) -> Fingerprint:
        """Want this model, once it has embedded one text."""
        if self.own is None or spec.provider == "disabled":
            raise UsageError(*DISABLED)
        embedder = self._embedder(spec)
        _try_out(embedder)
        if spec.base_url or spec.api_key:
            self._trust.allow_service(spec)
        if self._store.models.state().active is None:
            with contextlib.suppress(ModelUnavailable):  # then there is nothing to keep
                self.follow_settings()
        self._followed = True
        self._store.models.want(Model(embedder.fingerprint, spec), chosen=True)
        return embedder.fingerprint

    def change(
        self,
        spec: ModelSpec,
        fill: Callable[[], Sequence[str]],
        *,
        embed: bool = True,
        skip_failed: bool = False,
        stop: threading.Event,
    ) -> Changed:
        """Build a model's vectors and switch to them, unless others are to embed.

        `fill` queues what is missing and embeds what is due, and says what stood in its way.
        Stopped at any point, the board goes on with the old model, and the next worker, backfill or
        sync goes on with the change.
        """
        tasks, target = self._store.tasks, self.use(spec)
        notices = fill()
        while embed and not notices and not stop.is_set() and tasks.waiting(target):
            tasks.await_work(stop, AGAIN_SECONDS)  # others have them, or they are tried again
            notices = fill()
        switched = self._store.models.activate(target, skip_failed=skip_failed)
        return Changed(target.key, switched, self._building(target).embeddings, tuple(notices))

    def back(self) -> ModelSpec:
        """The model to go back to: the active one from a change under way, else the previous."""
        state = self._store.models.state()
        earlier = state.active if state.wanted else state.previous
        if earlier is None:
            raise UsageError("this board has had no other model", "see: pegboard model list")
        self._check_allowed(earlier.spec)
        return earlier.spec

    def complaints(self) -> list[EmbeddingError]:
        """What is wrong with each model that this process would use."""
        if self.own is None:
            return []
        state = self._store.models.state()
        known = [model for model in (state.active, state.wanted) if model]
        asked: list[Embedder] = [self._recalled(model, state) for model in known]
        if not state.chosen and not any(_same_model(m.spec, self._configured) for m in known):
            asked.append(self.own)
        found = []
        for embedder in asked:
            try:
                embedder.embed_query(TRIAL)
            except EmbeddingError as error:
                found.append(error)
        return found

    def building(self) -> Building | None:
        """What the board is to change to, also if only the settings say so yet."""
        state = self._store.models.state()
        if state.wanted:
            return self._building(state.wanted.fingerprint)
        if self.own is None or state.active is None or state.chosen:
            return None
        with contextlib.suppress(ModelUnavailable):
            if self.own.fingerprint != state.active.fingerprint:
                return self._building(self.own.fingerprint)
        return None

    def listed(self) -> list[ModelLine]:
        state = self._store.models.state()
        roles = {"previous": state.previous, "building": state.wanted, "active": state.active}
        known = {model.fingerprint: role for role, model in roles.items() if model}
        return [
            ModelLine(
                model=each.fingerprint.key,
                role=known.get(each.fingerprint, "kept"),
                vectors=each.vectors,
                building=self._building(each.fingerprint)
                if known.get(each.fingerprint) == "building"
                else None,
                calibrated="packaged"
                if is_packaged(each.fingerprint)
                else "on this board"
                if each.calibration
                else "no",
                calibrated_at=each.calibration.at if each.calibration else None,
            )
            for each in self._store.models.kept()
        ]

    def named(self, name: str) -> ModelSpec:
        """A provider, `provider:model`, the packaged model, or one of the service that is set.

        Where a service is, and its key, is taken from the settings if they are for this provider.
        """
        provider, model = named_model(name)
        own = self._configured
        if not provider and own.provider not in SERVICES:
            raise UsageError(
                f"there is no model {name!r}",
                f"say provider:model, or one of: {', '.join(PROVIDERS)}, {PACKAGED_MODEL}",
            )
        found = ModelSpec(provider or own.provider, model)
        if own.provider != found.provider:
            return found
        return found._replace(model=model or own.model, base_url=own.base_url, api_key=own.api_key)

    def _building(self, target: Fingerprint) -> Building:
        return Building(target.key, self._store.tasks.counts(target))

    def _recalled(self, model: Model, state: ModelState) -> Recalled:
        alike = _same_model(model.spec, self._configured) and not state.chosen
        spec = self._configured if alike else model.spec
        return Recalled(model.fingerprint, partial(self._allowed, spec))

    def _allowed(self, spec: ModelSpec) -> Embedder:
        self._check_allowed(spec)
        return self._embedder(spec)

    def _embedder(self, spec: ModelSpec) -> Embedder:
        if spec == self._configured and self.own is not None:
            return self.own
        with self._lock:
            found = self._others.get(spec) or self._make(spec)
            if found is None:
                raise UsageError(*DISABLED)
            self._others[spec] = found
            return found

    def _check_allowed(self, spec: ModelSpec) -> None:
        """A board may come from anybody, and would learn what is asked, and a key."""
        asks = spec.base_url, spec.api_key
        own = self._configured.base_url, self._configured.api_key
        if any(asks) and asks != own and not self._trust.allows_service(spec):
            key = f" with the key {spec.api_key}" if spec.api_key else ""
            raise ModelUnavailable(
                f"this board asks {spec.base_url or spec.provider} for vectors{key}, "
                "which nobody here has allowed; if it may: pegboard model allow"
            )

    def services(self) -> list[ModelSpec]:
        """The services that this board asks for vectors, now or in a while."""
        state = self._store.models.state()
        known = [each.spec for each in (state.active, state.wanted, state.previous) if each]
        return [spec for spec in dict.fromkeys(known) if spec.base_url or spec.api_key]


def _scale(found: Calibration | None) -> CosineScale:
    return CosineScale(found.slope, found.offset) if found else CosineScale()


def _same_model(one: ModelSpec, other: ModelSpec) -> bool:
    return one[:3] == other[:3]


def _is_of(kept: KeptVectors, named: ModelSpec) -> bool:
    """A name without a model means whichever one the provider has made vectors with."""
    made = kept.spec or kept.fingerprint
    return made.provider == named.provider and named.model in ("", made.model)


def _try_out(embedder: Embedder) -> None:
    length = len(embedder.embed_query(TRIAL))
    if length != 4 * embedder.fingerprint.dimension:
        raise ModelUnavailable(
            f"a vector of {length // 4} numbers came back instead of "
            f"{embedder.fingerprint.dimension}"
        )
