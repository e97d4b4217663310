"""The agent of `agent.py` in two other ways: `python other_ways.py http|pydantic-ai [BOARD]`."""

import asyncio
import json
import subprocess
import sys
from urllib.parse import quote

import httpx2

from demo_board import board_from, pegboard
from policy import TASKS, Answer, Call, finish, narrate, solve

# Plain HTTP: each tool of the MCP server has its route.


def over_http(board: str) -> bool:
    """A gateway that needs no token from programs of this machine, and a client of it."""
    command = [pegboard(), "serve", "--open", "--port", "0", "--json", "--board", board]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as gateway:
        assert gateway.stdout
        try:
            address = json.loads(gateway.stdout.readline())["url"]
            with httpx2.Client(base_url=address, timeout=60) as client:
                right = [work(client, task) for task in TASKS]
        finally:
            gateway.terminate()
    return all(right)


def work(client: httpx2.Client, task: str) -> bool:
    print(task)
    thinking = solve(task)
    try:
        call = next(thinking)
        while True:
            answer = act(client, call)
            narrate(call, answer)
            call = thinking.send(answer)
    except StopIteration as done:
        return finish(task, done.value)


def act(client: httpx2.Client, call: Call) -> Answer:
    given = call.arguments
    tool = f"/tools/{quote(given.get('name', ''), safe='')}"
    match call.tool:
        case "search_tools":
            response = client.get("/search", params={"query": given["query"], "limit": 5})
        case "describe_tool":
            response = client.get(tool)
        case "call_tool":
            response = client.post(f"{tool}/call", json={"arguments": given["arguments"]})
        case _:
            response = client.post("/tools", json=given)
    data = response.json()
    if response.is_error:
        return Answer({}, f"{data['detail']}\n  {data.get('hint', '')}")
    if call.tool == "describe_tool":
        return Answer({"tools": [data["item"]]})
    if call.tool == "call_tool":
        return Answer(data["structured"] or {}, data["error"])
    return Answer(data)


# pydantic-ai: the framework runs the loop, and makes the calls that the model asks for.


async def with_pydantic_ai(board: str) -> bool:
    from fastmcp.client.transports import StdioTransport
    from pydantic_ai import Agent
    from pydantic_ai.mcp import MCPToolset
    from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    def scripted(task: str) -> FunctionModel:
        """A model that follows the policy. In its place stands yours: "provider:name"."""
        thinking = solve(task)
        calls: list[Call] = []

        def respond(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
            try:
                calls.append(thinking.send(returned(messages)) if calls else next(thinking))
            except StopIteration as done:
                return ModelResponse([TextPart(done.value)])
            return ModelResponse([ToolCallPart(*calls[-1])])

        def returned(messages: list[ModelMessage]) -> Answer:
            part = messages[-1].parts[-1]
            said = part.content
            data = said if isinstance(said, dict) else {"result": said}
            answer = Answer(data) if part.outcome == "success" else Answer({}, said)
            narrate(calls[-1], answer)
            return answer

        return FunctionModel(respond)

    toolset = MCPToolset(
        StdioTransport(pegboard(), ["mcp", "--board", board]),
        include_instructions=True,  # how to find tools
        tool_error_behavior="failed",  # the model is told, and the run goes on
        init_timeout=60,  # seconds; the usual 5 are short for a busy machine
    )
    right = []
    async with Agent(toolsets=[toolset]) as agent:
        for task in TASKS:
            print(task)
            answer = await agent.run(task, model=scripted(task))
            right.append(finish(task, answer.output))
    return all(right)


def main() -> bool:
    way, *rest = sys.argv[1:] or [""]
    if way not in ("http", "pydantic-ai"):
        sys.exit("say which way: http or pydantic-ai")
    with board_from(rest) as board:
        return over_http(board) if way == "http" else asyncio.run(with_pydantic_ai(board))


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
