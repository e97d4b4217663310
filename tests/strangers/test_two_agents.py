"""One agent lacks a tool and makes it; another finds and runs it a moment later."""

import asyncio
import json
from typing import Any

import pytest
from mcp import Client
from mcp_types import CallToolResult
from strangers_parts import Desk

QUERY = "how many vowels does a word have"
MANIFEST = {
    "tool_id": "count_vowels",
    "tool_type": "python",
    "category": "text",
    "description": "Count the vowels of a word, and say which there are.",
    "parameters": [
        {"name": "word", "type": "string", "description": "Any word.", "required": True}
    ],
}
CODE = """
import os, socket

def run(word: str) -> dict:
    print("counting")
    found = [letter for letter in word.lower() if letter in "aeiou"]
    return {
        "vowels": len(found),
        "which": "".join(sorted(set(found))),
        "home": os.path.exists(os.path.expanduser("~root")) and os.listdir("/root"),
        "network": [name for _, name in socket.if_nameindex()],
    }
"""
BETTER = CODE.replace('"aeiou"', '"aeiouy"')


@pytest.fixture(params=["sqlite", "postgres"])
def shared(request: pytest.FixtureRequest, desk: Desk) -> Desk:
    """A desk whose board is a file, or a database that takes what nobody signed."""
    if request.param == "postgres":
        desk.environ["PEGBOARD_BOARD"] = request.getfixturevalue("postgres_url")
        desk.environ["PEGBOARD_TRUST_SIGNATURES_REGISTRY"] = "off"
    return desk


async def ask(client: Client, tool: str, **arguments: Any) -> CallToolResult:
    return await client.call_tool(tool, arguments)


async def hits(client: Client, query: str = QUERY) -> list[str]:
    found = await ask(client, "search_tools", query=query, mode="bm25", kind="tool")
    return [hit["id"] for hit in found.structured_content["hits"]]


async def made(client: Client, **arguments: Any) -> dict[str, Any]:
    result = await ask(client, "create_tool", **arguments)
    assert not result.is_error, result.content
    return dict(result.structured_content)


def test_what_one_agent_makes_another_finds_and_runs(shared, era):
    async def flow() -> None:
        async with (
            shared.client("--no-watch", era=era) as first,
            shared.client("--no-watch", era=era) as second,
        ):
            assert "created:text:count_vowels" not in await hits(second)

            wrong = await ask(first, "create_tool", manifest=MANIFEST | {"color": "red"})
            assert wrong.is_error
            assert "color" in str(wrong.content)
            broken = await ask(
                first,
                "create_tool",
                manifest=MANIFEST,
                files={"main.py": "def run(word): return 1/0"},
                try_with={"word": "x"},
            )
            assert broken.is_error
            assert "ZeroDivisionError" in str(broken.content)
            assert await hits(second) == await hits(first)

            files = {"main.py": CODE}
            new = await made(first, manifest=MANIFEST, files=files, try_with={"word": "Pegboard"})
            assert (new["state"], new["version"]) == ("created", "1.0.0")
            assert new["trial"]["structured"]["vowels"] == 3

            found = await hits(second)
            assert found[0] == new["id"] == "created:text:count_vowels"
            told = await ask(second, "describe_tool", name=found[0])
            assert "an agent made it, and nobody signed it" in str(told.content)
            ran = await ask(second, "call_tool", name=found[0], arguments={"word": "Symphony"})
            assert not ran.is_error, ran.content
            assert ran.structured_content == {
                "vowels": 1,
                "which": "o",
                "home": False,
                "network": ["lo"],
            }
            assert ran.meta["pegboard"]["sandbox"] == "bubblewrap"
            assert ran.meta["pegboard"]["logs"].strip() == "counting"

            again = await made(second, manifest=MANIFEST, files=files)
            assert again["state"] == "unchanged"
            twin = MANIFEST | {"tool_id": "vowel_counter"}
            alike = await made(second, manifest=twin, files=files)
            assert (alike["state"], alike["alike"][0]["id"]) == ("alike", new["id"])

            better = await made(second, manifest=MANIFEST, files={"main.py": BETTER})
            assert (better["state"], better["version"]) == ("updated", "1.0.1")
            counts = {}
            for name in ("count_vowels", f"{new['id']}@1.0.0", f"{new['id']}@1.0.1"):
                ran = await ask(first, "call_tool", name=name, arguments={"word": "Symphony"})
                counts[name.rpartition("@")[2]] = ran.structured_content["vowels"]
            assert counts == {"count_vowels": 3, "1.0.0": 1, "1.0.1": 3}

            misfit = await ask(first, "call_tool", name=found[0], arguments={"word": 1})
            assert misfit.is_error
            assert "/word" in str(misfit.content)

    asyncio.run(flow())
    kept = json.loads(shared.run("runs", "count_vowels", "--json"))["runs"]
    assert [run["outcome"] for run in kept].count("ok") == 4
    assert kept[0]["outcome"] == "invalid_arguments"


def test_a_tool_that_wants_more_than_a_sandbox_gives_waits_for_a_person(shared, era):
    wanting = MANIFEST | {"permissions": ["connect network *"]}

    async def flow() -> None:
        async with shared.client("--no-watch", era=era) as client:
            new = await made(client, manifest=wanting, files={"main.py": CODE})
            ran = await ask(client, "call_tool", name=new["id"], arguments={"word": "x"})
            assert ran.is_error
            assert "it wants the network" in str(ran.content)

    asyncio.run(flow())
    kept = json.loads(shared.run("runs", "--json"))["runs"]
    assert [run["outcome"] for run in kept] == ["denied"]
