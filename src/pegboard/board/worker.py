"""Takes tasks, embeds their texts outside any transaction, and hangs the vectors that still fit."""

import logging
import math
import os
import random
import secrets
import threading
import time
from array import array
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pegboard.errors import BoardBusy, BoardFull, EmbeddingError, ModelUnavailable
from pegboard.model import Task, Vector
from pegboard.ports import Embedder, Progress, Store

log = logging.getLogger(__name__)

MAX_ERROR = 200
IDLE = 0.05
"""Seconds between looks at an empty queue that somebody is filling."""


class WorkerSettings(NamedTuple):
    batch_size: int = 128
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


class Worker:
    """Can be killed at any instruction: what it held comes back when its lease ends, or sooner."""

    def __init__(self, store: Store, embedder: Embedder, settings: WorkerSettings) -> None:
        self.store = store
        self.embedder = embedder
        self.settings = settings
        self.report = WorkReport()
        self.owner = f"{_host()}:{os.getpid()}:{secrets.token_hex(4)}"

    def drain(
        self,
        stop: threading.Event,
        progress: Progress,
        all_queued: threading.Event | None = None,
    ) -> WorkReport:
        """Work until nothing is due and, if somebody is still queueing, until that has ended.

        Raises `ModelUnavailable` if nothing can be embedded.
        """
        self.release_dead()
        looked = total = 0.0
        while not stop.is_set():
            final = all_queued is None or all_queued.is_set()
            if self.step():
                if time.monotonic() - looked > 1:
                    looked = time.monotonic()
                    total = self.report.total + self.store.tasks.waiting(self.embedder.fingerprint)
                progress("embedding", self.report.total, max(int(total), self.report.total))
            elif all_queued is None or final:
                break
            else:
                all_queued.wait(IDLE)
        return self.report

    def run(self, stop: threading.Event) -> WorkReport:
        """Work until told to stop; a model or board that is of no use for a while is waited for."""
        while not stop.is_set():
            try:
                if not self.release_dead() and not self.step():
                    stop.wait(self.settings.poll_seconds)
            except (ModelUnavailable, BoardBusy, BoardFull) as error:
                log.warning("%s; trying again in %g s", error, self.settings.patience_seconds)
                stop.wait(self.settings.patience_seconds)
        return self.report

    def step(self) -> bool:
        """One batch; false if there was none."""
        target = self.embedder.fingerprint
        tasks = self.store.tasks.claim(
            target, self.owner, self.settings.batch_size, self.settings.lease_seconds
        )
        if not tasks:
            return False
        try:
            done = self._embed([task for task in tasks if not self._given_up(task)])
        except BaseException:
            self.store.tasks.release(self.owner)
            raise
        hung = self.store.tasks.finish(target, done)
        self.report.embedded += hung
        self.report.superseded += len(done) - hung
        return True

    def _given_up(self, task: Task) -> bool:
        """Attempts beyond the limit are those that no worker lived to report."""
        if task.attempts <= self.settings.max_attempts:
            return False
        died = f"its worker died {task.attempts - 1} times"
        self.store.tasks.fail(self.owner, task, died, None)
        self.report.failed += 1
        return True

    def _embed(self, tasks: list[Task]) -> list[tuple[Task, Vector]]:
        """The whole batch at once; if that fails, one by one, so that one bad text stands alone."""
        try:
            return list(zip(tasks, self._vectors(tasks), strict=True))
        except ModelUnavailable:
            raise
        except Exception as error:
            log.exception("%d texts could not be embedded", len(tasks))
            if len(tasks) > 1:
                return [pair for task in tasks for pair in self._embed([task])]
            self._give_up_or_retry(tasks[0], f"{type(error).__name__}: {error}"[:MAX_ERROR])
            return []

    def _vectors(self, tasks: list[Task]) -> list[Vector]:
        vectors = self.embedder.embed([task.text for task in tasks])
        expected = 4 * self.embedder.fingerprint.dimension
        if len(vectors) != len(tasks):
            raise EmbeddingError(f"{len(vectors)} vectors came back for {len(tasks)} texts")
        for vector in vectors:
            if len(vector) != expected:
                raise EmbeddingError(
                    f"a vector of {len(vector)} bytes came back instead of {expected}"
                )
            length = math.hypot(*array("f", vector))
            if not math.isfinite(length) or length == 0:
                raise EmbeddingError(f"a vector of length {length} came back")
        return vectors

    def _give_up_or_retry(self, task: Task, error: str) -> None:
        if task.attempts >= self.settings.max_attempts:
            self.store.tasks.fail(self.owner, task, error, None)
            self.report.failed += 1
        else:
            retry_at = time.time() + backoff(task.attempts, self.settings)
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


def backoff(attempts: int, settings: WorkerSettings) -> float:
    """Seconds to wait after this many attempts, with jitter so that workers do not move in step."""
    longest = min(settings.retry_seconds * 2.0 ** (attempts - 1), settings.max_retry_seconds)
    return longest * random.uniform(0.5, 1.0)  # noqa: S311 (no secret depends on it)


def _host() -> str:
    import socket

    return socket.gethostname()


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
