"""Saved `tools/list` answers as real MCP servers again: all in one process, on one free port.

Each file becomes a server of its own over streamable HTTP, at /NAME/mcp. It lists its tools in
pages, and answers a call with the name and the arguments it was called with; a stuck one never
answers any.
"""

import asyncio
import json
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path

import uvicorn
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
)
from starlette.applications import Starlette

from pegboard.model.calls import ServerConfig, Transport

PAGE = 20
STUCK = "stuck"
HOST = "127.0.0.1"
SECONDS = 30
"""For a server to start, and to stop."""

Context = ServerRequestContext[dict[str, object]]
Definition = dict[str, object]


def dumps(folder: Path) -> dict[str, list[Definition]]:
    """The tools of each server, by its name, as they were saved."""
    found = {path.stem: path for path in sorted(folder.rglob("*.json"))}
    if not found:
        raise SystemExit(f"{folder} has no saved tools; --data is the folder that has mcp/ in it")
    return {name: json.loads(path.read_text("utf-8"))["tools"] for name, path in found.items()}


@contextmanager
def replaying(folder: Path, *, stuck: bool = False) -> Iterator[dict[str, str]]:
    """The servers of this folder while inside: their addresses by their names."""
    command = [sys.executable, __file__, str(folder.resolve()), *([STUCK] if stuck else [])]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        said = child.stdout.readline() if child.stdout else ""
        if not said:
            raise SystemExit(f"the servers of {folder} did not start; run: {' '.join(command)}")
        yield json.loads(said)
    finally:
        child.terminate()
        try:
            child.wait(SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait(SECONDS)


def configs(urls: dict[str, str]) -> list[ServerConfig]:
    """The servers as a board is told of them."""
    return [ServerConfig(name, Transport.HTTP, url=url) for name, url in urls.items()]


def server(
    name: str, definitions: Sequence[Definition], *, stuck: bool = False
) -> Server[dict[str, object]]:
    tools = [Tool.model_validate(each) for each in definitions]

    async def list_tools(
        context: Context, params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        begin = int(params.cursor) if params and params.cursor else 0
        end = begin + PAGE
        more = str(end) if end < len(tools) else None
        return ListToolsResult(tools=tools[begin:end], next_cursor=more)

    async def call_tool(context: Context, params: CallToolRequestParams) -> CallToolResult:
        if stuck:
            await asyncio.Event().wait()
        called = {"name": params.name, "arguments": params.arguments}
        return CallToolResult(content=[TextContent(text=json.dumps(called))])

    return Server(name, version="0", on_list_tools=list_tools, on_call_tool=call_tool)


def application(servers: dict[str, Server[dict[str, object]]]) -> Starlette:
    routes = [
        route
        for name, each in servers.items()
        for route in each.streamable_http_app(streamable_http_path=f"/{name}/mcp").routes
    ]

    @asynccontextmanager
    async def serving(app: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for each in servers.values():
                await stack.enter_async_context(each.session_manager.run())
            yield

    return Starlette(routes=routes, lifespan=serving)


def listening() -> tuple[socket.socket, str]:
    """A free port of this machine, and its address: whoever connects to it early waits."""
    found = socket.create_server((HOST, 0), backlog=256)
    return found, f"http://{HOST}:{found.getsockname()[1]}"


def quiet_server(app: Starlette) -> uvicorn.Server:
    return uvicorn.Server(
        uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1, ws="none")
    )


def main() -> None:
    stuck = STUCK in sys.argv[2:]
    listed = dumps(Path(sys.argv[1]))
    servers = {name: server(name, tools, stuck=stuck) for name, tools in listed.items()}
    port, address = listening()
    print(json.dumps({name: f"{address}/{name}/mcp" for name in servers}), flush=True)
    quiet_server(application(servers)).run(sockets=[port])


if __name__ == "__main__":
    main()
