"""An agent that finds, runs and makes tools, over MCP: `python agent.py [BOARD]`."""

import asyncio
import sys

from mcp import Client
from mcp.client.stdio import StdioServerParameters

from demo_board import board_from, pegboard
from policy import TASKS, Answer, Call, finish, narrate, solve


async def main() -> bool:
    with board_from(sys.argv[1:]) as board:
        server = StdioServerParameters(command=pegboard(), args=["mcp", "--board", board])
        async with Client(server) as client:
            return all([await work(client, task) for task in TASKS])


async def work(client: Client, task: str) -> bool:
    """The loop: think, act, look, until there is an answer."""
    print(task)
    thinking = solve(task)
    try:
        call = next(thinking)
        while True:
            answer = await act(client, call)
            narrate(call, answer)
            call = thinking.send(answer)
    except StopIteration as done:
        return finish(task, done.value)


async def act(client: Client, call: Call) -> Answer:
    result = await client.call_tool(call.tool, call.arguments)
    text = "\n".join(block.text for block in result.content if block.type == "text")
    return Answer({}, text) if result.is_error else Answer(result.structured_content or {})


if __name__ == "__main__":
    sys.exit(0 if asyncio.run(main()) else 1)
