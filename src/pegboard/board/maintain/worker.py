"""Takes tasks, embeds their texts outside any transaction, and hangs the vectors that still fit."""

import contextlib
import logging
import math
import os
import random
import secrets
import threading
import time
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

from pegboard.errors import (
    BoardBusy,
    BoardFull,
    BoardUnreachable,
    EmbeddingError,
    ModelUnavailable,
    PegboardError,
)
from pegboard.model.items import Fingerprint, Task, Vector
from pegboard.ports.stages import Embedder, Progress
from pegboard.ports.store import Store
from pegboard.text import embedded_passages

log = logging.getLogger(__name__)

MAX_ERROR = 200
IDLE = 0.05
"""Seconds between looks at an empty queue that somebody is filling."""
ADVANCE_SECONDS = 10.0
"""How often a worker that has nothing to do sees whether a change of model can go on."""
TRIED_EVERY = 8
"""At so many batches one is for a task that failed before: it is not to wait for a backfill."""


class WorkerSettings(NamedTuple):
    batch_size: int = 128
    """Passages that are embedded at a time: most texts have one, long ones have more."""
    lease_seconds: float = 60.0
    max_attempts: int = 5
    retry_seconds: float = 2.0
    """The wait after the first failure; it doubles with each one, up to `max_retry_seconds`."""
    max_retry_seconds: float = 300.0
    poll_seconds: float = 1.0
    patience_seconds: float = 30.0
    """The wait for a model that is gone or a board that others keep busy."""


@dataclass(slots=True)
class WorkReport:
    embedded: int = 0
    superseded: int = 0
    failed: int = 0

    @property
    def total(self) -> int:
        return self.embedded + self.superseded + self.failed


@runtime_checkable
class Duty(Protocol):
    """What a worker works for."""

    def embedders(self) -> Sequence[Embedder]:
        """One for each kind of vector that is wanted now, the most urgent first."""
        ...

    def advance(self) -> bool:
        """Do what can be done when nothing is due; true if there may be more to claim now."""
        ...


class OneModel(NamedTuple):
    """The duty of a worker that only ever embeds by one model."""

    embedder: Embedder

    def embedders(self) -> Sequence[Embedder]:
        return [self.embedder]

    def advance(self) -> bool:
        return False


