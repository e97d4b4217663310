"""FastMCP's BM25 search transform: asked by a call of the tool that it puts before all others."""

import asyncio
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import fastmcp
from fastmcp.server.transforms.search import BM25SearchTransform
from fastmcp.tools import Tool as Registered

from protocol import Tool, Wire, read_tools, serve


class FastmcpPeer:
    version = version("fastmcp")

    def __init__(self) -> None:
        self._loop = asyncio.Runner()

    def prepare(self, tools: list[Tool], catalogue: Path, folder: Path, wire: Wire) -> None:
        self._tools: Sequence[Tool] = tools

    def index(self, folder: Path) -> None:
        """It indexes in memory, at the first search, so that one is part of it."""
        self._server = fastmcp.FastMCP("comparison")
        for tool in self._tools:
            self._server.add_tool(
                Registered(
                    name=tool.handle, description=tool.description, parameters=tool.parameters
                )
            )
        self._server.add_transform(BM25SearchTransform(max_results=10))
        self.search("first", "")

    def open(self, folder: Path, tools: Path) -> None:
        self._tools = [tool._replace(text="", vector="") for tool in read_tools(tools)]
        self.index(folder)
        self._tools = ()

    def search(self, text: str, vector: str) -> list[str]:
        answer = self._loop.run(self._server.call_tool("search_tools", {"query": text}))
        return [found["name"] for found in answer.structured_content["result"]]


if __name__ == "__main__":
    serve(FastmcpPeer)
