"""A face over the pipes of a process: what it sends, and how it ends."""

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from serve_parts import SECONDS, text_of

from pegboard.serve.mcp.wire import lines_of

pytestmark = pytest.mark.server

CHILD = str(Path(__file__).with_name("serve_child.py"))
HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def call(number: int, tool: str, **arguments: Any) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


class Child:
    def __init__(self, board: str, *how: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, CHILD, board, *how],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def say(self, *messages: dict[str, Any]) -> None:
        lines = "".join(json.dumps(message) + "\n" for message in messages)
        self.process.stdin.write(lines.encode())
        self.process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        return json.loads(self.process.stdout.readline())

    def greet(self) -> dict[str, Any]:
        self.say(HELLO, READY)
        return self.hear()

    def wait_for(self, words: str) -> None:
        for line in self.process.stderr:
            if words in line.decode():
                return
        raise AssertionError(f"it ended without saying {words}")

    def ended(self) -> tuple[int, str]:
        """Its exit code and what it still wrote to standard error."""
        code = self.process.wait(SECONDS)
        return code, self.process.stderr.read().decode()


@pytest.fixture
def start(board, board_file):
    """The board stays open here too: several processes may use one."""
    children = []

    def make(*how: str) -> Child:
        children.append(Child(board_file, *how))
        return children[-1]

    yield make
    for child in children:
        child.process.kill()
        child.process.wait(SECONDS)
        for pipe in (child.process.stdin, child.process.stdout, child.process.stderr):
            with contextlib.suppress(BrokenPipeError):
                pipe.close()


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_talks_to_it(board, board_file, mode):
    async def talk():
        command = StdioServerParameters(
            command=sys.executable, args=[CHILD, board_file], env=dict(os.environ)
        )
        async with asyncio.timeout(SECONDS), Client(command, mode=mode) as client:
            tools = await client.list_tools()
            found = await client.call_tool("search_tools", {"query": "refund a customer"})
            return [tool.name for tool in tools.tools], found, client.server_capabilities

    names, found, capabilities = asyncio.run(talk())
    assert names[0] == "search_tools"
    assert "mcptools:payments:refund_payment" in text_of(found)
    assert capabilities.tools.list_changed


def test_only_messages_are_on_standard_output(start):
    """What the process or a child of it prints goes to standard error; a child reads nothing."""
    child = start("loud")
    assert child.greet()["result"]["serverInfo"]["name"] == "pegboard"
    child.say(call(1, "list_categories"))
    assert child.hear()["id"] == 1
    child.process.stdin.close()
    code, said = child.ended()
    assert (code, child.process.stdout.read()) == (0, b"")
    assert "stray words" in said
    assert "EOFError" in said
    assert said.endswith("closed\n")


def test_questions_that_were_asked_before_the_input_ends_are_answered(start):
    child = start()
    child.say(HELLO, READY, call(1, "search_tools", query="send"), call(2, "list_categories"))
    child.process.stdin.close()
    answers = {child.hear()["id"] for _ in range(3)}
    assert answers == {0, 1, 2}
    assert child.ended()[0] == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_while_its_input_stays_open(start, number):
    child = start()
    child.greet()
    child.process.send_signal(number)
    code, said = child.ended()
    assert code == 0
    assert said.endswith("closed\n")
    assert "Traceback" not in said


@pytest.mark.parametrize("how", ["signal", "input"])
def test_a_call_that_runs_is_called_off_at_the_end(start, how):
    child = start("slow")
    child.greet()
    child.say(call(1, "call_tool", name="x"))
    child.wait_for("called")
    if how == "signal":
        child.process.send_signal(signal.SIGTERM)
    else:
        child.process.stdin.close()
    code, said = child.ended()
    assert code == 0
    assert "off: True" in said
    assert "Traceback" not in said


def test_a_client_that_cancels_calls_it_off_and_gets_no_answer(start):
    child = start("slow")
    child.greet()
    child.say(call(1, "call_tool", name="x"))
    child.wait_for("called")
    cancel = {"method": "notifications/cancelled", "params": {"requestId": 1}}
    child.say({"jsonrpc": "2.0"} | cancel)
    child.wait_for("off: True")
    child.say(call(2, "list_categories"))
    assert child.hear()["id"] == 2


def test_a_client_that_does_not_read_cannot_keep_it(start):
    child = start()
    child.greet()
    child.say(*(call(n, "list_tools", limit=200) for n in range(1, 400)))
    assert child.hear()["id"]
    child.process.send_signal(signal.SIGTERM)
    code, said = child.ended()
    assert code == 0
    assert "Traceback" not in said


def test_a_client_that_is_gone_ends_it_without_a_traceback(start):
    child = start()
    child.greet()
    child.process.stdout.close()
    child.say(call(1, "list_categories"))
    code, said = child.ended()
    assert code == 0
    assert "Traceback" not in said


def test_a_search_that_hangs_cannot_keep_it(start):
    child = start("stuck")
    child.greet()
    child.say(call(1, "search_tools", query="x"))
    child.wait_for("searching")
    child.process.send_signal(signal.SIGTERM)
    code, said = child.ended()
    assert code == 0
    assert "was given up" in said
    assert said.endswith("closed\n")


def test_a_line_that_is_no_message_is_passed_over(start):
    child = start()
    child.greet()
    child.process.stdin.write(b'{"what": \n\n\xff\xfe\n[1]\n')
    child.say(call(1, "list_categories"))
    assert child.hear()["id"] == 1


def test_lines_come_whole_however_they_are_cut():
    chunks = iter([b"on", b"e\ntwo\n\n", b"th", b"r", b"ee\nrest", b""])
    assert list(lines_of(lambda: next(chunks))) == [b"one", b"two", b"three"]


def test_an_input_that_fails_has_ended():
    def fails() -> bytes:
        raise OSError("gone")

    assert list(lines_of(fails)) == []
