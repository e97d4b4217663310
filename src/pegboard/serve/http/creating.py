"""`POST /tools`: a tool that hangs on the board alone, as `pegboard create` makes it."""

import base64
from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any
from urllib.parse import quote

from pydantic import AfterValidator, Field
from starlette.responses import Response

from pegboard.board.create.drafts import draft_of
from pegboard.board.create.making import Created
from pegboard.model.answers import Hit
from pegboard.model.calls import Role
from pegboard.model.items import ItemId
from pegboard.serve.http.calling import RESULT, facts
from pegboard.serve.http.problems import Declined
from pegboard.serve.http.replies import reply
from pegboard.serve.http.shapes import Record
from pegboard.serve.http.table import Asked, Flag, Route, Wanted
from pegboard.serve.http.telling import place_of

MOST_FILES = 200
DONE = ("created", "updated", "unchanged")

CREATED = Record(
    "CreatedTool",
    {
        "state": str,
        "id": ItemId,
        "version": str,
        "reason": str,
        "alike": Sequence[Hit],
        "trial": RESULT,
    },
    optional=frozenset({"trial"}),
)


def _base64(text: str) -> str:
    try:
        base64.b64decode(text, validate=True)
    except ValueError as error:
        raise ValueError(f"it is no base64: {error}") from error
    return text


class InBase64(Wanted):
    base64: Annotated[
        str,
        AfterValidator(_base64),
        Field(json_schema_extra={"pattern": "^[A-Za-z0-9+/]*={0,2}$"}),
    ]

    def content(self) -> bytes:
        return base64.b64decode(self.base64)


class CreateBody(Wanted):
    manifest: Annotated[
        dict[str, Any] | str,
        Field(description="As an object, or as the text of tool.yaml."),
    ]
    files: dict[str, str | InBase64] = Field(
        default_factory=dict,
        max_length=MOST_FILES,
        description="By path: a text, or bytes in base64.",
    )
    try_with: Annotated[
        dict[str, Any] | None,
        Field(description="Arguments to try it with first; if that fails, it is not kept."),
    ] = None
    anyway: Annotated[Flag, Field(description="Also if a tool for the same is there already.")] = (
        False
    )
    namespace: Annotated[
        str,
        Field(max_length=200, description="Where it is to hang. Default: the first of yours."),
    ] = ""


async def create(asked: Asked) -> Response:
    # To the end: half a creation would be none, and nobody would know.
    work = partial(_create, asked)
    if asked.body.try_with is None:
        return await asked.threads.run_to_end(work)
    return await asked.threads.run_trial(asked.caller, work)


def _create(asked: Asked) -> Response:
    said: CreateBody = asked.body
    files = {
        path: each if isinstance(each, str) else each.content() for path, each in said.files.items()
    }
    draft = draft_of(said.manifest, files)
    made = asked.board.create(
        draft, anyway=said.anyway, try_with=said.try_with, namespace=said.namespace
    )
    return _told(made)


def _told(made: Created) -> Response:
    told: dict[str, object] = {
        "state": made.state,
        "id": made.id,
        "version": made.version,
        "reason": made.reason,
        "alike": made.alike,
    }
    if made.trial is not None:
        told["trial"] = facts(made.id, made.trial)
    if made.state not in DONE:
        raise _declined(made, told)
    # It was made even if somebody has removed it since.
    place = place_of(made.entry) if made.entry else f"/tools/{quote(made.id, safe=':')}"
    return reply(told, 201 if made.state == "created" else 200, {"Location": place})


def _declined(made: Created, told: dict[str, object]) -> Declined:
    if made.state == "alike":
        message = "nothing was made: tools for the same are there already"
        return Declined(
            "alike", message, "use one of them, or make it with anyway: true", more=told
        )
    if made.state == "failed":
        message = f"{made.id} was not kept: trying it failed"
        hint = "see trial; without try_with it is kept untried"
        return Declined("trial_failed", message, hint, more=told)
    return Declined("refused", f"{made.id} was refused: {made.reason}", more=told)


ROUTES = (
    Route(
        "POST",
        "/tools",
        "create_tool",
        "Hang a tool that was made just now.",
        create,
        role=Role.AUTHOR,
        body=CreateBody,
        answer=CREATED,
        statuses=(200, 201),
        group="items",
        problems=(409, 422, 429),
    ),
)
