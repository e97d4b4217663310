"""Boards behind a face, and clients of both eras of the protocol."""

from typing import Any

import pytest
from mcp_types import CallToolResult
from serve_parts import TOOLS, Tools, with_client

from pegboard.app.pegboard import Pegboard
from pegboard.serve.mcp.face import make_face


@pytest.fixture
def tools(tmp_path):
    folder = Tools(tmp_path / "tools")
    for path, description in TOOLS.items():
        folder.write(path, description)
    return folder


@pytest.fixture
def board_file(tmp_path, monkeypatch):
    """Nothing is held back for its score: scores are fitted to the real model, on real boards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PEGBOARD_EMBED_PROVIDER", "test")
    monkeypatch.setenv("PEGBOARD_SEARCH_THRESHOLD", "0")
    monkeypatch.setenv("PEGBOARD_SEARCH_FLOOR", "0")
    return str(tmp_path / "board.db")


@pytest.fixture
def board(board_file, tools):
    with Pegboard.open(board_file, create=True) as found:
        found.add_folder(tools.root)
        found.sync()
        yield found


@pytest.fixture
def face(board):
    return make_face(board)


@pytest.fixture(params=["auto", "legacy"])
def era(request):
    """The two ways in which a client can open a connection."""
    return request.param


@pytest.fixture
def ask(face, era):
    """One call to a tool by a client of its own."""

    def call(tool: str, **arguments: Any) -> CallToolResult:
        return with_client(face, lambda client: client.call_tool(tool, arguments), era)

    return call
