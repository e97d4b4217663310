"""What an entry in a face's table of tools is made of."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, NamedTuple, TypeVar

from mcp.server.context import ServerRequestContext
from mcp_types import (
    CallToolResult,
    InputRequiredResult,
    InputResponses,
    Tool,
    ToolAnnotations,
)

from pegboard.app.pegboard import Pegboard
from pegboard.model.calls import Role
from pegboard.model.content import Json
from pegboard.serve.mcp.arguments import checked
from pegboard.serve.threads import Threads

R = TypeVar("R")

Context = ServerRequestContext[Any]


class Asked(NamedTuple):
    """One call to one of our tools; the arguments have been checked."""

    board: Pegboard
    arguments: dict[str, Any]
    context: Context
    threads: Threads
    responses: InputResponses | None = None
    """What a person said to what the last answer to this call asked."""


Respond = Callable[[Asked], Awaitable[CallToolResult | InputRequiredResult]]
Schema = dict[str, Any]


class Offer(NamedTuple):
    """A tool as it is shown, and what answers a call to it."""

    name: str
    title: str
    describe: Callable[[Pegboard], str]
    input_schema: Callable[[Pegboard], Schema]
    respond: Respond
    output_schema: Schema | None = None
    hints: ToolAnnotations = ToolAnnotations()
    role: Role = Role.READER
    """Whoever is less is not offered it."""
    check: Callable[[str, Schema, Json], dict[str, Any]] = checked

    def checked(self, board: Pegboard, arguments: Json) -> dict[str, Any]:
        return self.check(self.name, self.input_schema(board), arguments)

    def shown(self, board: Pegboard) -> Tool:
        return Tool(
            name=self.name,
            title=self.title,
            description=self.describe(board),
            input_schema=self.input_schema(board),
            output_schema=self.output_schema,
            annotations=self.hints,
        )


def in_thread(answer: Callable[[Pegboard, dict[str, Any]], CallToolResult]) -> Respond:
    async def respond(asked: Asked) -> CallToolResult:
        slow = asked.arguments.get("executable", False)
        run = asked.threads.run_slow if slow else asked.threads.run_search
        return await run(partial(answer, asked.board, asked.arguments))

    return respond


def always(value: R) -> Callable[[Pegboard], R]:
    return lambda board: value
