"""`pegboard mcp --gateway`: an MCP server of a program's own whose board is elsewhere."""

import asyncio
import os
import signal
import subprocess
import sys

import pytest
from cli_gateway_parts import serving, write_tools
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import ElicitResult

pytestmark = pytest.mark.server

SECONDS = 60


@pytest.fixture(scope="module")
def gateway(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bridged")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("HOME", str(folder / "home"))
        patch.setenv("PEGBOARD_EMBED_PROVIDER", "test")
        patch.setenv("PEGBOARD_SEARCH_THRESHOLD", "0")
        write_tools(folder / ".ai")
        place = ["--board", str(folder / "board.db")]
        for args in (["init"], ["add", "folder", ".ai"]):
            command = [sys.executable, "-m", "pegboard", *args, *place]
            subprocess.run(command, check=True, capture_output=True)
        with serving(folder / "board.db", mcp=True) as url:
            yield url


def bridge(gateway, **environ):
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "pegboard", "mcp", "--gateway", gateway],
        env=dict(os.environ) | environ,
    )


def text_of(result):
    return "\n".join(block.text for block in result.content if block.type == "text")


@pytest.mark.parametrize("era", ["auto", "legacy"])
def test_a_client_of_either_era_finds_and_calls_tools_there(gateway, era):
    async def work():
        async with asyncio.timeout(SECONDS), Client(bridge(gateway), mode=era) as client:
            tools = (await client.list_tools()).tools
            found = await client.call_tool("search_tools", {"query": "greet somebody"})
            given = {"name": "greet", "arguments": {"name": "Ada"}}
            called = await client.call_tool("call_tool", given)
            return [tool.name for tool in tools], text_of(found), text_of(called)

    names, found, called = asyncio.run(work())
    assert {"search_tools", "describe_tool", "call_tool"} <= set(names)
    assert found.startswith("tools:paper:greet")
    assert "hello Ada" in called


@pytest.mark.parametrize(
    ("era", "answer", "said"),
    [("auto", "accept", "shredded 1"), ("legacy", "decline", "was not run")],
)
def test_the_person_at_the_client_is_asked_through_it(gateway, era, answer, said):
    asked = []

    async def ask(context, params):
        asked.append(params.message)
        return ElicitResult(
            action=answer, content={"approve": True} if answer == "accept" else None
        )

    async def work():
        client = Client(bridge(gateway), mode=era, elicitation_callback=ask)
        async with asyncio.timeout(SECONDS), client:
            given = {"name": "shred", "arguments": {"sheet": "1"}}
            return text_of(await client.call_tool("call_tool", given))

    assert said in asyncio.run(work())
    assert "Run tools:paper:shred?" in asked[0]


def test_what_is_wrong_is_said_before_anything_is_served(gateway, pegboard, monkeypatch):
    monkeypatch.setenv("PEGBOARD_TOKEN", "unknown")
    ran = pegboard("mcp", "--gateway", gateway)
    assert (ran.code, ran.out) == (13, "")
    assert "this token is not known" in ran.err
    assert pegboard("mcp", "--gateway", "http://127.0.0.1:9").code == 4
    ran = pegboard("mcp", "--gateway", gateway, "--namespace", "team")
    assert ran.code == 2
    assert "as it is set" in ran.err


def test_it_ends_with_its_client_and_on_a_signal(gateway):
    command = [sys.executable, "-m", "pegboard", "mcp", "--gateway", gateway]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as child:
        assert child.communicate(b"", timeout=SECONDS)[0] == b""
        assert child.returncode == 0
    hello = (
        b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": '
        b'"2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}\n'
    )
    with subprocess.Popen(command, **pipes) as child:
        child.stdin.write(hello)
        child.stdin.flush()
        assert b'"protocolVersion"' in child.stdout.readline()
        child.send_signal(signal.SIGTERM)
        assert child.wait(SECONDS) == 0
