"""What people decide about an item: how it is described and tagged, and whether it is offered."""

from http import HTTPMethod
from typing import Annotated

from pydantic import ConfigDict, Field
from starlette.responses import Response

from pegboard.board.curate.editing import Edit, etag
from pegboard.errors import UsageError
from pegboard.model.calls import Role
from pegboard.model.items import Entry
from pegboard.serve.http.conditions import expected
from pegboard.serve.http.items import GROUP, both, chosen, in_thread, tell
from pegboard.serve.http.rights import need_item
from pegboard.serve.http.table import Asked, Flag, Route, Wanted
from pegboard.serve.http.telling import ITEM

LONGEST_TEXT = 100_000
MOST_TAGS = 200


class EditBody(Wanted):
    """What is to be another; null takes back what people decided."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    description: Annotated[
        str | None,
        Field(max_length=LONGEST_TEXT, description="null: what its source says."),
    ] = None
    tags: Annotated[
        list[str] | None, Field(max_length=MOST_TAGS, description="null: those of its source.")
    ] = None
    active: Annotated[
        Flag | None,
        Field(description="false keeps it from being found; true or null takes that back."),
    ] = None
    reason: Annotated[str, Field(max_length=2_000, description="Why it is switched off.")] = ""

    def edit(self) -> Edit:
        said = {name: getattr(self, name) for name in self.model_fields_set}
        if not said:
            raise UsageError(
                "the body says nothing that is to change",
                f"it takes {', '.join(type(self).model_fields)}",
            )
        if said.get("tags") is not None:
            said["tags"] = tuple(said["tags"])
        return Edit(**said)


def to_decide(asked: Asked) -> Entry:
    """The item that the path names, if it is for whoever asks to decide about it."""
    entry = chosen(asked)
    need_item(asked.caller, entry.item)
    return entry


def edit_item(asked: Asked) -> Response:
    entry = to_decide(asked)
    seen = expected(asked.request, etag(entry))
    now = asked.board.curate.edit(entry, asked.body.edit(), asked.caller.subject, seen)
    return tell(asked, asked.board.curate.chosen(now.item.reference, files=True))


def remove_item(asked: Asked) -> Response:
    entry = to_decide(asked)
    seen = expected(asked.request, etag(entry))
    asked.board.curate.remove(entry, asked.caller.subject, seen)
    return Response(status_code=204)


ROUTES = (
    *both(
        Route(
            "PATCH",
            "/items/{id}",
            "edit_item",
            "Change how it is described and tagged, and whether it is offered.",
            in_thread(edit_item),
            role=Role.AUTHOR,
            body=EditBody,
            answer=ITEM,
            headers=("If-Match",),
            group=GROUP,
            problems=(409, 412),
        )
    ),
    *both(
        Route(
            HTTPMethod.DELETE,
            "/items/{id}",
            "remove_item",
            "Remove what was made on this board.",
            in_thread(remove_item),
            role=Role.AUTHOR,
            statuses=(204,),
            headers=("If-Match",),
            group=GROUP,
            problems=(409, 412),
        )
    ),
)
