"""An agent of pydantic-ai whose model follows a script. Its arguments: the command, or the URL."""

import asyncio
import json
import os
import sys

from fastmcp.client.transports import StdioTransport
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel

SEEN = {}


def scripted(messages, info):
    """Search, then call what was found first, then say what came of it."""
    returned = [
        part for message in messages for part in message.parts if isinstance(part, ToolReturnPart)
    ]
    if not returned:
        SEEN["tools"] = [tool.name for tool in info.function_tools]
        SEEN["instructions"] = info.instructions
        return ModelResponse([ToolCallPart("search_tools", {"query": "write a note"})])
    if len(returned) == 1:
        SEEN["found"] = returned[0].content["hits"][0]["id"]
        call = {"name": SEEN["found"], "arguments": {"text": "milk"}}
        return ModelResponse([ToolCallPart("call_tool", call)])
    return ModelResponse([TextPart(returned[1].content)])


async def main() -> None:
    first, *rest = sys.argv[1:]
    is_url = first.startswith("http")
    server = first if is_url else StdioTransport(first, rest, env=dict(os.environ))
    board = MCPToolset(server, include_instructions=True)
    agent = Agent(FunctionModel(scripted), toolsets=[board])
    async with agent:
        answer = await agent.run("Please note that we need milk.")
    sys.stdout.write(json.dumps(SEEN | {"answer": answer.output}))


asyncio.run(main())
