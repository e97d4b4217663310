"""A server with the tools of freeact's search servers, declared as those declare them.

What it answers stands in the JSON file that is its argument; what matters is how the SDK sends it.
"""

import json
import sys
from pathlib import Path
from typing import Annotated, Literal

from mcp.server.mcpserver import MCPServer
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field

server = MCPServer("reference")


class ToolResult(BaseModel):
    name: str = Field(description="-")
    category: str = Field(description="-")
    source: Literal["gentools", "mcptools"] = Field(description="-")
    description: str = Field(description="-")
    path: str = Field(description="-")
    score: float = Field(description="-")


class Categories(BaseModel):
    gentools: list[str] = Field(description="-")
    mcptools: list[str] = Field(description="-")


class Tools(BaseModel):
    gentools: list[str] = Field(description="-")
    mcptools: list[str] = Field(description="-")


def answer():
    return json.loads(Path(sys.argv[1]).read_text("utf-8"))


def reads(title: str) -> ToolAnnotations:
    return ToolAnnotations(
        title=title,
        read_only_hint=True,
        destructive_hint=False,
        idempotent_hint=True,
        open_world_hint=False,
    )


@server.tool(annotations=reads("Search Tools"))
async def search_tools(
    query: Annotated[str, Field(description="-")],
    mode: Annotated[Literal["bm25", "vector", "hybrid"], Field(description="-")] = "hybrid",
    scope: Annotated[Literal["all", "gentools", "mcptools"], Field(description="-")] = "all",
    limit: Annotated[int, Field(description="-", ge=1, le=50)] = 5,
) -> list[ToolResult]:
    """-"""
    return [ToolResult(**each) for each in answer()["result"]]


@server.tool(annotations=reads("List Tool Categories"))
def list_categories() -> Categories:
    """-"""
    return Categories(**answer())


@server.tool(annotations=reads("List Tools in Categories"))
def list_tools(
    categories: Annotated[str | list[str], Field(description="-")],
) -> dict[str, Tools]:
    """-"""
    return {name: Tools(**each) for name, each in answer().items()}


if __name__ == "__main__":
    server.run(transport="stdio")
