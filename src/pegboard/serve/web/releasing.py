"""What an owner decides about a published item on its page."""

from pegboard.errors import UsageError
from pegboard.model.items import Entry, Visibility
from pegboard.model.releases import Decision
from pegboard.serve.web.visits import Visit


def yank(visit: Visit, entry: Entry) -> str:
    reason = visit.form.text("why").strip()
    _yank(visit, entry, yanked=True, reason=reason)
    return "yanked"


def unyank(visit: Visit, entry: Entry) -> str:
    _yank(visit, entry, yanked=False)
    return "unyanked"


def _yank(visit: Visit, entry: Entry, *, yanked: bool, reason: str = "") -> None:
    number = visit.form.text("version")
    visit.board.releases.yank(
        entry.item.reference, number, yanked=yanked, reason=reason, by=visit.by
    )


def deprecate(visit: Visit, entry: Entry) -> str:
    replacement = visit.form.text("replacement").strip()
    _decide(visit, entry, Decision(deprecated=True, replacement=replacement))
    return "deprecated"


def undeprecate(visit: Visit, entry: Entry) -> str:
    _decide(visit, entry, Decision(deprecated=False, replacement=""))
    return "undeprecated"


def show_to(visit: Visit, entry: Entry) -> str:
    said = visit.form.text("visibility")
    if said not in list(Visibility):
        raise UsageError(f"{said[:40]!r} says not who may see it")
    _decide(visit, entry, Decision(visibility=Visibility(said)))
    return "shown"


def give(visit: Visit, entry: Entry) -> str:
    owner = visit.form.text("owner").strip()
    if not owner:
        raise UsageError("nobody is named who is to have it")
    _decide(visit, entry, Decision(owner=owner))
    return "given"


def _decide(visit: Visit, entry: Entry, decision: Decision) -> None:
    visit.board.releases.decide(entry.item.reference, decision, visit.by)


DECISIONS = {
    "yank": yank,
    "unyank": unyank,
    "deprecate": deprecate,
    "undeprecate": undeprecate,
    "visibility": show_to,
    "give": give,
}
