"""What a put will do to one item, decided without a database, so that every store decides alike."""

import hashlib
import json
from typing import NamedTuple

from pegboard.calls import OnChange
from pegboard.model import Drift, EmbeddingStatus, Fingerprint, Item, Rejection
from pegboard.text import TEXT_VERSION, embedding_text, source_hash, words

SPELLED = range(3, 33)
"""Words of these lengths are kept for their spelling."""


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
    approved_hash: str
    drift: str


class Plan(NamedTuple):
    item: Item
    """The item as readers will see it: a person's description wins over the source's."""
    imported_description: str
    content_hash: str
    text: str
    source_hash: str
    unchanged: bool
    approved_hash: str
    drift: Drift
    active: bool
    """False for an item that is held back until somebody approves what it has become.

    A milder policy does not let go of it: the one who held it may have had others in mind.
    """


def plan_put(item: Item, existing: Existing | None, on_change: OnChange | None) -> Plan:
    effective = item
    if existing is not None and existing.manual_override:
        effective = item._replace(description=existing.description)
    digest = content_hash(effective)
    text = embedding_text(effective)
    approved, drift = _approval(item, existing, on_change)
    held = existing is not None and existing.drift == Drift.CHANGED and not existing.active
    active = drift is Drift.NONE or not (held or on_change is OnChange.HOLD)
    return Plan(
        item=effective,
        imported_description=item.description,
        content_hash=digest,
        text=text,
        source_hash=source_hash(text),
        unchanged=existing is not None
        and (existing.active, existing.drift) == (active, drift)
        and existing.approved_hash == approved
        and existing.content_hash == digest
        and existing.text_version == TEXT_VERSION
        and existing.imported_description == item.description,
        approved_hash=approved,
        drift=drift,
        active=active,
    )


def _approval(
    item: Item, existing: Existing | None, on_change: OnChange | None
) -> tuple[str, Drift]:
    """The hash that stands approved, and whether this item is something else.

    What is seen for the first time is approved; a source that is not watched approves nothing.
    """
    approved = existing.approved_hash if existing else ""
    if on_change is None:
        return approved, Drift.NONE
    offered = definition_hash(item)
    if not approved or on_change is OnChange.ALLOW or approved == offered:
        return offered, Drift.NONE
    return approved, Drift.CHANGED


def taken(item: Item, existing: Existing | None) -> bool:
    """Whether another source already hangs something under this id."""
    return existing is not None and existing.active and existing.source != item.source


def id_taken(item: Item, existing: Existing | None) -> Rejection:
    holder = existing.source if existing else ""
    return Rejection(
        source=item.source,
        origin=item.origin,
        origin_hash=item.origin_hash,
        code="id_taken",
        reason=f"{item.id} already hangs on this board from source {holder!r}; "
        "rename one of them, or add this source with --namespace",
    )


def spelled_words(item: Item) -> set[str]:
    """The words an item is called by."""
    named = (item.name, *item.aliases, item.category, item.subcategory, *item.tags)
    return {word for text in named for word in words(text) if len(word) in SPELLED}


def planned_status(text: str, target: Fingerprint | None, has_vector: bool) -> EmbeddingStatus:
    if not text:
        return EmbeddingStatus.BLANK
    if target is None:
        return EmbeddingStatus.DISABLED
    return EmbeddingStatus.READY if has_vector else EmbeddingStatus.PENDING


def definition_hash(item: Item) -> str:
    """A hash over what an agent acts on: a change of this can turn a good tool into a bad one."""
    definition = (
        (item.name, item.aliases, item.description),
        (item.input_schema, item.output_schema, item.executor),
    )
    canonical = json.dumps(definition, sort_keys=True, separators=(",", ":"), default=dict)
    return hashlib.sha256(canonical.encode()).hexdigest()


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
