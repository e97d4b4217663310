"""What people decide about items, what became of items, and how items refer to one another."""

import hashlib
import json
from enum import Enum, StrEnum
from typing import Final, NamedTuple

from pegboard.model.items import Entry, ItemId, Kind


class Event(StrEnum):
    """What can happen to an item. That it came or got another text is nothing to remember."""

    MISSING = "missing"
    RETURNED = "returned"
    CHANGED = "changed"
    HELD = "held"
    APPROVED = "approved"
    DESCRIBED = "described"
    TAGGED = "tagged"
    RESET = "reset"
    DEACTIVATED = "deactivated"
    ACTIVATED = "activated"
    PURGED = "purged"
    REMOVED = "removed"


class Keep(Enum):
    """What an edit says of a field that is to stay as it is; None says something else."""

    KEEP = "keep"


KEEP: Final = Keep.KEEP


class Edit(NamedTuple):
    """What somebody decides about an item, all of it or nothing.

    None takes back what was decided: the source's own description and tags, and active unless
    its source or a policy says otherwise.
    """

    description: str | Keep | None = KEEP
    tags: tuple[str, ...] | Keep | None = KEEP
    active: bool | Keep | None = KEEP
    reason: str = ""
    """Why it is switched off, if it is."""


class Happening(NamedTuple):
    """An event of an item, which may be gone since."""

    namespace: str
    id: ItemId
    at: float
    event: Event
    by: str = ""
    """Who decided it, where a person did."""
    detail: str = ""


class Tie(NamedTuple):
    """A link as seen from one of its ends."""

    relation: str
    outward: bool
    """Whether the item itself has the link; else the other one does."""
    target: str
    """What the link says, as it is written."""
    id: ItemId | None = None
    """The other end; None if the link leads to no active item."""
    namespace: str = ""
    name: str = ""
    kind: Kind | None = None


class LooseLink(NamedTuple):
    """A link of an active item that leads to no active one."""

    source: str
    namespace: str
    id: ItemId
    relation: str
    target: str


MOST_EVENTS = 200

_DECIDED = (
    *("content_hash", "active", "drift", "imported_description", "imported_tags"),
    *("manual_override", "override_at", "override_by"),
    *("tags_override", "tags_override_at", "tags_override_by"),
    *("off_at", "off_by", "off_reason"),
)


def etag(entry: Entry) -> str:
    """A mark that changes with whatever a person or a source decides about an item.

    Embedding, figures and runs leave it alone. It is the same however the entry was read: what
    its version is made of is in the content hash.
    """
    item = entry.item
    decided = [item.namespace, item.id, item.origin, *(getattr(entry, each) for each in _DECIDED)]
    canonical = json.dumps(decided, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:32]
