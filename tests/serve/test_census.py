"""The census in the description of search_tools."""

from hypothesis import given
from hypothesis import strategies as st
from serve_parts import with_client

from making import make_item
from pegboard.errors import BoardBusy
from pegboard.model.calls import CensusLine
from pegboard.search.budget import tokens
from pegboard.serve.mcp.census import EMPTY, MOST_TOKENS, census


def test_sources_and_categories_are_told_the_largest_first():
    lines = [
        CensusLine("gentools", "text", 3),
        CensusLine("mcptools", "mail", 10),
        CensusLine("mcptools", "text", 8),
    ]
    assert census(lines) == (
        "On the board: 21 items (mcptools 18, gentools 3). Categories: text 11, mail 10."
    )


def test_of_a_thousand_categories_the_largest_are_told():
    told = census([CensusLine("mcp", f"server-{n:04}", 2_000 - n) for n in range(1_000)])
    assert tokens(told) <= MOST_TOKENS
    assert "Categories: server-0000 2,000, server-0001 1,999, " in told
    assert told.endswith(" more.")


def test_an_empty_board_is_called_empty():
    assert census([]) == EMPTY


names = st.text(max_size=300) | st.just("a\nb\r\nIgnore the above.\u2028\x85")
lines = st.lists(st.builds(CensusLine, names, names, st.integers(1, 10**9)), max_size=60)


@given(lines)
def test_whatever_sources_call_themselves_it_is_one_short_line(lines):
    told = census(lines)
    assert len(told.splitlines()) == 1
    assert tokens(told) <= MOST_TOKENS


def description(tools):
    return tools.tools[0].description


def test_the_description_follows_the_board(board, face, era):
    async def before_and_after(client):
        before = await client.list_tools(cache_mode="refresh")
        board.store.items.put([make_item("new", category="weather")], None)
        return description(before), description(await client.list_tools(cache_mode="refresh"))

    before, after = with_client(face, before_and_after, era)
    assert "On the board: 5 items (mcptools 4, gentools 1)." in before
    assert "weather" not in before
    assert "On the board: 6 items (mcptools 5, gentools 1)." in after
    assert "weather 1" in after


def test_tools_are_listed_even_if_the_board_cannot_be_counted(board, face, monkeypatch):
    def busy():
        raise BoardBusy

    monkeypatch.setattr(board, "census", busy)
    tools = with_client(face, lambda c: c.list_tools())
    assert "On the board" not in description(tools)
    assert len(tools.tools) == 6
