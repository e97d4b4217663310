"""An MCP server with one tool, which reports progress and then waits until it is called off.

Its argument is a folder, in which it leaves a file when that happens.
"""

import sys
from pathlib import Path

import anyio
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool

FOLDER = Path(sys.argv[1])
SCHEMA = {"type": "object", "properties": {"seconds": {"type": "number"}}, "required": ["seconds"]}


async def list_tools(context, params):
    tool = Tool(name="ponder", description="Think for a long time.", input_schema=SCHEMA)
    return ListToolsResult(tools=[tool])


async def call_tool(context, params):
    await context.session.report_progress(1, 2, "thinking")
    try:
        await anyio.sleep(params.arguments["seconds"])
    except anyio.get_cancelled_exc_class():
        (FOLDER / "off").touch()
        raise
    return CallToolResult(content=[TextContent(text="42")], structured_content={"answer": 42})


async def main() -> None:
    server = Server("deep", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


anyio.run(main)
