"""The profile pytools, held against a server made with the library that freeact's is made with."""

from typing import Annotated, Any, Literal

import pytest
from mcp.server.mcpserver import MCPServer
from pydantic import Field
from serve_parts import text_of, with_client

from making import make_item
from pegboard.app.pegboard import Pegboard
from pegboard.serve.mcp.face import make_face
from pegboard.serve.mcp.pytools import Categories, ToolResult, Tools

FOLDER = ".freeact/generated"


@pytest.fixture
def face(board):
    return make_face(board, "pytools", tools_dir=FOLDER)


class Theirs:
    """The same three tools as functions, which the library turns into a server."""

    def __init__(self, shown: dict[str, Any], said: Any = None) -> None:
        """`said` is what the functions return; descriptions are ours."""
        about = {
            name: {key: each.get("description") for key, each in tool["properties"].items()}
            for name, tool in shown.items()
        }
        self.server = MCPServer("pytools")
        asks = about["search_tools"]

        @self.server.tool()
        def search_tools(
            query: Annotated[str, Field(description=asks["query"])],
            mode: Annotated[
                Literal["bm25", "vector", "hybrid"], Field(description=asks["mode"])
            ] = "hybrid",
            scope: Annotated[
                Literal["all", "gentools", "mcptools"], Field(description=asks["scope"])
            ] = "all",
            limit: Annotated[int, Field(description=asks["limit"], ge=1, le=50)] = 5,
        ) -> list[ToolResult]:
            return [ToolResult(**each) for each in said]

        @self.server.tool()
        def list_categories() -> Categories:
            return Categories(**said)

        @self.server.tool()
        def list_tools(
            categories: Annotated[
                str | list[str], Field(description=about["list_tools"]["categories"])
            ],
        ) -> dict[str, Tools]:
            return {name: Tools(**each) for name, each in said.items()}


CALLS = [
    ("search_tools", {"query": "send a message", "limit": 3}),
    ("search_tools", {"query": "zzz", "mode": "bm25"}),
    ("list_categories", {}),
    ("list_tools", {"categories": ["chat", "text", "nowhere"]}),
    ("list_tools", {"categories": "mail"}),
]


@pytest.mark.parametrize(("tool", "arguments"), CALLS)
def test_results_are_on_the_wire_as_the_library_would_send_them(face, era, tool, arguments):
    async def ours(client):
        shown = {each.name: each.input_schema for each in (await client.list_tools()).tools}
        return shown, await client.call_tool(tool, arguments)

    shown, mine = with_client(face, ours, era)
    said = mine.structured_content
    theirs = Theirs(shown, said["result"] if tool == "search_tools" else said)
    sent = with_client(theirs, lambda c: c.call_tool(tool, arguments), era)
    assert mine.model_dump(exclude={"meta"}) == sent.model_dump(exclude={"meta"})


def test_tools_are_shown_as_the_library_would_show_them(face, era):
    async def schemas(client):
        tools = (await client.list_tools()).tools
        return {each.name: (each.input_schema, each.output_schema) for each in tools}

    mine = with_client(face, schemas, era)
    theirs = with_client(Theirs({name: asks for name, (asks, _) in mine.items()}), schemas, era)
    for asks, _ in theirs.values():
        asks.setdefault("type", "object")
    assert mine == theirs


def test_a_found_tool_has_the_fields_of_the_seed(face, board, era):
    result = with_client(
        face, lambda c: c.call_tool("search_tools", {"query": "count the words of a text"}), era
    )
    first = result.structured_content["result"][0]
    assert list(first) == ["name", "category", "source", "description", "path", "score"]
    assert first["name"] == "count_words"
    assert first["description"] == board.show("count_words").item.description


def test_paths_lead_to_the_source_files_below_the_folder_as_given(face, board, tools):
    result = with_client(
        face, lambda c: c.call_tool("search_tools", {"query": "text message", "limit": 50})
    )
    found = {each["name"]: each["path"] for each in result.structured_content["result"]}
    assert found == {
        name: f"{FOLDER}/{board.show(name).item.origin}"
        for name in ("count_words", "send_email", "post_message", "pin_message", "refund_payment")
    }
    assert found["count_words"] == ".freeact/generated/gentools/text/count_words/api.py"
    assert found["send_email"] == ".freeact/generated/mcptools/mail/send_email.py"


