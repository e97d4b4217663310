"""What the gate refused, and why."""

from collections import Counter
from typing import NamedTuple

from starlette.responses import Response

from pegboard.model.items import Rejection
from pegboard.serve.web.moments import Moment, moment
from pegboard.serve.web.paths import with_query
from pegboard.serve.web.visits import Visit, page

LISTED = 100
HERE = "/ui/rejections"


class Choice(NamedTuple):
    label: str
    amount: int
    path: str
    chosen: bool


class RejectionView(NamedTuple):
    source: str
    origin: str
    code: str
    reason: str
    at: Moment | None


def show(visit: Visit) -> Response:
    everything = visit.board.rejections()
    source, code = visit.query.get("source", ""), visit.query.get("code", "")
    found = [each for each in everything if source in ("", each.source) and code in ("", each.code)]
    text = visit.query.get("from", "")
    start = int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0
    chosen = [("source", source), ("code", code)]
    more = start + LISTED < len(found)
    return page(
        visit,
        "rejections.html",
        "rejections",
        all=visit.caller.everywhere,
        total=len(everything),
        matching=len(found),
        sources=_choices(Counter(each.source for each in everything), "source", source, code),
        codes=_choices(Counter(each.code for each in everything), "code", code, source),
        rejections=tuple(map(_view, found[start : start + LISTED])),
        next=with_query(HERE, [*chosen, ("from", str(start + LISTED))]) if more else "",
        first=with_query(HERE, chosen) if start else "",
    )


def _choices(counts: Counter[str], name: str, chosen: str, other: str) -> tuple[Choice, ...]:
    """Each with where the list of it is, other choices kept."""
    beside = ("code" if name == "source" else "source", other)
    return tuple(
        Choice(
            value,
            count,
            with_query(HERE, [(name, "" if value == chosen else value), beside]),
            value == chosen,
        )
        for value, count in counts.most_common(30)
    )


def _view(found: Rejection) -> RejectionView:
    return RejectionView(
        found.source, found.origin, found.code, found.reason, moment(found.rejected_at)
    )
