"""What is published, by category and by tag."""

from collections.abc import Sequence
from typing import NamedTuple

from starlette.responses import Response

from pegboard.gate.signatures import Trusted
from pegboard.model.calls import Role
from pegboard.model.items import Item, qualified
from pegboard.model.releases import Offer, Order, Wanted
from pegboard.serve.http.registry import FURTHEST
from pegboard.serve.web.facts import SignatureView
from pegboard.serve.web.moments import Moment, moment
from pegboard.serve.web.paths import item_path, quoted, with_query
from pegboard.serve.web.signers import signers_of, worth
from pegboard.serve.web.visits import Visit, page
from pegboard.text import clipped, first_sentence

HERE = "/ui/registry"
LISTED = 50
FIRST = 20
"""Choices that are seen at once."""
LONGEST_SAID = 240
ORDERS = {Order.NAME: "by name", Order.NEWEST: "newest first", Order.DOWNLOADS: "most downloaded"}


class Choice(NamedTuple):
    label: str
    amount: str
    path: str
    chosen: bool


class Facet(NamedTuple):
    title: str
    first: tuple[Choice, ...]
    rest: tuple[Choice, ...]


class OfferView(NamedTuple):
    path: str
    id: str
    name: str
    kind: str
    said: str
    latest: str
    at: Moment | None
    author: str
    signature: SignatureView
    deprecated: bool
    replacement: str
    replacement_path: str
    downloads: str
    rate: str
    """How often it went well; empty where nobody knows."""


def show(visit: Visit) -> Response:
    wanted = _wanted(visit)
    found = visit.board.offered(wanted)
    after = wanted.start + len(found.offers)
    more = bool(found.offers) and after < found.total
    signers = signers_of(visit.board)
    return page(
        visit,
        "registry.html",
        "registry",
        facets=(
            _facet(wanted, "category", "Category", found.categories),
            _facet(wanted, "tag", "Tag", found.tags),
        ),
        orders=tuple(
            Choice(label, "", _path(wanted._replace(order=order)), order is wanted.order)
            for order, label in ORDERS.items()
        ),
        offers=tuple(_view(each, signers) for each in found.offers),
        total=f"{found.total:,}",
        narrowed=wanted.category is not None or wanted.tag is not None,
        next=_path(wanted, start=after) if more else "",
        first=_path(wanted) if wanted.start else "",
        here=HERE,
        audit=visit.may(Role.ADMIN),
    )


def _wanted(visit: Visit) -> Wanted:
    start, order = visit.query.get("from", ""), visit.query.get("order", "")
    beginning = int(start) if start.isascii() and start.isdigit() and len(start) < 8 else 0
    return Wanted(
        visit.query.get("category"),
        visit.query.get("tag"),
        order=Order(order) if order in list(Order) else Order.NAME,
        start=min(beginning, FURTHEST),
        limit=LISTED,
    )


def _path(wanted: Wanted, start: int = 0) -> str:
    """An empty category is one to look for, and no category is none."""
    pairs = [("order", wanted.order.value if wanted.order is not Order.NAME else "")]
    pairs += [("tag", wanted.tag or ""), ("from", str(start) if start else "")]
    found = with_query(HERE, [("category", wanted.category or ""), *pairs])
    if wanted.category == "":
        found += "&category=" if "?" in found else "?category="
    return found


def _facet(wanted: Wanted, name: str, title: str, counts: Sequence[tuple[str, int]]) -> Facet:
    chosen = wanted.category if name == "category" else wanted.tag
    known = dict(counts)
    if chosen is not None:
        known.setdefault(chosen, 0)
    ordered = sorted(known, key=lambda each: (each != chosen, -known[each], each))
    choices = [
        Choice(
            each or "(none)",
            f"{known[each]:,}",
            _path(_choosing(wanted, name, None if each == chosen else each)),
            each == chosen,
        )
        for each in ordered
    ]
    return Facet(title, tuple(choices[:FIRST]), tuple(choices[FIRST:]))


def _choosing(wanted: Wanted, name: str, value: str | None) -> Wanted:
    return wanted._replace(category=value) if name == "category" else wanted._replace(tag=value)


def _view(offer: Offer, signers: Trusted | None) -> OfferView:
    item, entry = offer.entry.item, offer.entry
    signer = item.signature.signer if item.signature else ""
    rate = entry.success_rate
    return OfferView(
        item_path(item.namespace, item.id),
        qualified(item.namespace, item.id),
        item.name,
        item.kind.value,
        clipped(first_sentence(item.description), LONGEST_SAID),
        offer.latest,
        moment(offer.published_at),
        item.author,
        worth(signers, signer, item.namespace),
        item.deprecated,
        item.replacement,
        replacement_path(item),
        f"{entry.download_count:,}",
        "" if rate is None else f"{rate:.0%}",
    )


def replacement_path(item: Item) -> str:
    """Where what is to be used instead is looked for, by whatever name."""
    return f"/ui/items/{quoted(item.replacement)}" if item.replacement else ""
