"""`/tools/{id}/call`: what was run and how it ended; what was not run is a problem."""

import asyncio
import base64
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any

from pydantic import Field
from starlette.responses import Response

from pegboard.board.run.calling import Call
from pegboard.model.calls import Artifact, Asker, CallResult, Confined, Outcome
from pegboard.model.content import Json
from pegboard.serve.http.items import both
from pegboard.serve.http.problems import Declined, told
from pegboard.serve.http.replies import reply
from pegboard.serve.http.rights import need_approver
from pegboard.serve.http.shapes import Record, Several
from pegboard.serve.http.table import Asked, Route, Wanted
from pegboard.serve.http.waiting import unless_gone
from pegboard.text import clipped

LONGEST_CALL = 3_600
LARGEST_FILE = 4_000_000
"""Bytes of a file that a run made and that is sent."""
LARGEST_FILES = 16_000_000
"""Bytes of all of them together."""
LONGEST_LOGS = 100_000
FACE = "http"

FILE = Record(
    "MadeFile",
    {"name": str, "media_type": str, "bytes": int, "base64": str},
    optional=frozenset({"base64"}),
)
RESULT = Record(
    "CallResult",
    {
        "id": str,
        "version": str,
        "outcome": Outcome,
        "structured": Json | None,
        "text": str,
        "content": Sequence[Json],
        "artifacts": Several(FILE),
        "logs": str,
        "error": str,
        "seconds": float,
        "sandbox": Confined | None,
    },
)

_NOT_MADE = {
    Outcome.INVALID_ARGUMENTS: (422, "invalid_arguments"),
    Outcome.DENIED: (403, "denied"),
    Outcome.UNAVAILABLE: (409, "unavailable"),
}
"""How calls end that are not made, or that reach nobody: nothing has happened then."""


class CallBody(Wanted):
    arguments: dict[str, Any] = Field(
        default_factory=dict, description="What its input schema asks for."
    )
    timeout_seconds: Annotated[
        float | None,
        Field(ge=0.1, le=LONGEST_CALL, strict=True, description="Give up after so long."),
    ] = None
    approve: Annotated[
        str,
        Field(max_length=200, description="The `mark` of what was asked about: run exactly that."),
    ] = ""


async def call(asked: Asked) -> Response:
    said: CallBody = asked.body
    prepare = partial(
        asked.board.prepare_call,
        asked.path["id"],
        said.arguments,
        timeout_seconds=said.timeout_seconds,
        asker=Asker(asked.caller.subject or FACE, agent=True),
    )
    prepared = await asked.threads.run_to_end(prepare)
    approved = _approved(asked, prepared)
    # To the end even if the caller gives up: a call that was started must be there to be cancelled.
    started = await asked.threads.run_to_end(partial(prepared.start, approved=approved))
    result = await unless_gone(asked.request, asyncio.wrap_future(started))
    return await asked.threads.run_to_end(partial(_told, prepared.item.id, result))


def _approved(asked: Asked, prepared: Call) -> bool:
    """Whether somebody who may has approved this very call. Raises if one has to."""
    if not prepared.question:
        return False
    if not asked.body.approve:
        raise _approval_needed(prepared, "a person has to approve this call")
    need_approver(asked.caller)
    if asked.body.approve != prepared.mark:
        raise _approval_needed(prepared, "what was approved is another call than this one")
    return True


def _approval_needed(prepared: Call, why: str) -> Declined:
    more = {"question": prepared.question, "mark": prepared.mark}
    hint = "show the question to an author or admin; their yes is this call with approve: MARK"
    return Declined("approval_needed", why, hint, more=more)


def _told(item_id: str, result: CallResult) -> Response:
    if result.outcome in _NOT_MADE:
        status, code = _NOT_MADE[result.outcome]
        message, _, hint = result.error.partition("\n  ")
        return told(status, code, message or code, hint)
    try:
        return reply(facts(item_id, result))
    except RecursionError:
        said = "what it brought back is nested too deeply to be told"
        return reply(facts(item_id, result._replace(structured=None, content=(), error=said)))


def facts(item_id: str, result: CallResult) -> Mapping[str, object]:
    """As `pegboard run --json` tells it."""
    short = result._replace(logs=clipped(result.logs, LONGEST_LOGS))
    return short.told(item_id, _files(result.artifacts))


def _files(made: Sequence[Artifact]) -> list[dict[str, object]]:
    """Of what is too large to be sent, only what it is."""
    told, room = [], LARGEST_FILES
    for each in made:
        size = len(each.content)
        said: dict[str, object] = {"name": each.name, "media_type": each.media_type, "bytes": size}
        if size <= min(LARGEST_FILE, room):
            room -= size
            said["base64"] = base64.b64encode(each.content).decode()
        told.append(said)
    return told


ROUTES = both(
    Route(
        "POST",
        "/items/{id}/call",
        "call_item",
        "Call it, and wait for what it brings back; a directive, skill or knowledge entry is told.",
        call,
        body=CallBody,
        answer=RESULT,
        group="calls",
        problems=(409, 422),
    )
)
