"""What was published and decided, for admins. There is nothing here to change it with."""

from typing import NamedTuple

from starlette.responses import Response

from pegboard.errors import NotAllowed
from pegboard.model.calls import Role
from pegboard.model.items import qualified
from pegboard.model.releases import AuditLine
from pegboard.serve.web.moments import Moment, moment
from pegboard.serve.web.paths import item_path
from pegboard.serve.web.visits import Visit, page

LISTED = 200


class AuditView(NamedTuple):
    at: Moment | None
    who: str
    action: str
    id: str
    path: str
    version: str
    detail: str


def show(visit: Visit) -> Response:
    if not visit.may(Role.ADMIN):
        raise NotAllowed("the audit log is for admins", "ask one of your namespace")
    item = visit.query.get("id", "").strip()
    lines = visit.board.releases.audit(item or None, LISTED)
    return page(
        visit,
        "audit.html",
        "registry",
        item=item,
        lines=tuple(map(_view, lines)),
        full=len(lines) == LISTED,
        listed=LISTED,
    )


def _view(line: AuditLine) -> AuditView:
    return AuditView(
        moment(line.at),
        line.who,
        line.action.value,
        qualified(line.namespace, line.id) if line.id else "",
        item_path(line.namespace, line.id) if line.id else "",
        line.version,
        line.detail,
    )
