"""What an answer costs on the demo board, with the real model."""

import asyncio
import json
from pathlib import Path
from statistics import median

import pytest
from serve_parts import connected, text_of

from pegboard.app.pegboard import Pegboard
from pegboard.config.settings import Settings
from pegboard.search.budget import tokens
from pegboard.serve.mcp.face import make_face
from pegboard.store.sqlite.store import SqliteStore

DEMO = Path(__file__).parents[2] / "demo"
QUERIES = [
    "give the customer their money back",
    "when is everybody free",
    "make the photo black and white",
    "which folders fill up my hard drive",
    "hide names and phone numbers before sharing",
    "shortest way to visit all customers",
    "push back the meeting by an hour",
    "run more copies of the server",
    "load a spreadsheet into the database",
    "write to somebody in private",
    "who wrote this line of code",
    "create a calendar event",
]


@pytest.fixture(scope="module")
def face(tmp_path_factory):
    store = SqliteStore(tmp_path_factory.mktemp("demo") / "board.db", create=True)
    with Pegboard(store, Settings()) as board:
        board.add_folder(DEMO)
        board.sync()
        yield make_face(board)


def together(face, **arguments):
    """The tokens of each answer, text and structure together."""

    async def run():
        async with connected(face) as client:
            return [
                await client.call_tool("search_tools", {"query": query} | arguments)
                for query in QUERIES
            ]

    return [
        tokens(text_of(result)) + tokens(json.dumps(result.structured_content, ensure_ascii=False))
        for result in asyncio.run(run())
    ]


def test_five_hits_cost_less_than_600_tokens_even_if_a_client_shows_text_and_structure(face):
    assert median(together(face, limit=5)) < 600


def test_a_budget_holds_for_all_that_is_sent(face):
    assert max(together(face, limit=20, budget_tokens=300)) <= 330


def test_the_tools_themselves_cost_less_than_1600_tokens(face):
    """As a model sees them: name, description, and schema of the input."""

    async def shown():
        async with connected(face) as client:
            return (await client.list_tools()).tools

    asked = {"name", "description", "input_schema"}
    text = [tool.model_dump_json(include=asked, by_alias=True) for tool in asyncio.run(shown())]
    assert sum(map(tokens, text)) < 1_600
