"""`/registry`: what is published, by category and tag."""

from collections.abc import Sequence
from typing import Annotated, Literal, NamedTuple

from pydantic import Field, Strict
from starlette.responses import Response

from pegboard.model.items import ItemId, Kind
from pegboard.model.releases import Offer, Order, Wanted
from pegboard.serve.http.filters import Value
from pegboard.serve.http.items import in_thread
from pegboard.serve.http.paging import LISTED, Limit
from pegboard.serve.http.replies import reply
from pegboard.serve.http.table import Asked, Route
from pegboard.serve.http.table import Wanted as Model

FURTHEST = 1_000_000


class RegistryQuery(Model):
    category: Annotated[Value | None, Field(description="Only in this category.")] = None
    tag: Annotated[Value | None, Field(description="Only with this tag.")] = None
    namespace: Annotated[tuple[Value, ...], Field(description="Only in this namespace.")] = ()
    order: Annotated[
        Literal["name", "newest", "downloads"], Field(description="What comes first.")
    ] = "name"
    start: Annotated[
        int, Strict(), Field(ge=0, le=FURTHEST, description="How many to pass over.")
    ] = 0
    limit: Limit = LISTED


class OfferLine(NamedTuple):
    """A published item in a list."""

    namespace: str
    id: ItemId
    name: str
    title: str
    kind: Kind
    description: str
    category: str
    tags: tuple[str, ...]
    latest: str
    published_at: float
    author: str
    signer: str
    signature: str
    """What it was worth when it came in: `trusted`, or why it is not."""
    deprecated: bool
    replacement: str
    downloads: int
    success_rate: float | None


class Choice(NamedTuple):
    name: str
    items: int


class Registry(NamedTuple):
    items: Sequence[OfferLine]
    total: int
    next: int | None
    """Where the next page starts."""
    categories: Sequence[Choice]
    tags: Sequence[Choice]


def line(offer: Offer) -> OfferLine:
    item, entry = offer.entry.item, offer.entry
    signed = item.signature
    return OfferLine(
        namespace=item.namespace,
        id=item.id,
        name=item.name,
        title=item.title,
        kind=item.kind,
        description=item.description,
        category=item.category,
        tags=item.tags,
        latest=offer.latest,
        published_at=offer.published_at,
        author=item.author,
        signer=signed.signer if signed else "",
        signature=signed.state if signed else "",
        deprecated=item.deprecated,
        replacement=item.replacement,
        downloads=entry.download_count,
        success_rate=entry.success_rate,
    )


def get_registry(asked: Asked) -> Response:
    said: RegistryQuery = asked.query
    wanted = Wanted(
        said.category, said.tag, said.namespace, Order(said.order), said.start, said.limit
    )
    found = asked.board.offered(wanted)
    after = said.start + len(found.offers)
    return reply(
        Registry(
            [*map(line, found.offers)],
            found.total,
            after if found.offers and after < found.total else None,
            [Choice(*each) for each in found.categories],
            [Choice(*each) for each in found.tags],
        )
    )


ROUTES = (
    Route(
        "GET",
        "/registry",
        "list_registry",
        "What is published, by category and tag, page by page.",
        in_thread(get_registry),
        query=RegistryQuery,
        answer=Registry,
        group="releases",
    ),
)