class Worker:
    """Can be killed at any instruction: what it held comes back when its lease ends, or sooner."""

    def __init__(self, store: Store, work: Embedder | Duty, settings: WorkerSettings) -> None:
        self.store = store
        self.settings = settings
        self.duty: Duty = work if isinstance(work, Duty) else OneModel(work)
        self.report = WorkReport()
        self.owner = f"{_host()}:{os.getpid()}:{secrets.token_hex(4)}"
        self._gone: dict[Fingerprint, tuple[float, ModelUnavailable]] = {}
        """Models that are, why, and when to ask them again: others need not wait for them."""
        self._advance_at = 0.0
        self._batches = 0
        self._tasks = settings.batch_size
        """How many tasks the last batches had room for."""
        self._holding = False
        """Whether it has claimed something that it has not brought to its end."""

    def drain(
        self,
        stop: threading.Event,
        progress: Progress,
        all_queued: threading.Event | None = None,
    ) -> WorkReport:
        """Work until nothing is due and, if somebody is still queueing, until that has ended.

        Raises `ModelUnavailable` if a model is gone, once there is nothing for another to do.
        """
        self.release_dead()
        looked = total = 0.0
        while not stop.is_set():
            final = all_queued is None or all_queued.is_set()
            if self.step():
                if time.monotonic() - looked > 1:
                    looked = time.monotonic()
                    total = self.report.total + self._waiting()
                progress("embedding", self.report.total, max(int(total), self.report.total))
            elif all_queued is None or final:
                self._rest(stop)
                if not self.duty.advance():
                    self._raise_if_gone()
                    break
            else:
                all_queued.wait(IDLE)
        return self.report

    def run(self, stop: threading.Event) -> WorkReport:
        """Work until told to stop; a model or board that is of no use for a while is waited for."""
        while not stop.is_set():
            try:
                if not self.release_dead() and not self.step() and not self._advance(stop):
                    self.store.tasks.await_work(stop, self.settings.poll_seconds)
            except (ModelUnavailable, BoardBusy, BoardFull, BoardUnreachable) as error:
                log.warning("%s; trying again in %g s", error, self.settings.patience_seconds)
                stop.wait(self.settings.patience_seconds)
        return self.report

    def step(self) -> bool:
        """One batch by each model; false if there was none.

        A model that is gone is left aside for a while, if there is another to work with.
        """
        worked = False
        embedders = self.duty.embedders()
        for embedder in embedders:
            kind = embedder.fingerprint
            if len(embedders) > 1 and kind in self._gone and time.monotonic() < self._gone[kind][0]:
                continue
            try:
                worked = self._batch(embedder) or worked
                self._gone.pop(kind, None)
            except ModelUnavailable as error:
                self._gone[kind] = time.monotonic() + self.settings.patience_seconds, error
                if all(each.fingerprint in self._gone for each in embedders):
                    raise
                log.warning("%s; going on with the other model", error)
        return worked

    def _advance(self, stop: threading.Event) -> bool:
        """Not at every idle moment: it looks at all items."""
        if time.monotonic() < self._advance_at:
            return False
        self._advance_at = time.monotonic() + ADVANCE_SECONDS
        self._rest(stop)
        return self.duty.advance()

    def _rest(self, stop: threading.Event) -> None:
        """Before a change of model goes on: it waits for what makes searches quick."""
        for embedder in self.duty.embedders():
            self.store.tasks.rest(embedder.fingerprint, stop)

    def _raise_if_gone(self) -> None:
        for embedder in self.duty.embedders():
            if embedder.fingerprint in self._gone:
                raise self._gone[embedder.fingerprint][1]

    def _waiting(self) -> int:
        tasks = self.store.tasks
        return sum(tasks.waiting(each.fingerprint) for each in self.duty.embedders())

    def _batch(self, embedder: Embedder) -> bool:
        target = embedder.fingerprint
        if self._holding:  # the board was of no use when the last batch was to be finished
            self.store.tasks.release(self.owner)
            self._holding = False
        self._batches += 1
        tasks = self.store.tasks.claim(
            target,
            self.owner,
            self._tasks,
            self.settings.lease_seconds,
            tried_first=self._batches % TRIED_EVERY == 0,
        )
        if not tasks:
            return False
        self._advance_at = 0.0
        self._holding = True
        batch = self._fitting(tasks)
        try:
            done = self._embed(embedder, [task for task in batch if not self._given_up(task)])
        except BaseException:
            self.store.tasks.release(self.owner)
            raise
        hung = self.store.tasks.finish(target, done)
        if len(batch) < len(tasks):
            self.store.tasks.release(self.owner)
        self._holding = False
        self.report.embedded += hung
        self.report.superseded += len({task for task, _ in done}) - hung
        return True

    def _fitting(self, tasks: list[Task]) -> list[Task]:
        """As many as a batch has room for, and one at least; so it ends before its lease does.

        The next claim is for about as many, so that little is claimed only to be given back.
        """
        room = self.settings.batch_size
        for count, task in enumerate(tasks):
            room -= len(embedded_passages(task.text))
            if room < 0:
                self._tasks = max(count, 1)
                return tasks[: self._tasks]
        self._tasks = min(2 * self._tasks, self.settings.batch_size)
        return tasks

    def _given_up(self, task: Task) -> bool:
        """Attempts beyond the limit are those that no worker lived to report."""
        if task.attempts <= self.settings.max_attempts:
            return False
        died = f"its worker died {task.attempts - 1} times"
        self.store.tasks.fail(self.owner, task, died, None)
        self.report.failed += 1
        return True

    def _embed(self, embedder: Embedder, tasks: list[Task]) -> list[tuple[Task, Vector]]:
        """The whole batch at once; if that fails, one by one, so that one bad text stands alone.

        A task comes with each of its passages.
        """
        parts = [(task, text) for task in tasks for text in embedded_passages(task.text)]
        try:
            vectors = _vectors(embedder, [text for _, text in parts])
            return [(task, vector) for (task, _), vector in zip(parts, vectors, strict=True)]
        except ModelUnavailable:
            raise
        except Exception as error:
            log.exception("%d texts could not be embedded", len(tasks))
            if len(tasks) > 1:
                return [pair for task in tasks for pair in self._embed(embedder, [task])]
            self._give_up_or_retry(tasks[0], f"{type(error).__name__}: {error}"[:MAX_ERROR])
            return []

    def _give_up_or_retry(self, task: Task, error: str) -> None:
        if task.attempts >= self.settings.max_attempts:
            self.store.tasks.fail(self.owner, task, error, None)
            self.report.failed += 1
        else:
            retry_at = self.store.now() + backoff(task.attempts, self.settings)
            self.store.tasks.fail(self.owner, task, error, retry_at)

    def release_dead(self) -> int:
        """Take back what processes of this machine held when they died."""
        released = 0
        for owner in self.store.tasks.owners():
            host, _, rest = owner.partition(":")
            pid = rest.partition(":")[0]
            if host == _host() and pid.isdecimal() and not _alive(int(pid)):
                released += self.store.tasks.release(owner, died=True)
        return released


