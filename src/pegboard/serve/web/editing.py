"""What people decide about an item on its page. Nothing that somebody wrote is lost."""

from collections.abc import Callable

from starlette.responses import Response

from pegboard.board.curate.editing import Edit, etag
from pegboard.errors import ChangedMeanwhile, UsageError
from pegboard.model.items import Entry, qualified
from pegboard.serve.http.rights import need_item
from pegboard.serve.web import releasing
from pegboard.serve.web.differences import difference
from pegboard.serve.web.items import chosen, item_page
from pegboard.serve.web.paths import HOME, item_path
from pegboard.serve.web.visits import Visit, page, sent_on

Decide = Callable[[Visit, Entry], str]
"""Says what was done, by its name in `items.DONE`."""

WRITTEN = ("description", "tags", "reason", "why", "replacement", "owner")
"""Fields in which people write."""


def decide(visit: Visit) -> Response:
    entry = to_decide(visit)
    wanted = visit.form.text("do")
    found = DECISIONS.get(wanted)
    if found is None and wanted != "remove":
        raise UsageError(f"{wanted[:40]!r} is nothing that can be done here")
    try:
        if found is None:
            return _removed(visit, entry)
        done = found(visit, entry)
    except ChangedMeanwhile:
        return conflict(visit, wanted)
    except UsageError as error:
        typed = {name: said for name, said in visit.form.fields if name in WRITTEN}
        return item_page(visit, _named(visit, files=True), 400, wrong=str(error), typed=typed)
    return sent_on(item_path(entry.item.namespace, entry.item.id), ("done", done))


def to_decide(visit: Visit) -> Entry:
    entry = _named(visit)
    need_item(visit.caller, entry.item)
    return entry


def _named(visit: Visit, *, files: bool = False) -> Entry:
    return chosen(visit, visit.request.path_params["id"], files=files)


def _describe(visit: Visit, entry: Entry) -> str:
    return _edit(visit, entry, Edit(description=visit.form.text("description")), "described")


def _reset(visit: Visit, entry: Entry) -> str:
    return _edit(visit, entry, Edit(description=None), "reset")


def _tag(visit: Visit, entry: Entry) -> str:
    tags = [tag.strip() for tag in visit.form.text("tags").split(",")]
    return _edit(visit, entry, Edit(tags=tuple(filter(None, tags))), "tagged")


def _reset_tags(visit: Visit, entry: Entry) -> str:
    return _edit(visit, entry, Edit(tags=None), "tags-reset")


def _deactivate(visit: Visit, entry: Entry) -> str:
    reason = visit.form.text("reason").strip()
    return _edit(visit, entry, Edit(active=False, reason=reason), "deactivated")


def _activate(visit: Visit, entry: Entry) -> str:
    return _edit(visit, entry, Edit(active=True), "activated")


def _edit(visit: Visit, entry: Entry, edit: Edit, done: str) -> str:
    visit.board.curate.edit(entry, edit, visit.by, visit.form.text("mark") or None)
    return done


def _refresh(visit: Visit, entry: Entry) -> str:
    visit.board.refresh(entry)
    return "refreshed"


def _retry(visit: Visit, entry: Entry) -> str:
    visit.board.retry(entry)
    return "retried"


def _removed(visit: Visit, entry: Entry) -> Response:
    visit.board.curate.remove(entry, visit.by, visit.form.text("mark") or None)
    return sent_on(HOME, ("gone", qualified(entry.item.namespace, entry.item.id)))


DECISIONS: dict[str, Decide] = {
    "describe": _describe,
    "reset": _reset,
    "tag": _tag,
    "reset-tags": _reset_tags,
    "deactivate": _deactivate,
    "activate": _activate,
    "refresh": _refresh,
    "retry": _retry,
    **releasing.DECISIONS,
}


def conflict(visit: Visit, wanted: str) -> Response:
    """Somebody else was quicker: both texts side by side, and the choice."""
    entry = _named(visit)
    own, theirs = "", ""
    if wanted == "describe":
        own, theirs = visit.form.text("description"), entry.item.description
    elif wanted == "tag":
        own, theirs = visit.form.text("tags"), ", ".join(entry.item.tags)
    return page(
        visit,
        "conflict.html",
        "",
        412,
        path=item_path(entry.item.namespace, entry.item.id),
        name=entry.item.name,
        wanted=wanted,
        field={"describe": "description", "tag": "tags"}.get(wanted, ""),
        reason=visit.form.text("reason"),
        own=own,
        theirs=theirs,
        by=_last_hand(wanted, entry),
        difference=difference("", theirs, own),
        mark=etag(entry),
    )


def _last_hand(wanted: str, entry: Entry) -> str:
    return entry.tags_override_by if wanted == "tag" else entry.override_by
