"""How the board is: how far its vectors are, what waits, and how quickly it goes."""

from typing import NamedTuple

from starlette.responses import Response

from pegboard.board.maintain.status import Status
from pegboard.errors import UsageError
from pegboard.model.items import EmbeddingCounts
from pegboard.serve.http.upkeep import QUEUEING, begin
from pegboard.serve.web.facts import size_text
from pegboard.serve.web.moments import span
from pegboard.serve.web.visits import Visit, page, sent_on

TONES = {"ready": "good", "pending": "warn", "failed": "bad", "disabled": "", "blank": ""}
DONE = {
    "backfill": "What has no vector is being queued. Its vectors are made one after another.",
    "retry": "What failed is tried again.",
    "refresh": "Everything is being embedded anew. The old vectors serve until then.",
}


class Count(NamedTuple):
    name: str
    number: str
    tone: str
    start: str
    share: str
    """Where its part of the bar begins, and how long it is."""


class StatusView(NamedTuple):
    counts: tuple[Count, ...]
    total: str
    ready_share: str
    waiting: int
    oldest: str
    """How long the task waits that was queued first."""
    pace: str
    left: str
    model: str
    building: tuple[str, tuple[Count, ...]] | None
    rejections: int
    changed: int
    sources: int
    down: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    trouble: tuple[str, ...]
    at_work: bool


def show(visit: Visit) -> Response:
    found = view(visit)
    if visit.part == "status":
        return page(visit, "parts/status.html", "status", status=found)
    return page(
        visit,
        "status.html",
        "status",
        status=found,
        done=DONE.get(visit.query.get("done", ""), ""),
        may_upkeep=visit.caller.everywhere,
    )


def view(visit: Visit) -> StatusView:
    found = visit.board.status()
    everywhere = visit.caller.everywhere
    oldest, pace = found.pace
    total = found.embeddings.total
    return StatusView(
        counts=_counts(found.embeddings),
        total=f"{total:,}",
        ready_share=f"{found.embeddings.ready / total:.0%}" if total else "",
        waiting=found.waiting,
        oldest="" if oldest is None else span(visit.board.now() - oldest),
        pace=f"{pace * 60:,.0f} a minute" if pace > 0 else "",
        left=span(found.waiting / pace) if pace > 0 and found.waiting else "",
        model=found.model,
        building=(found.building.model, _counts(found.building.embeddings))
        if found.building
        else None,
        rejections=found.rejections,
        changed=found.changed,
        sources=len(found.sources),
        down=_down(found),
        facts=tuple(map(_fact, found.facts.items())) if everywhere else (),
        trouble=tuple(visit.board.trouble()) if everywhere else (),
        at_work=found.waiting > 0,
    )


def _counts(found: EmbeddingCounts) -> tuple[Count, ...]:
    counts, start = list[Count](), 0.0
    for name, number in found._asdict().items():
        if name != "total":
            share = number / found.total if found.total else 0.0
            counts.append(Count(name, f"{number:,}", TONES[name], f"{start:.3%}", f"{share:.3%}"))
            start += share
    return tuple(counts)


def _fact(fact: tuple[str, object]) -> tuple[str, str]:
    name, value = fact
    if isinstance(value, bool):
        return name, "yes" if value else "no"
    return name, size_text(value) if name == "bytes" and isinstance(value, int) else str(value)


def _down(found: Status) -> tuple[str, ...]:
    return tuple(
        each.name
        for each in found.servers
        if each.health == "down" and each.name not in found.switched_off
    )


async def act(visit: Visit) -> Response:
    """Begin what concerns the whole board; whoever asked goes on meanwhile."""
    wanted = visit.form.text("do")
    if wanted not in QUEUEING:
        raise UsageError(f"{wanted[:40]!r} is nothing that can be done here")
    begin(visit.gateway, visit.caller, wanted)
    return sent_on("/ui/status", ("done", wanted))