def test_the_whole_docstring_is_told(face, board, tools):
    tools.write("mcptools/a/bake.py", "Bake bread.\n\n    Args:\n        text: what to bake\n    ")
    board.sync()
    result = with_client(face, lambda c: c.call_tool("search_tools", {"query": "bake bread"}))
    described = result.structured_content["result"][0]["description"]
    assert described == "Bake bread.\n\nArgs:\n    text: what to bake"


def test_nothing_is_cut_off_for_its_score(board_file, tools, monkeypatch):
    monkeypatch.setenv("PEGBOARD_SEARCH_THRESHOLD", "1")
    with Pegboard.open(board_file, create=True) as board:
        board.add_folder(tools.root)
        board.sync()
        result = with_client(
            make_face(board, "pytools"), lambda c: c.call_tool("search_tools", {"query": "send"})
        )
    assert len(result.structured_content["result"]) == 5


def test_other_items_of_the_board_are_not_seen(face, board, era):
    board.store.items.put([make_item("foreign", id="mcp:chat:foreign", category="chat")], None)

    async def all_of_it(client):
        found = await client.call_tool("search_tools", {"query": "foreign", "mode": "bm25"})
        listed = await client.call_tool("list_tools", {"categories": "chat"})
        categories = await client.call_tool("list_categories", {})
        return found, listed, categories

    found, listed, categories = with_client(face, all_of_it, era)
    assert found.structured_content == {"result": []}
    assert listed.structured_content == {
        "chat": {"gentools": [], "mcptools": ["pin_message", "post_message"]}
    }
    assert categories.structured_content == {
        "gentools": ["text"],
        "mcptools": ["chat", "mail", "payments"],
    }


def test_a_category_with_many_tools_is_listed_whole(face, board):
    board.store.items.put([make_item(f"tool_{n:04}", category="many") for n in range(1_200)], None)
    result = with_client(face, lambda c: c.call_tool("list_tools", {"categories": "many"}))
    assert len(result.structured_content["many"]["mcptools"]) == 1_200


def test_the_scope_narrows(face):
    async def search(client):
        return await client.call_tool("search_tools", {"query": "text", "scope": "gentools"})

    found = with_client(face, search).structured_content["result"]
    assert {each["source"] for each in found} == {"gentools"}


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("search_tools", {"query": "send", "limit": "2", "unheard_of": True}),
        ("list_tools", {"categories": '["chat", "mail"]'}),
    ],
)
def test_what_the_library_lets_pass_passes(face, era, tool, arguments):
    result = with_client(face, lambda c: c.call_tool(tool, arguments), era)
    assert not result.is_error
    assert len(result.structured_content.get("result", result.structured_content)) == 2


@pytest.mark.parametrize(
    ("tool", "arguments", "complaint"),
    [
        ("search_tools", {}, "query: Field required"),
        ("search_tools", {"query": "x", "limit": 51}, "limit: "),
        ("search_tools", {"query": "x", "mode": "fuzzy"}, "mode: "),
        ("list_tools", {}, "categories: "),
        ("call_tool", {"name": "x"}, "there are: search_tools, list_categories, list_tools"),
    ],
)
def test_what_the_library_refuses_is_refused(face, era, tool, arguments, complaint):
    result = with_client(face, lambda c: c.call_tool(tool, arguments), era)
    assert result.is_error
    assert complaint in text_of(result)


def test_the_server_is_called_pytools(face, era):
    async def name(client):
        return client.server_info.name

    assert with_client(face, name, era) == "pytools"


def test_a_query_with_several_requests_has_no_more_tools_than_the_limit(face):
    query = "give a customer their money back, then send an e-mail to a recipient"
    for limit in (1, 2):
        asked = {"query": query, "limit": limit}
        result = with_client(face, lambda c, asked=asked: c.call_tool("search_tools", asked))
        found = [each["name"] for each in result.structured_content["result"]]
        assert found == ["refund_payment", "send_email"][:limit]
