"""Clients that others wrote find a tool on the board and call it."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from strangers_parts import PEGBOARD, Desk, Upstream, clients_python

from real_servers import NPM, part

HERE = Path(__file__).parent
OURS = [
    "search_tools",
    "describe_tool",
    "call_tool",
    "create_tool",
    "list_categories",
    "list_tools",
]
SECONDS = 60


@pytest.fixture(scope="module")
def desk(tmp_path_factory) -> Desk:
    """A board with one server behind it, for tests that change nothing on it."""
    made = Desk(tmp_path_factory.mktemp("clients"))
    made.make()
    upstream = Upstream(made.folder / "upstream")
    upstream.offer(note="Write a note.", shred="Shred a document.", sail="Sail round the world.")
    made.add("office", upstream.command)
    made.run("sync")
    return made


def ran(desk: Desk, command: list[str]) -> Any:
    done = subprocess.run(
        command, cwd=desk.folder, env=desk.environ, capture_output=True, text=True, timeout=SECONDS
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def served(desk: Desk) -> list[str]:
    return [*PEGBOARD, "mcp", "--board", str(desk.board)]


# The MCP Inspector


@pytest.fixture(scope="module")
def inspect(desk: Desk):
    """Its settings file is the one that Claude Desktop, Claude Code and Cursor share."""
    command, *args = served(desk)
    environ = {name: desk.environ[name] for name in desk.environ if name.startswith("PEGBOARD_")}
    server = {"command": command, "args": args, "env": environ}
    file = desk.folder / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"pegboard": server}}))
    inspector = [part(NPM, "mcp-inspector"), "--cli", "--config", str(file), "--server", "pegboard"]
    return lambda *args: ran(desk, [*inspector, "--method", *args])


def test_the_inspector_lists_tools_and_prompts(inspect):
    assert [tool["name"] for tool in inspect("tools/list")["tools"]] == OURS
    assert [prompt["name"] for prompt in inspect("prompts/list")["prompts"]] == ["tool_discovery"]


def test_the_inspector_searches_and_calls(inspect):
    call = ("tools/call", "--tool-name")
    found = inspect(*call, "search_tools", "--tool-arg", "query=write a note", "limit=1")
    assert found["structuredContent"]["hits"][0]["id"] == "mcp:office:note"
    arguments = ("name=mcp:office:note", 'arguments={"text": "milk"}')
    result = inspect(*call, "call_tool", "--tool-arg", *arguments)
    assert result["content"] == [{"type": "text", "text": 'note called with {"text": "milk"}'}]


# Python


def test_a_program_with_fastmcp_finds_and_calls_a_tool(desk, inspect):
    settings = str(desk.folder / "mcp.json")
    told = ran(desk, [clients_python(), str(HERE / "with_fastmcp.py"), settings])
    assert told == {
        "tools": OURS,
        "prompts": ["tool_discovery"],
        "found": "mcp:office:note",
        "result": 'note called with {"text": "milk"}',
        "failed": True,
    }


def test_an_agent_of_pydantic_ai_finds_and_calls_a_tool(desk):
    told = ran(desk, [clients_python(), str(HERE / "with_pydantic_ai.py"), *served(desk)])
    assert told["tools"] == OURS
    assert "search_tools" in told["instructions"]
    assert told["found"] == "mcp:office:note"
    assert told["answer"] == 'note called with {"text": "milk"}'
