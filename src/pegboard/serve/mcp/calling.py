"""`call_tool`: the call goes to whatever runs the tool, and comes back as it is."""

import asyncio
import base64
from contextlib import suppress
from functools import partial
from typing import Any
from urllib.parse import quote

import anyio
from mcp.server.session import ServerSession
from mcp_types import CallToolResult, ContentBlock, InputRequiredResult
from pydantic import TypeAdapter, ValidationError

from pegboard.model.calls import Artifact, Asker, CallProgress, CallResult, Outcome
from pegboard.model.content import Json
from pegboard.serve.mcp.approving import NOT_NEEDED, approval
from pegboard.serve.mcp.replies import compact_json, text_block
from pegboard.serve.mcp.table import Asked
from pegboard.text import clipped

LONGEST_CALL = 3600
LONGEST_LOGS = 4_000
LARGEST_FILE = 1_000_000
"""Bytes of a file that are sent."""
AGENT = Asker("mcp", agent=True)
OURS = "pegboard"
UPSTREAM = "upstream"
"""Below this is kept what a server says in our name: it may be another Pegboard, or pretend so."""

DESCRIPTION = """\
Run a tool that search_tools found. Its result comes back unchanged. If the arguments do not fit, \
nothing is run and the answer says why."""

INPUT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {
            "type": "string",
            "minLength": 1,
            "maxLength": 600,
            "description": "The tool's id as search_tools gives it, or id@version.",
        },
        "arguments": {
            "type": "object",
            "description": "What the tool's signature asks for.",
            "default": {},
        },
        "timeout_seconds": {
            "type": "number",
            "minimum": 0.1,
            "maximum": LONGEST_CALL,
            "description": "Give up after so long. Default: as the server is set up.",
        },
    },
    "required": ["name"],
    "additionalProperties": False,
}

_BLOCK: TypeAdapter[ContentBlock] = TypeAdapter(ContentBlock)


async def call_tool(asked: Asked) -> CallToolResult | InputRequiredResult:
    given, context = asked.arguments, asked.context
    wanted = context.meta is not None and "progress_token" in context.meta
    progress = Progress(context.session) if wanted else None
    prepare = partial(
        asked.board.prepare_call,
        given["name"],
        given.get("arguments", {}),
        timeout_seconds=given.get("timeout_seconds"),
        on_progress=progress,
        asker=AGENT,
    )
    call = await asked.threads.run_to_end(prepare)
    answer = await approval(asked, call.question, call.mark) if call.question else NOT_NEEDED
    if isinstance(answer, InputRequiredResult):
        return answer
    # To the end even if the caller gives up: a call that was started must be there to be cancelled.
    started = await asked.threads.run_to_end(
        partial(call.start, approved=answer.approved, refusal=answer.refusal)
    )
    try:
        result = await _followed(asyncio.wrap_future(started), progress)
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        result = CallResult(Outcome.KILLED, error="the call was cancelled")
    return await asked.threads.run_to_end(partial(passed_on, result))


async def _followed(call: "asyncio.Future[CallResult]", progress: "Progress | None") -> CallResult:
    if progress is None:
        return await call
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(progress.pass_on)
            await asyncio.wait([call])
            progress.finish()
    finally:
        call.cancel()  # which does nothing if it is done
    return call.result()


class Progress:
    """Carries progress from the thread that reports it to the caller, in order.

    While the caller is slow to take one, later ones replace those that wait.
    """

    def __init__(self, session: ServerSession) -> None:
        self._session = session
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        self._waiting: CallProgress | None = None
        self._over = False

    def __call__(self, progress: CallProgress) -> None:
        with suppress(RuntimeError):  # the loop is closed, and nobody waits any more
            self._loop.call_soon_threadsafe(self._note, progress)

    def _note(self, progress: CallProgress) -> None:
        self._waiting = progress
        self._news.set()

    def finish(self) -> None:
        """Let `pass_on` end when it has passed on what waits."""
        self._over = True
        self._news.set()

    async def pass_on(self) -> None:
        while not self._over or self._waiting is not None:
            await self._news.wait()
            self._news.clear()
            waiting, self._waiting = self._waiting, None
            if waiting is not None:
                await self._session.report_progress(*waiting)


def passed_on(result: CallResult) -> CallToolResult:
    content = [_block(each) for each in result.content]
    if result.error:
        content.append(text_block(result.error))
    if result.outcome is not Outcome.OK and result.logs:
        content.append(text_block(f"logs:\n{clipped(result.logs, LONGEST_LOGS)}"))
    content += [_resource(each) for each in result.artifacts]
    return CallToolResult(
        content=content,
        structured_content=result.structured,
        _meta=_meta(result),
        is_error=result.outcome is not Outcome.OK,
    )


def _meta(result: CallResult) -> dict[str, Any]:
    """What the server said beside the result, and how the call ended, which is ours to say."""
    meta = dict(result.meta or {})
    theirs = {UPSTREAM: meta[OURS]} if OURS in meta else {}
    meta[OURS] = {
        "outcome": result.outcome.value,
        "version": result.version,
        "sandbox": result.sandbox.value if result.sandbox else None,
        "seconds": round(result.seconds, 3),
        "logs": clipped(result.logs, LONGEST_LOGS),
        **theirs,
    }
    return meta


def _resource(artifact: Artifact) -> ContentBlock:
    """A file as an embedded resource; of one that is too large, only what it is."""
    size, uri = len(artifact.content), f"pegboard://output/{quote(artifact.name)}"
    if size > LARGEST_FILE:
        return text_block(f"it wrote {artifact.name}, {size:,} bytes, which is too large to send")
    said = {"uri": uri, "mimeType": artifact.media_type}
    try:
        resource = {**said, "text": artifact.content.decode("utf-8")}
    except UnicodeDecodeError:
        resource = {**said, "blob": base64.b64encode(artifact.content).decode()}
    return _block({"type": "resource", "resource": resource})


def _block(block: Json) -> ContentBlock:
    """A kind of block that the protocol does not know still reaches the caller, as text."""
    try:
        return _BLOCK.validate_python(block, by_name=False)
    except ValidationError:
        return text_block(compact_json(block))
