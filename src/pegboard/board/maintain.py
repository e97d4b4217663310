"""Upkeep: backfill, retry, refresh, status, and the check of the board's own rules."""

from collections.abc import Iterator
from typing import NamedTuple

from pegboard.calls import ServerState
from pegboard.model import EmbeddingCounts, EmbeddingStatus, Entry, Fingerprint, SourceRecord
from pegboard.ports import Progress, Store
from pegboard.text import embedding_text

PAGE = 500


class Status(NamedTuple):
    facts: dict[str, object]
    model: str
    embeddings: EmbeddingCounts
    waiting: int
    sources: list[SourceRecord]
    servers: list[ServerState]
    switched_off: list[str]
    rejections: int
    changed: int
    """Items that are no longer what was approved."""


def status(store: Store, model: str, target: Fingerprint | None) -> Status:
    servers = store.ledger.servers()
    return Status(
        facts=dict(store.facts()),
        model=model,
        embeddings=store.tasks.counts(target),
        waiting=store.tasks.waiting(target),
        sources=store.ledger.sources(),
        servers=[server.state for server in servers],
        switched_off=[each.config.name for each in servers if not each.config.enabled],
        rejections=len(store.ledger.rejections()),
        changed=len(store.items.changed()),
    )


def queue_missing(store: Store, target: Fingerprint | None, progress: Progress) -> int:
    """Give every item without a vector of this model a task. Stopped half-way, it can be run again.

    Without a model, items that wait for one are marked disabled instead.
    """
    if target is None:
        return store.tasks.disable()
    store.tasks.adopt(target)
    queued = after = 0
    while page := store.tasks.unembedded(target, after, PAGE):
        after = page[-1].key
        queued += store.tasks.enqueue(target, [_text_of(entry) for entry in page])
        progress("queueing", queued, None)
    return queued


def refresh(store: Store, target: Fingerprint, entry: Entry | None, progress: Progress) -> int:
    """Embed again, whether it is needed or not; the old vectors serve until the new are there."""
    queued = 0
    for page in [[entry]] if entry else _pages(store):
        wanted = [e for e in page if e.active and e.embedding.status is not EmbeddingStatus.BLANK]
        queued += store.tasks.enqueue(target, [_text_of(each) for each in wanted])
        progress("queueing", queued, None)
    return queued


def check(store: Store) -> list[str]:
    """Every rule of the board that is broken, as a sentence."""
    return store.check()


def _pages(store: Store) -> Iterator[list[Entry]]:
    after = 0
    while page := store.items.page(after, PAGE):
        after = page[-1].key
        yield page


def _text_of(entry: Entry) -> tuple[int, str, str]:
    return entry.key, entry.content_hash, embedding_text(entry.item)
