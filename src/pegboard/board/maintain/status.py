"""How a board stands: what is on it, what waits, which servers answer."""

from collections.abc import Callable
from typing import NamedTuple

from pegboard.errors import ModelUnavailable
from pegboard.model.calls import ServerState
from pegboard.model.items import EmbeddingCounts, Fingerprint, SourceRecord
from pegboard.ports.store import Store


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
