"""`search --output types|python` with a gateway: the module calls the gateway that was asked."""

import pytest
from cli_gateway_parts import serving, write_tools

pytestmark = pytest.mark.server


@pytest.mark.parametrize("output", ["types", "python"])
def test_the_module_is_the_same_but_for_where_it_calls(pegboard, desk, output):
    board = desk / "board.db"
    write_tools(desk / ".ai")
    for args in (["init"], ["add", "folder", ".ai"]):
        assert pegboard(*args, "--board", str(board)).code == 0
    command = ("search", "greet somebody", "--output", output)
    with serving(board) as url:
        there = pegboard(*command, "--gateway", url)
        here = pegboard(*command, "--board", str(board))
    assert there.code == here.code == 0, there.err
    assert url in there.out
    assert there.out.replace(url, "http://127.0.0.1:8420") == here.out
