"""Items that are not what was approved: how they differ, and approving what they are now."""

from collections.abc import Sequence
from typing import NamedTuple

from starlette.responses import Response

from pegboard.board.curate import changes
from pegboard.errors import NotAllowed
from pegboard.model.calls import Role
from pegboard.serve.http.items import both, in_thread
from pegboard.serve.http.replies import reply
from pegboard.serve.http.table import Asked, Route

GROUP = "approval"


class Changes(NamedTuple):
    changes: Sequence[changes.Told]


class Approved(NamedTuple):
    approved: int


def get_changes(asked: Asked) -> Response:
    return reply(Changes([*map(changes.told, asked.board.trust.changes())]))


def approve_item(asked: Asked) -> Response:
    """`id@hash`, as the changes have it, approves exactly that; an id what it is at this moment."""
    board, caller = asked.board, asked.caller
    found = changes.chosen(board.trust.changes(), asked.path["id"])
    for item in (each.entry.item for each in found):
        if not caller.may_decide(item.namespace, item.author):
            raise NotAllowed(
                f"{item.id} is not yours to approve", f"an admin of {item.namespace} can"
            )
    return reply(Approved(board.trust.approve(found, board.target, caller.subject)))


ROUTES = (
    Route(
        "GET",
        "/changes",
        "list_changes",
        "Items that are no longer what was approved, and how they differ.",
        in_thread(get_changes),
        answer=Changes,
        group=GROUP,
    ),
    *both(
        Route(
            "POST",
            "/items/{id}/approve",
            "approve_item",
            "Approve what it is now; given as `id@hash`, only if it is still that.",
            in_thread(approve_item),
            role=Role.AUTHOR,
            answer=Approved,
            group=GROUP,
            problems=(409,),
        )
    ),
)
