"""What is published: versions that never change, who decides about them, and the log of that."""

from enum import StrEnum
from typing import NamedTuple

from pegboard.model.calls import TEAM as TEAM
from pegboard.model.items import Entry, Rejection, Visibility


class Action(StrEnum):
    """What the audit log tells of."""

    PUBLISH = "publish"
    YANK = "yank"
    UNYANK = "unyank"
    TRANSFER = "transfer"
    VISIBILITY = "visibility"
    DEPRECATE = "deprecate"
    REMOVE = "remove"
    APPROVE = "approve"
    TRUST = "trust"
    """Whose signatures are believed here has changed."""
    POLICY = "policy"
    """What is asked of signatures here has changed."""
    TOKEN = "token"  # noqa: S105 (the word itself)


class AuditLine(NamedTuple):
    """Something that was decided. It is never changed, and outlives what it is about."""

    at: float
    who: str
    action: Action
    namespace: str = ""
    id: str = ""
    version: str = ""
    detail: str = ""


class Published(NamedTuple):
    """What became of a release that was to be published."""

    state: str
    """`published`, or `unchanged` if the same was there; else `refused`."""
    latest: str = ""
    """The version that hangs on the board now."""
    refused: Rejection | None = None


class Decision(NamedTuple):
    """What an owner decides about a published item; None leaves it as it is."""

    visibility: Visibility | None = None
    owner: str | None = None
    """A subject, or `@namespace`."""
    deprecated: bool | None = None
    replacement: str | None = None


MOST_CHOICES = 200
"""Categories and tags that are told to whoever looks around."""


class Order(StrEnum):
    """In which published items are listed."""

    NAME = "name"
    NEWEST = "newest"
    DOWNLOADS = "downloads"


class Wanted(NamedTuple):
    """Which published items, and where in their order to begin."""

    category: str | None = None
    tag: str | None = None
    namespaces: tuple[str, ...] = ()
    """Empty for all."""
    order: Order = Order.NAME
    start: int = 0
    limit: int = 50


class Offer(NamedTuple):
    """A published item that can be found."""

    entry: Entry
    latest: str
    published_at: float
    """When that version was."""


class Offered(NamedTuple):
    offers: tuple[Offer, ...] = ()
    total: int = 0
    categories: tuple[tuple[str, int], ...] = ()
    """How many each has, among those with the tag that is wanted."""
    tags: tuple[tuple[str, int], ...] = ()
    """How many each has, among those of the category that is wanted."""
