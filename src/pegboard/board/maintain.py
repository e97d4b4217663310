"""Upkeep: backfill, retry, refresh, status, and the check of the board's own rules."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from pegboard.errors import ModelUnavailable
from pegboard.model.calls import OWNER, Caller, ServerState
from pegboard.model.content import Blob
from pegboard.model.items import EmbeddingCounts, EmbeddingStatus, Entry, Fingerprint, SourceRecord
from pegboard.ports.stages import Progress
from pegboard.ports.store import Store
from pegboard.text import embedding_text

PAGE = 500
LEFT_BEHIND = 3600.0
"""Seconds after which an upload that nothing refers to is of a put that was killed."""


def quiet(step: str, done: int, total: int | None) -> None:
    """Progress that nobody watches."""


class Building(NamedTuple):
    """A model whose vectors are being made beside those that are searched."""

    model: str
    embeddings: EmbeddingCounts


class Pace(NamedTuple):
    """How the work on the vectors goes."""

    oldest_at: float | None
    """When the task that has waited longest was queued; None if none waits."""
    done_a_second: float
    """Vectors, lately."""


class Status(NamedTuple):
    facts: dict[str, object]
    model: str
    embeddings: EmbeddingCounts
    building: Building | None
    waiting: int
    sources: list[SourceRecord]
    servers: list[ServerState]
    switched_off: list[str]
    rejections: int
    changed: int
    """Items that are no longer what was approved."""
    pace: Pace


def status(
    store: Store, wanted: Callable[[], Fingerprint | None], building: Building | None
) -> Status:
    """`wanted` says what new vectors must be like, or raises if that cannot be known."""
    try:
        target = wanted()
        model = target.key if target else "disabled"
    except ModelUnavailable as error:
        target, model = None, f"unavailable: {error.message}"
    servers = store.ledger.servers()
    return Status(
        facts=dict(store.facts()),
        model=model,
        embeddings=store.tasks.counts(target),
        building=building,
        waiting=store.tasks.waiting(target),
        sources=store.ledger.sources(),
        servers=[server.state for server in servers],
        switched_off=[each.config.name for each in servers if not each.config.enabled],
        rejections=len(store.ledger.rejections()),
        changed=len(store.items.changed()),
        pace=Pace(*store.tasks.pace(target)),
    )


def queue_missing(store: Store, targets: Sequence[Fingerprint], progress: Progress) -> int:
    """Give every item a task for each of these vectors that it lacks.

    Stopped half-way, it can be run again. Tasks for vectors of other kinds are dropped.
    """
    store.tasks.adopt(*targets)
    queued = 0
    for target in targets:
        after = 0
        while page := store.tasks.unembedded(target, after, PAGE):
            after = page[-1].key
            queued += store.tasks.enqueue(target, [_text_of(entry) for entry in page])
            progress("queueing", queued, None)
    return queued


def refresh(
    store: Store,
    target: Fingerprint,
    entry: Entry | None,
    progress: Progress,
    whose: Caller = OWNER,
) -> int:
    """Embed again, whether it is needed or not; the old vectors serve until the new are there.

    Without an item, all those that are the caller's to decide about.
    """
    queued = 0
    for page in [[entry]] if entry else _pages(store):
        wanted = [e for e in page if e.active and e.embedding.status is not EmbeddingStatus.BLANK]
        if entry is None:
            wanted = [e for e in wanted if whose.may_decide(e.item.namespace, e.item.author)]
        queued += store.tasks.enqueue(target, [_text_of(each) for each in wanted])
        progress("queueing", queued, None)
    return queued


def check(store: Store) -> list[str]:
    """Every rule of the board that is broken, as a sentence."""
    return store.check()


def unused_files(
    store: Store, *, remove: bool = False, older_than: float = LEFT_BEHIND
) -> list[Blob]:
    """Large files that nothing refers to: their item has changed or gone, or was never committed.

    What is younger is left alone, because another process may be about to commit it.
    """
    return store.unused_files(older_than, remove=remove)


def _pages(store: Store) -> Iterator[list[Entry]]:
    after = 0
    while page := store.items.page(after, PAGE):
        after = page[-1].key
        yield page


def _text_of(entry: Entry) -> tuple[int, str, str]:
    return entry.key, entry.content_hash, embedding_text(entry.item)
