"""Through the face to a real MCP server and back."""

import asyncio
import sys
from pathlib import Path

import pytest
from serve_parts import SECONDS, connected, text_of, with_client

from pegboard.app.pegboard import Pegboard
from pegboard.model.calls import ServerConfig, Transport
from pegboard.serve.mcp.face import make_face
from waiting import soon

pytestmark = pytest.mark.server

UPSTREAM = str(Path(__file__).with_name("upstream_child.py"))
PONDER = "mcp:deep:ponder"


@pytest.fixture
def board(board_file, tmp_path):
    config = ServerConfig(
        "deep", Transport.STDIO, command=sys.executable, args=(UPSTREAM, str(tmp_path))
    )
    with Pegboard.open(board_file, create=True) as found:
        found.add_servers([config])
        found.sync()
        yield found


@pytest.fixture
def face(board):
    return make_face(board)


def test_a_tool_is_found_described_and_called(face, era):
    seen = []

    async def watch(*progress):
        seen.append(progress)

    async def all_of_it(client):
        search = {"query": "think for a long time", "executable": True}
        found = await client.call_tool("search_tools", search)
        name = found.structured_content["hits"][0]["id"]
        described = await client.call_tool("describe_tool", {"name": name})
        call = {"name": name, "arguments": {"seconds": 0}}
        return described, await client.call_tool("call_tool", call, progress_callback=watch)

    described, result = with_client(face, all_of_it, era)
    assert described.structured_content["tools"][0]["id"] == PONDER
    assert (text_of(result), result.structured_content) == ("42", {"answer": 42})
    assert not result.is_error
    assert result.meta["pegboard"]["outcome"] == "ok"
    assert seen == [(1, 2, "thinking")]


def test_a_search_for_what_can_be_called_waits_also_for_a_server_that_nobody_asked_yet(
    board_file, tmp_path
):
    child = {"command": sys.executable, "args": (UPSTREAM, str(tmp_path))}
    both = [ServerConfig(name, Transport.STDIO, **child) for name in ("first", "second")]
    with Pegboard.open(board_file, create=True) as board:
        board.add_servers(both)
        board.sync()
    with Pegboard.open(board_file) as board:
        board.upstream.fetch(["first"])  # as whoever asks one after the other has begun to
        found = board.search("think for a long time", executable=True, threshold=0.0).hits
    assert {hit.id.split(":")[1] for hit in found} == {"first", "second"}


def test_arguments_that_do_not_fit_come_back_with_the_part_they_break(face, era):
    result = with_client(face, lambda c: c.call_tool("call_tool", {"name": PONDER}), era)
    assert result.is_error
    assert "seconds" in text_of(result)
    assert '"required":["seconds"]' in text_of(result)
    assert result.meta["pegboard"]["outcome"] == "invalid_arguments"


def test_a_call_takes_no_longer_than_it_may(face, era):
    call = {"name": PONDER, "arguments": {"seconds": 600}, "timeout_seconds": 1}
    result = with_client(face, lambda c: c.call_tool("call_tool", call), era)
    assert result.is_error
    assert text_of(result)
    assert result.meta["pegboard"]["outcome"] == "timeout"


def test_a_server_is_a_source_by_its_name_also_when_nothing_of_it_fits(face, era):
    search = {"query": "zzz", "mode": "bm25", "source": "deep"}
    result = with_client(face, lambda c: c.call_tool("search_tools", search), era)
    assert result.structured_content["hits"] == []
    assert result.structured_content["notices"] == [
        "the filters may leave out what you need; try without them"
    ]


def test_a_client_that_gives_up_calls_off_the_work_of_the_server_behind(face, era, tmp_path):
    async def run():
        async with connected(face, era) as client:
            thinking = asyncio.Event()

            async def watch(*progress):
                thinking.set()

            call = {"name": PONDER, "arguments": {"seconds": 600}}
            asked = asyncio.create_task(
                client.call_tool("call_tool", call, progress_callback=watch)
            )
            await thinking.wait()
            asked.cancel()
            await soon((tmp_path / "off").exists, "that it was called off", SECONDS)

    asyncio.run(run())
