"""A program with the client of fastmcp. Its argument: the file with the client's settings."""

import asyncio
import json
import sys
from pathlib import Path

from fastmcp import Client


async def main() -> None:
    settings = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    async with Client(settings) as client:
        tools = await client.list_tools()
        prompts = await client.list_prompts()
        found = await client.call_tool("search_tools", {"query": "write a note"})
        name = found.structured_content["hits"][0]["id"]
        call = {"name": name, "arguments": {"text": "milk"}}
        result = await client.call_tool("call_tool", call)
        failed = await client.call_tool("call_tool", {"name": "none"}, raise_on_error=False)
    told = {
        "tools": [tool.name for tool in tools],
        "prompts": [prompt.name for prompt in prompts],
        "found": name,
        "result": result.content[0].text,
        "failed": failed.is_error,
    }
    sys.stdout.write(json.dumps(told))


asyncio.run(main())