def _vectors(embedder: Embedder, texts: list[str]) -> list[Vector]:
    vectors = embedder.embed(texts)
    expected = 4 * embedder.fingerprint.dimension
    if len(vectors) != len(texts):
        raise EmbeddingError(f"{len(vectors)} vectors came back for {len(texts)} texts")
    for vector in vectors:
        if len(vector) != expected:
            raise EmbeddingError(f"a vector of {len(vector)} bytes came back instead of {expected}")
        length = math.hypot(*array("f", vector))
        if not math.isfinite(length) or length == 0:
            raise EmbeddingError(f"a vector of length {length} came back")
    return vectors


def backoff(attempts: int, settings: WorkerSettings) -> float:
    """Seconds to wait after this many attempts, with jitter so that workers do not move in step."""
    longest = min(settings.retry_seconds * 2.0 ** (attempts - 1), settings.max_retry_seconds)
    return longest * random.uniform(0.5, 1.0)  # noqa: S311 (no secret depends on it)


def together(
    workers: Sequence[Worker], work: Callable[[Worker], object], stop: threading.Event
) -> WorkReport:
    """Each in a thread of its own, until all have ended; the first error ends the others too.

    Interrupted, it gives back at once what they hold, and does not wait for their models.
    """
    if len(workers) == 1:
        work(workers[0])
        return workers[0].report
    errors: list[Exception] = []
    threads = [
        threading.Thread(target=_guarded, args=(each, work, stop, errors), daemon=True)
        for each in workers
    ]
    try:
        for thread in threads:
            thread.start()
        while alive := [thread for thread in threads if thread.is_alive()]:
            alive[0].join(IDLE)
    except BaseException as error:
        stop.set()
        for worker in workers:
            worker.store.tasks.release(worker.owner)
        if isinstance(error.__context__, KeyboardInterrupt):
            raise error.__context__ from None  # interrupted in its midst, threading tells its own
        raise
    if errors:
        raise errors[0]
    return WorkReport(
        embedded=sum(each.report.embedded for each in workers),
        superseded=sum(each.report.superseded for each in workers),
        failed=sum(each.report.failed for each in workers),
    )


def _guarded(
    worker: Worker,
    work: Callable[[Worker], object],
    stop: threading.Event,
    errors: list[Exception],
) -> None:
    try:
        work(worker)
    except PegboardError as error:
        errors.append(error)
        stop.set()
    except Exception as error:
        log.exception("a worker met an error it does not know")
        errors.append(error)
        stop.set()


@cache
def _host() -> str:
    """This machine since it was started, and whose process numbers these are.

    Machines that were copied share their name, and so do containers; their numbers say nothing
    to one another. Where a system does not tell, the name has to do.
    """
    import socket

    told = [socket.gethostname().replace(":", "-")]
    with contextlib.suppress(OSError):
        told.append(Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()[:8])
        told.append(str(Path("/proc/self/ns/pid").stat().st_ino))
    return "/".join(told)


def _alive(pid: int) -> bool:
    if os.name == "nt":
        return True  # there, signal 0 is not a question but a blow; the lease will end by itself
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return not _zombie(pid)


def _zombie(pid: int) -> bool:
    """Dead, but not yet noticed by its parent. Only Linux tells; elsewhere the lease will end."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("ascii", "replace").rpartition(")")[2][1] == "Z"
    except (OSError, IndexError):
        return False
