"""Tools that are no longer what was approved: how they differ, and the yes to what they are now."""

from typing import NamedTuple

from starlette.responses import Response

from pegboard.board.curate.changes import definition, exactly
from pegboard.errors import NotAllowed
from pegboard.model.calls import Change
from pegboard.serve.web.differences import Difference, Effort, differences
from pegboard.serve.web.listing import State, state_of
from pegboard.serve.web.moments import Moment, moment
from pegboard.serve.web.paths import item_path
from pegboard.serve.web.visits import Visit, page, sent_on

MOST_SHOWN = 50
DONE = {
    "approved": "It is approved as it is now.",
    "again": "It changed once more while you were looking, so it was not approved. "
    "Here is what it is now.",
}


class ChangeView(NamedTuple):
    name: str
    path: str
    id: str
    namespace: str
    source: str
    state: State
    at: Moment | None
    differences: tuple[Difference, ...]
    exactly: str
    """What is approved, and nothing else."""
    may_approve: bool


def show(visit: Visit) -> Response:
    found = visit.board.trust.changes()
    effort = Effort()
    return page(
        visit,
        "changes.html",
        "changes",
        changes=tuple(_view(visit, each, effort) for each in found[:MOST_SHOWN]),
        left_out=max(len(found) - MOST_SHOWN, 0),
        done=DONE.get(visit.query.get("done", ""), ""),
        well=visit.query.get("done") == "approved",
    )


def _view(visit: Visit, change: Change, effort: Effort) -> ChangeView:
    item = change.entry.item
    return ChangeView(
        item.name,
        item_path(item.namespace, item.id),
        item.id,
        item.namespace,
        item.source,
        state_of(change.entry),
        moment(change.entry.drift_at),
        differences(change.approved, definition(change), effort),
        exactly(change),
        _may_approve(visit, change),
    )


def _may_approve(visit: Visit, change: Change) -> bool:
    item = change.entry.item
    return visit.caller.may_decide(item.namespace, item.author)


def approve(visit: Visit) -> Response:
    """Exactly what was shown, or nothing."""
    wanted = (visit.form.text("namespace"), visit.form.text("exactly"))
    chosen = [
        each
        for each in visit.board.trust.changes()
        if (each.entry.item.namespace, exactly(each)) == wanted
    ]
    if any(not _may_approve(visit, each) for each in chosen):
        raise NotAllowed("this is not yours to approve", "an admin of its namespace can")
    done = visit.board.trust.approve(chosen, visit.board.target, visit.by) if chosen else 0
    return sent_on("/ui/changes", ("done", "approved" if done else "again"))
