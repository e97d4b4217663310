"""Whole processes of Pegboard as a stranger sees them: by their pipes, in the process list."""

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import CallToolResult

from pegboard import Pegboard
from pegboard.model.calls import ServerConfig, Transport
from real_servers import PARTS

BOUND = 20.0
"""Seconds after which a wait is given up. Nothing here is expected to take nearly as long."""

GONE = 10.0
"""In which a process that was asked to end must be gone, with all of its children."""

PEGBOARD = (sys.executable, "-m", "pegboard")
PYTOOLS = (sys.executable, "-m", "pegboard.pytools")
CHANGING = str(Path(__file__).with_name("changing_server.py"))

HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "stranger", "version": "1"},
    },
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def clients_python() -> str:
    """The Python that has the other clients, which need an environment of their own."""
    python = PARTS / "clients" / "bin" / "python"
    if not python.exists():
        pytest.fail("fastmcp and pydantic-ai are not installed; run: make parts")
    return str(python)


class Upstream:
    """An MCP server behind the board, whose tools a test can change."""

    def __init__(self, folder: Path, *how: str) -> None:
        self.folder = folder
        self.command = (sys.executable, CHANGING, str(folder), *how)
        folder.mkdir()

    def offer(self, **tools: str) -> None:
        """Nothing but these tools, each with what it says of itself."""
        listed = [
            {"name": name, "description": said, "inputSchema": {"type": "object"}}
            for name, said in tools.items()
        ]
        fresh = self.folder / "tools.new"
        fresh.write_text(json.dumps(listed))
        fresh.replace(self.folder / "tools.json")

    def left(self, name: str) -> Path:
        """A file that it leaves to say that something happened."""
        return self.folder / name


class Desk:
    """A project folder, and the command in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.board = folder / ".pegboard" / "board.db"
        self.tools = folder / "tools"
        self.environ = {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(folder / "home"),
            "LANG": "C.UTF-8",
            "PEGBOARD_EMBED_PROVIDER": "test",
            "PEGBOARD_SEARCH_THRESHOLD": "0",
            "PEGBOARD_SEARCH_FLOOR": "0",
        }

    def make(self) -> None:
        """As `pegboard init` does, but at once."""
        (self.folder / "pegboard.toml").touch()
        Pegboard.open(str(self.board), create=True, embed__provider="test").close()

    def add(self, name: str, command: Sequence[str], **fields: Any) -> None:
        """A server behind the board, which `pegboard mcp` starts and reads."""
        config = ServerConfig(name, Transport.STDIO, command[0], tuple(command[1:]), **fields)
        with Pegboard.open(str(self.board), embed__provider="test") as board:
            board.add_servers([config])

    def add_tools(self) -> None:
        with Pegboard.open(str(self.board), embed__provider="test") as board:
            board.add_folder(self.tools)

    def run(self, *args: str) -> str:
        """One command to its end, which must be a good one."""
        done = subprocess.run(
            [*PEGBOARD, *args],
            cwd=self.folder,
            env=self.environ,
            capture_output=True,
            text=True,
            timeout=BOUND,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def save(self, path: str, description: str) -> None:
        """A tool's file, written as an editor does that never leaves half of one."""
        file = self.tools / path
        file.parent.mkdir(parents=True, exist_ok=True)
        fresh = file.with_suffix(".tmp")
        fresh.write_text(f'def run(text: str) -> str:\n    """{description}"""\n', "utf-8")
        fresh.replace(file)

    @asynccontextmanager
    async def client(
        self, *args: str, era: str = "auto", program: tuple[str, ...] = (), **options: Any
    ) -> AsyncIterator[Client]:
        """The SDK's client of one era, with a server process of its own."""
        command, *rest = program or (*PEGBOARD, "mcp")
        server = StdioServerParameters(
            command=command, args=[*rest, *args], env=self.environ, cwd=str(self.folder)
        )
        async with asyncio.timeout(2 * BOUND), Client(server, mode=era, **options) as client:
            yield client

    def start(self, *args: str, program: tuple[str, ...] = (), **environ: str) -> "Served":
        return Served(
            [*(program or (*PEGBOARD, "mcp")), *args], self.folder, self.environ | environ
        )


class Served:
    """A server process whose pipes and life are in the hands of the test."""

    def __init__(self, command: list[str], folder: Path, environ: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            env=environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._asked = 0
        self._said: list[bytes] = []
        self._listening = threading.Thread(target=self._listen, daemon=True)
        self._listening.start()

    def _listen(self) -> None:
        assert self.process.stderr
        self._said.extend(self.process.stderr)

    def send(self, *messages: dict[str, Any]) -> None:
        assert self.process.stdin
        for message in messages:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line, f"it ended: {self.said()}"
        heard: dict[str, Any] = json.loads(line)
        return heard

    def greet(self) -> dict[str, Any]:
        self.send(HELLO, READY)
        return self.hear()

    def begin(self, method: str, **params: Any) -> int:
        """Ask, and leave the answer for later."""
        self._asked += 1
        self.send({"jsonrpc": "2.0", "id": self._asked, "method": method, "params": params})
        return self._asked

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        number = self.begin(method, **params)
        while (heard := self.hear()).get("id") != number:
            pass
        return heard

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        answer = self.ask("tools/call", name=tool, arguments=arguments)
        result: dict[str, Any] = answer["result"]
        return result

    def said(self) -> str:
        """All that it wrote to standard error, once it has ended."""
        self._listening.join(BOUND)
        return b"".join(self._said).decode()

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(BOUND)
        self._listening.join(BOUND)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert pipe
            with contextlib.suppress(BrokenPipeError):
                pipe.close()


async def search(client: Client, query: str, **more: Any) -> list[str]:
    found = await client.call_tool("search_tools", {"query": query, **more})
    assert found.structured_content
    return [hit["id"] for hit in found.structured_content["hits"]]


async def by_words(client: Client, query: str) -> list[str]:
    """Without meaning, by which everything is found, however far."""
    return await search(client, query, mode="bm25")


async def call(client: Client, name: str, **arguments: Any) -> CallToolResult:
    return await client.call_tool("call_tool", {"name": name, "arguments": arguments})


def text_of(result: CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if block.type == "text")


def descendants(pid: int) -> set[int]:
    """Every process below this one."""
    shown = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True
    )
    parents = {int(a): int(b) for a, b in (line.split() for line in shown.stdout.splitlines())}
    return {each for each in parents if pid in _above(each, parents)}


def _above(pid: int, parents: dict[int, int]) -> Iterator[int]:
    while (pid := parents.get(pid, 0)) > 1:
        yield pid


def running(pids: set[int]) -> set[int]:
    """Those that run; one that is dead but not yet buried does not."""
    if not pids:
        return set()
    shown = subprocess.run(
        ["ps", "-o", "pid=,stat=", "-p", ",".join(map(str, pids))], capture_output=True, text=True
    )
    states = (line.split() for line in shown.stdout.splitlines())
    return {int(pid) for pid, state in states if not state.startswith("Z")}
