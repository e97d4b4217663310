"""What a put will do to one item, decided without a database, so that every store decides alike."""

import hashlib
import json
from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

from pegboard.errors import UsageError
from pegboard.model.calls import OnChange
from pegboard.model.content import Signature
from pegboard.model.curation import KEEP, Edit, Event
from pegboard.model.items import (
    PUBLISHED,
    Drift,
    EmbeddingStatus,
    Fingerprint,
    Item,
    Rejection,
    ToolType,
)
from pegboard.text import TEXT_VERSION, embedding_text, prose, source_hash, title, words

EVERY_CHANGE = "every change is allowed"
SPELLED = range(3, 33)
"""Words of these lengths are kept for their spelling."""
SPELLED_PER_ITEM = 60
"""Words of one item that are kept for their spelling: each is stored once per letter."""
SPELLED_PROSE = 4_000
"""Characters of a description that are searched for words to keep for their spelling."""


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
    held: bool
    off: bool
    """Whether a person switched it off."""
    tags: tuple[str, ...]
    """As they are, where a person gave them."""
    imported_tags: tuple[str, ...] | None
    """The source's own, where a person gave others."""

    @property
    def keeps_its_place(self) -> bool:
        """Whether its source still has it, and offers it as far as people let it.

        What was published keeps it for good: its versions are there also when all are taken back.
        """
        published = self.source == PUBLISHED
        return published or self.active or (self.off and self.drift != Drift.MISSING)

    def as_decided(self, item: Item) -> Item:
        """What a source says of the item, under what a person said of it."""
        if self.manual_override:
            item = item._replace(description=self.description)
        return item if self.imported_tags is None else item._replace(tags=self.tags)


class Noted(NamedTuple):
    """What is to be remembered of an item."""

    event: Event
    detail: str = ""


class Plan(NamedTuple):
    item: Item
    """The item as readers will see it: a person's words win over the source's."""
    imported_description: str
    imported_tags: tuple[str, ...] | None
    content_hash: str
    text: str
    source_hash: str
    unchanged: bool
    approved_hash: str
    drift: Drift
    held: bool
    """Whether it is held back until somebody approves what it has become.

    A milder policy does not let go of it: the one who held it may have had others in mind.
    """
    active: bool
    """False for what is held back, missing, or switched off by a person."""
    noted: tuple[Noted, ...] = ()


def plan_put(item: Item, existing: Existing | None, on_change: OnChange | None) -> Plan:
    effective = existing.as_decided(item) if existing else item
    retagged = existing is not None and existing.imported_tags is not None
    imported_tags = item.tags if retagged else None
    digest = content_hash(effective)
    text = embedding_text(effective)
    approved, drift = _approval(item, existing, on_change)
    was_held, off = (existing.held, existing.off) if existing else (False, False)
    held = drift is Drift.CHANGED and (was_held or on_change is OnChange.HOLD)
    active = not held and not off
    return Plan(
        item=effective,
        imported_description=item.description,
        imported_tags=imported_tags,
        content_hash=digest,
        text=text,
        source_hash=source_hash(text),
        unchanged=existing is not None
        and (existing.active, existing.drift, existing.held) == (active, drift, held)
        and existing.approved_hash == approved
        and existing.content_hash == digest
        and existing.text_version == TEXT_VERSION
        and existing.imported_description == item.description
        and existing.imported_tags == imported_tags,
        approved_hash=approved,
        drift=drift,
        held=held,
        active=active,
        noted=_noted(existing, digest, drift, held, on_change) if existing is not None else (),
    )


def plan_edit(item: Item, existing: Existing, edit: Edit) -> Plan:
    """The same item in a person's words, or again in the source's; nothing else changes."""
    imported_tags = existing.imported_tags
    if edit.description is not KEEP:
        said = edit.description
        item = item._replace(description=existing.imported_description if said is None else said)
    if edit.tags is None and imported_tags is not None:
        item, imported_tags = item._replace(tags=imported_tags), None
    elif edit.tags is not None and edit.tags is not KEEP:
        imported_tags = item.tags if imported_tags is None else imported_tags
        item = item._replace(tags=edit.tags)
    text = embedding_text(item)
    return Plan(
        item=item,
        imported_description=existing.imported_description,
        imported_tags=imported_tags,
        content_hash=content_hash(item),
        text=text,
        source_hash=source_hash(text),
        unchanged=False,
        approved_hash=existing.approved_hash,
        drift=Drift(existing.drift),
        held=existing.held,
        active=existing.active,
    )


def _noted(
    existing: Existing, digest: str, drift: Drift, held: bool, on_change: OnChange | None
) -> tuple[Noted, ...]:
    """What a put makes of an item that was there: nothing worth remembering, for most."""
    found: list[Noted] = []
    if existing.drift == Drift.MISSING:
        found.append(Noted(Event.RETURNED))
    if existing.drift == Drift.CHANGED and drift is Drift.NONE and on_change is not None:
        back = Noted(Event.RETURNED, "to what was approved")
        allowed = Noted(Event.APPROVED, EVERY_CHANGE)
        found.append(allowed if on_change is OnChange.ALLOW else back)
    if drift is Drift.CHANGED and (existing.drift, existing.content_hash) != (drift, digest):
        found.append(Noted(Event.CHANGED, "since it was approved"))
    if held and not existing.held:
        found.append(Noted(Event.HELD))
    return tuple(found)


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


