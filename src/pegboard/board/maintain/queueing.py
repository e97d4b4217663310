"""Tasks for vectors: for items that lack one, and for those that are to have another."""

from collections.abc import Iterator, Sequence

from pegboard.model.calls import OWNER, Caller
from pegboard.model.items import EmbeddingStatus, Entry, Fingerprint
from pegboard.ports.stages import Progress
from pegboard.ports.store import Store
from pegboard.text import embedding_text

PAGE = 500


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


def _pages(store: Store) -> Iterator[list[Entry]]:
    after = 0
    while page := store.items.page(after, PAGE):
        after = page[-1].key
        yield page


def _text_of(entry: Entry) -> tuple[int, str, str]:
    return entry.key, entry.content_hash, embedding_text(entry.item)
