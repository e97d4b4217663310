"""A tool tried on its page: its arguments from a form, a yes where one is needed, its result."""

import asyncio
import base64
import json
from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

from starlette.responses import Response

from pegboard.board.run.calling import Call
from pegboard.model.calls import Artifact, Asker, CallResult, Confined, Outcome, Role
from pegboard.model.content import Json
from pegboard.model.items import Entry
from pegboard.serve.http.rights import need_approver
from pegboard.serve.http.waiting import unless_gone
from pegboard.serve.web.facts import size_text
from pegboard.serve.web.forms import Sheet, Unreadable, arguments, sheet
from pegboard.serve.web.items import chosen, item_page, view
from pegboard.serve.web.moments import took
from pegboard.serve.web.paths import CALL
from pegboard.serve.web.visits import Visit, page
from pegboard.text import clipped

LONGEST_TEXT = 200_000
LARGEST_FILE = 8_000_000
"""Bytes of a file that can be taken from the page."""
PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")


class MadeFile(NamedTuple):
    name: str
    size: str
    address: str
    """The file itself, as an address; empty if it is too large for that."""


class Part(NamedTuple):
    """A piece of what came back."""

    text: str = ""
    picture: str = ""
    about: str = ""


class Question(NamedTuple):
    """What a person has to say yes to."""

    text: str
    mark: str
    fields: tuple[tuple[str, str], ...]
    """What was filled in, to be sent again with the yes."""
    may_approve: bool


class Tried(NamedTuple):
    question: Question | None = None
    outcome: str = ""
    tone: str = ""
    took: str = ""
    version: str = ""
    confined: str = ""
    error: str = ""
    parts: tuple[Part, ...] = ()
    structured: str = ""
    logs: str = ""
    files: tuple[MadeFile, ...] = ()


async def attempt(visit: Visit) -> Response:
    threads = visit.gateway.threads
    name = visit.request.path_params["id"].removesuffix(CALL)
    entry = await threads.run(partial(chosen, visit, name))
    try:
        given = arguments(entry.item.input_schema, visit.form)
    except Unreadable as error:
        filled = sheet(entry.item.input_schema, visit.form, error.wrong)
        return await threads.run(partial(_answer, visit, entry, None, filled, 422))
    prepare = partial(
        visit.board.prepare_call,
        entry.item.reference,
        given,
        asker=Asker(visit.by),
    )
    call = await threads.run_to_end(prepare)
    if call.question and visit.form.text("mark") != call.mark:
        tried = Tried(question=_question(visit, call))
    else:
        tried = _told(await _made(visit, call))
    filled = sheet(entry.item.input_schema, visit.form)
    return await threads.run(partial(_answer, visit, entry, tried, filled, 200))


def _question(visit: Visit, call: Call) -> Question:
    fields = tuple(each for each in visit.form.fields if each[0] not in ("do", "mark"))
    return Question(call.question, call.mark, fields, visit.may(Role.AUTHOR))


async def _made(visit: Visit, call: Call) -> CallResult:
    if call.question:
        need_approver(visit.caller)
    # To the end even if whoever waits gives up: what was started must be there to be stopped.
    begin = partial(call.start, approved=bool(call.question))
    started = asyncio.wrap_future(await visit.gateway.threads.run_to_end(begin))
    return await unless_gone(visit.request, started)


def _answer(
    visit: Visit, entry: Entry, tried: Tried | None, filled: Sheet, status: int
) -> Response:
    if visit.part == "try":
        shown = view(visit, entry)
        return page(visit, "parts/try.html", "", status, item=shown, tried=tried, sheet=filled)
    return item_page(visit, entry, status, tried=tried, sheet=filled)


def _told(result: CallResult) -> Tried:
    well = result.outcome is Outcome.OK
    parts = [_part(block) for block in result.content]
    structured = _json(result.structured) if result.structured is not None else ""
    if structured and [part.text for part in parts] == [_compact(result.structured)]:
        parts = []  # the same once more, on one line
    return Tried(
        outcome=result.outcome.value.replace("_", " "),
        tone="good" if well else "bad",
        took=took(result.seconds),
        version=result.version,
        confined=_CONFINED[result.sandbox],
        error=result.error,
        parts=tuple(parts),
        structured=structured,
        logs=clipped(result.logs, LONGEST_TEXT),
        files=tuple(map(_file, result.artifacts)),
    )


_CONFINED = {
    Confined.BUBBLEWRAP: "in a sandbox",
    Confined.CONTAINER: "in a container",
    Confined.NOTHING: "without a sandbox",
    None: "",
}


def _part(block: Json) -> Part:
    kind, data = block.get("type"), block.get("data")
    if kind == "text":
        return Part(text=clipped(str(block.get("text")), LONGEST_TEXT))
    media_type = block.get("mimeType")
    if kind == "image" and isinstance(data, str) and media_type in PICTURES and _is_base64(data):
        return Part(picture=f"data:{media_type};base64,{data}", about="a picture it made")
    return Part(text=clipped(_json(block), LONGEST_TEXT))


def _is_base64(data: str) -> bool:
    try:
        return len(base64.b64decode(data, validate=True)) <= LARGEST_FILE
    except ValueError:
        return False


def _file(artifact: Artifact) -> MadeFile:
    """Always as bytes to be kept, whatever they are: a browser must not show a page of a tool's."""
    size = len(artifact.content)
    content = base64.b64encode(artifact.content).decode() if size <= LARGEST_FILE else ""
    address = f"data:application/octet-stream;base64,{content}" if content or not size else ""
    return MadeFile(artifact.name, size_text(size), address)


def _json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, indent=2, default=_plain)
    except RecursionError:
        return "nested too deeply to be shown"


def _compact(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=_plain)
    except RecursionError:
        return ""


def _plain(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else str(value)
