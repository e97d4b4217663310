"""What a put will do to one item, decided without a database, so that every store decides alike."""

import hashlib
import json
from typing import NamedTuple

from pegboard.model import EmbeddingStatus, Fingerprint, Item
from pegboard.text import TEXT_VERSION, embedding_text, source_hash


class Existing(NamedTuple):
    """The part of a stored item that decides what a new version of it means."""

    key: int
    source: str
    active: bool
    content_hash: str
    origin: str
    origin_hash: str
    text_version: int
    manual_override: bool
    description: str
    imported_description: str


class Plan(NamedTuple):
    item: Item
    """The item as readers will see it: a person's description wins over the source's."""
    imported_description: str
    content_hash: str
    text: str
    source_hash: str
    unchanged: bool


def plan_put(item: Item, existing: Existing | None) -> Plan:
    effective = item
    if existing is not None and existing.manual_override:
        effective = item._replace(description=existing.description)
    digest = content_hash(effective)
    text = embedding_text(effective)
    return Plan(
        item=effective,
        imported_description=item.description,
        content_hash=digest,
        text=text,
        source_hash=source_hash(text),
        unchanged=existing is not None
        and existing.active
        and existing.content_hash == digest
        and existing.text_version == TEXT_VERSION
        and existing.imported_description == item.description,
    )


def taken(item: Item, existing: Existing | None) -> bool:
    """Whether another source already hangs something under this id."""
    return existing is not None and existing.active and existing.source != item.source


def planned_status(text: str, target: Fingerprint | None, has_vector: bool) -> EmbeddingStatus:
    if not text:
        return EmbeddingStatus.BLANK
    if target is None:
        return EmbeddingStatus.DISABLED
    return EmbeddingStatus.READY if has_vector else EmbeddingStatus.PENDING


def content_hash(item: Item) -> str:
    """A hash over everything a reader can see of an item; where it was found does not count.

    Fields with their default value are left out, so that a field which a later release adds does
    not make every item look changed.
    """
    plain = item._replace(origin="", origin_hash="", version=None)
    seen = {k: v for k, v in plain._asdict().items() if v != Item._field_defaults.get(k)}
    if item.version is not None:
        named = ("version", "content_hash", "changelog", "manifest_text")
        seen["version"] = {name: getattr(item.version, name) for name in named}
    if item.signature is not None:
        seen["signature"] = item.signature._asdict()
    canonical = json.dumps(seen, sort_keys=True, separators=(",", ":"), default=dict)
    return hashlib.sha256(canonical.encode()).hexdigest()