def check_sources(items: Iterable[Item]) -> None:
    """A put could change what was published, and nothing may."""
    for item in items:
        if item.source == PUBLISHED:
            raise UsageError(f"{item.id} is to be published, and so not to be put")


def taken(
    item: Item, existing: Existing | None, yielding: frozenset[str] = frozenset()
) -> Existing | None:
    """What another source already hangs under this id, if this one may not take its place."""
    if existing is None or not existing.keeps_its_place or existing.source == item.source:
        return None
    return None if _goes_before(item.source, existing.source, yielding) else existing


def displaced(item: Item, existing: Existing | None) -> Rejection | None:
    """What becomes of another source's item whose place this one takes."""
    if existing is None or not existing.keeps_its_place or existing.source == item.source:
        return None
    return Rejection(
        source=existing.source,
        origin=existing.origin,
        origin_hash=existing.origin_hash,
        code="id_taken",
        reason=_behind(item, item.source),
    )


def id_taken(item: Item, existing: Existing, yielding: frozenset[str] = frozenset()) -> Rejection:
    if _goes_before(existing.source, item.source, yielding):
        reason = _behind(item, existing.source)
    else:
        reason = (
            f"{item.id} already hangs on this board from source {existing.source!r}; "
            "rename one of them, or add this source with --namespace"
        )
    return Rejection(
        source=item.source,
        origin=item.origin,
        origin_hash=item.origin_hash,
        code="id_taken",
        reason=reason,
    )


def not_own(item: Item) -> Rejection:
    """For an item whose id another author has."""
    return Rejection(
        source=item.source,
        origin=item.origin,
        origin_hash=item.origin_hash,
        code="id_taken",
        reason=f"{item.id} in namespace {item.namespace!r} is somebody else's; choose another name",
    )


def _goes_before(one: str, other: str, yielding: frozenset[str]) -> bool:
    return other in yielding and one not in yielding


def _behind(item: Item, holder: str) -> str:
    return (
        f"{item.id} hangs on this board from source {holder!r}, which goes before this one; "
        "it comes back when that one is gone, or rename one of them to have both"
    )


def spelled_words(item: Item) -> list[str]:
    """Return the words of an item that a misspelled query word is compared with.

    Names and labels come first, then the title, then the description: a long description does not
    displace the words of a name.
    """
    labels = (item.name, *item.aliases, item.category, item.subcategory, *item.tags)
    described = prose(item.description)[:SPELLED_PROSE]
    found = dict.fromkeys(spelled(*labels, title(item), described))
    return list(islice(found, SPELLED_PER_ITEM))


def spelled(*texts: str) -> list[str]:
    """Return the words of these texts whose spelling is kept, in order."""
    return [word for text in texts for word in words(text) if len(word) in SPELLED]


def planned_status(text: str, target: Fingerprint | None, has_vector: bool) -> EmbeddingStatus:
    if not text:
        return EmbeddingStatus.BLANK
    if target is None:
        return EmbeddingStatus.DISABLED
    return EmbeddingStatus.READY if has_vector else EmbeddingStatus.PENDING


def definition_hash(item: Item) -> str:
    """A hash over what an agent acts on: a change of this can turn a good tool into a bad one."""
    definition = (
        (item.name, _called(item), item.description),
        (item.input_schema, item.output_schema, item.executor),
    )
    canonical = json.dumps(definition, sort_keys=True, separators=(",", ":"), default=dict)
    return hashlib.sha256(canonical.encode()).hexdigest()


def _called(item: Item) -> tuple[str, ...]:
    """Return the title and the aliases, as far as the description does not contain the title.

    An MCP tool always counts with its title: before items had titles it was the first alias, and
    the hash of an approved tool must stay the same.
    """
    is_mcp = item.tool_type is ToolType.MCP
    if not item.title:
        return item.aliases
    if not is_mcp and item.title.casefold() in item.description.casefold():
        return item.aliases
    return (item.title, *item.aliases)


def content_hash(item: Item) -> str:
    """A hash over everything a reader can see of an item; where it was found does not count.

    Fields with their default value are left out, so that a field which a later release adds does
    not make every item look changed. So is what a link says of versions, if it takes any.
    """
    plain = item._replace(origin="", origin_hash="", version=None)
    seen = {k: v for k, v in plain._asdict().items() if v != Item._field_defaults.get(k)}
    if item.links:
        seen["links"] = [tuple(each) if each.range else each[:2] for each in item.links]
    if item.version is not None:
        named = ("version", "content_hash", "changelog", "manifest_text")
        seen["version"] = {name: getattr(item.version, name) for name in named}
    if item.signature is not None:
        known = Signature._field_defaults
        said = item.signature._asdict().items()
        seen["signature"] = {name: value for name, value in said if value != known.get(name)}
    canonical = json.dumps(seen, sort_keys=True, separators=(",", ":"), default=dict)
    return hashlib.sha256(canonical.encode()).hexdigest()
