"""An agent that is served the tiers."""

import asyncio
import json
import os
import sys

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from tier_parts import Desk

from pegboard.app.pegboard import located
from pegboard.config.gateway import GatewayPlace
from pegboard.config.settings import Settings
from pegboard.remote.board import RemoteBoard
from pegboard.serve.mcp.face import make_face
from pegboard.tiers.serving import GatewayCall, TieredBoard

pytestmark = pytest.mark.server

GREET = "Write a greeting card for somebody."
MAP = "Draw a map of the way to a place."


@pytest.fixture
def full(desk: Desk, registry, monkeypatch):
    desk.tool("project", "paper/greet", GREET)
    desk.tool("registry", "travel/map", MAP)
    desk.fill()
    monkeypatch.setenv("PEGBOARD_SEARCH_TIER", "all")
    monkeypatch.setenv("PEGBOARD_RUN_UNSIGNED_REGISTRY", "allow")
    return desk


def asked(*calls):
    """The results of these calls, over a client of the face."""
    from mcp.client._memory import InMemoryTransport

    async def run(board):
        face = make_face(board)
        async with asyncio.timeout(60), Client(InMemoryTransport(face.server)) as client:
            return [await client.call_tool(name, said) for name, said in calls]

    with TieredBoard.at(located()) as board:
        return asyncio.run(run(board))


def test_an_agent_finds_describes_and_calls_what_the_registry_has(full):
    found, described, called = asked(
        ("search_tools", {"query": "draw a map"}),
        ("describe_tool", {"name": "tools:travel:map"}),
        ("call_tool", {"name": "tools:travel:map", "arguments": {"name": "Ada"}}),
    )
    first = found.structured_content["hits"][0]
    assert (first["id"], first["tier"]) == ("tools:travel:map", "registry")
    assert MAP in described.content[0].text
    assert not called.is_error, called.content
    assert "hello, Ada" in called.content[0].text


def test_a_registry_that_is_down_is_a_notice(full, monkeypatch):
    monkeypatch.setenv("PEGBOARD_REGISTRY_URL", "http://127.0.0.1:9")
    found, called = asked(
        ("search_tools", {"query": "greeting card"}),
        ("call_tool", {"name": "greet", "arguments": {"name": "Ada"}}),
    )
    assert found.structured_content["hits"][0]["tier"] == "project"
    assert "registry tier is down" in found.structured_content["notices"][-1]
    assert not called.is_error, called.content


def test_the_command_serves_the_tiers(full):
    async def run():
        server = StdioServerParameters(
            command=sys.executable, args=["-m", "pegboard", "mcp"], env=dict(os.environ)
        )
        async with asyncio.timeout(60), Client(server) as client:
            return await client.call_tool("search_tools", {"query": "draw a map"})

    found = asyncio.run(run())
    assert json.loads(json.dumps(found.structured_content))["hits"][0]["tier"] == "registry"


def test_a_call_at_the_registry_that_breaks_off_ends_and_is_not_waited_for_for_ever():
    registry = RemoteBoard(GatewayPlace("http://127.0.0.1:9"), Settings())
    call = GatewayCall(registry.prepare_call("tools:travel:map", {}), "tools:travel:map", {}, "")
    registry.close()
    with pytest.raises(RuntimeError, match="closed"):
        call.start().result(30)
