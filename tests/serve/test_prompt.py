"""The way to tools, as a text for prompts."""

import pytest
from mcp.shared.exceptions import MCPError
from serve_parts import with_client

from pegboard.search.budget import tokens
from pegboard.serve.mcp.face import make_face
from pegboard.serve.prompt import workflow


@pytest.mark.parametrize(
    ("mode", "profile", "named"),
    [
        ("hybrid", "pegboard", {"search_tools", "describe_tool", "call_tool"}),
        ("basic", "pegboard", {"list_categories", "list_tools", "describe_tool", "call_tool"}),
        ("hybrid", "pytools", {"search_tools"}),
        ("basic", "pytools", {"list_categories", "list_tools"}),
    ],
)
def test_each_workflow_names_the_tools_it_needs_and_no_others(mode, profile, named):
    text = workflow(mode, prefix="x_", profile=profile)
    all_tools = ("search_tools", "describe_tool", "call_tool", "list_categories", "list_tools")
    assert {name for name in all_tools if f"x_{name}" in text} == named
    assert "{" not in text
    assert tokens(text) < 350


def test_searching_goes_one_capability_at_a_time_and_in_parallel():
    text = workflow("hybrid")
    assert "one capability" in text
    assert "in parallel" in text
    assert '"No tool fits" is an answer' in text


def test_an_unknown_mode_is_refused():
    with pytest.raises(ValueError, match="magic"):
        workflow("magic")


def test_the_server_says_it_in_its_instructions(face, era):
    async def instructions(client):
        return client.instructions

    assert with_client(face, instructions, era) == workflow("hybrid")


@pytest.mark.parametrize("mode", ["basic", "hybrid", None])
def test_the_server_offers_it_as_a_prompt(face, era, mode):
    async def prompt(client):
        [offered] = (await client.list_prompts()).prompts
        assert [argument.name for argument in offered.arguments] == ["mode"]
        return await client.get_prompt(offered.name, {"mode": mode} if mode else None)

    [message] = with_client(face, prompt, era).messages
    assert message.content.text == workflow(mode or "hybrid")


@pytest.mark.parametrize(
    ("name", "mode", "complaint"),
    [
        ("tool_discovery", "magic", "one of hybrid, basic"),
        ("other", "basic", "only one prompt here: tool_discovery"),
    ],
)
def test_another_prompt_or_mode_is_refused(face, era, name, mode, complaint):
    async def prompt(client):
        with pytest.raises(MCPError, match=complaint):
            await client.get_prompt(name, {"mode": mode})

    with_client(face, prompt, era)


def test_the_pytools_profile_tells_its_own_way(board):
    async def prompt(client):
        return (await client.get_prompt("tool_discovery", {"mode": "basic"})).messages[0]

    face = make_face(board, "pytools")
    assert "source file" in with_client(face, prompt).content.text
