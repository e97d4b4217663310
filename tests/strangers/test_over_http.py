"""Clients that others wrote find a tool and call it over HTTP, each in whichever era it speaks."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from strangers_parts import BOUND, PEGBOARD, Desk, Upstream, clients_python

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
    made = Desk(tmp_path_factory.mktemp("gateway"))
    made.make()
    upstream = Upstream(made.folder / "upstream")
    upstream.offer(note="Write a note.", shred="Shred a document.")
    made.add("office", upstream.command)
    made.run("sync")
    return made


@pytest.fixture(scope="module")
def url(desk: Desk) -> Iterator[str]:
    """Where the board is served."""
    process = subprocess.Popen(
        [*PEGBOARD, "serve", "--open", "--port", "0", "--json", "--board", str(desk.board)],
        cwd=desk.folder,
        env=desk.environ,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout
        yield json.loads(process.stdout.readline())["url"] + "/mcp"
    finally:
        process.terminate()
        assert process.wait(BOUND) == 0
        process.stdout.close()


def ran(desk: Desk, *command: str) -> Any:
    done = subprocess.run(
        [clients_python(), *command],
        cwd=desk.folder,
        env=desk.environ,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_program_with_fastmcp_finds_and_calls_a_tool(desk, url):
    settings = desk.folder / "http.json"
    settings.write_text(json.dumps({"mcpServers": {"pegboard": {"url": url}}}))
    assert ran(desk, str(HERE / "with_fastmcp.py"), str(settings)) == {
        "tools": OURS,
        "prompts": ["tool_discovery"],
        "found": "mcp:office:note",
        "result": 'note called with {"text": "milk"}',
        "failed": True,
    }


def test_an_agent_of_pydantic_ai_finds_and_calls_a_tool(desk, url):
    told = ran(desk, str(HERE / "with_pydantic_ai.py"), url)
    assert told["tools"] == OURS
    assert "search_tools" in told["instructions"]
    assert told["found"] == "mcp:office:note"
    assert told["answer"] == 'note called with {"text": "milk"}'
