"""Calls: what was run and how it ended, what was not run and why, and who may say yes."""

import base64
import contextlib
import json
import os
import socket
from concurrent.futures import Future
from pathlib import Path

import pytest
from http_parts import SECONDS, serving

from pegboard.model.calls import CallResult, Outcome
from pegboard.serve.http.calling import LARGEST_FILE
from waiting import until


@pytest.fixture
def api(shared_api):
    return shared_api


def call(api, name, arguments=None, **more):
    who = more.pop("who", "owner")
    body = {"arguments": arguments or {}, **more}
    return api.ask("POST", f"/tools/{name}/call", body, who=who)


def runs(api, name):
    """All of them, the last first: other tests of this file may have run the same tool."""
    return api.ask("GET", f"/tools/{name}/runs?limit=100").json["runs"]


def test_a_call_brings_back_what_the_tool_says(api):
    found = call(api, "greet", {"name": "rob"}, who="reader")
    assert found.status == 200
    told = found.json
    assert (told["outcome"], told["text"], told["sandbox"]) == ("ok", "hello rob\n", "bubblewrap")
    assert told["content"] == [{"type": "text", "text": "hello rob\n"}]
    assert told["version"].startswith("0.0.0+")
    run = runs(api, "greet")[0]
    assert (run["outcome"], run["caller"]) == ("ok", "rob")


def test_a_python_tool_brings_back_its_value(api):
    told = call(api, "post_message", {"text": "hello"}).json
    assert (told["outcome"], told["text"], told["structured"]) == ("ok", "5", {"result": 5})


def test_a_tool_that_ran_and_failed_was_called(api):
    found = call(api, "greet", {"name": "nobody"})
    assert (found.status, found.json["outcome"]) == (200, "failed")
    assert found.json["error"] == "it ended with exit code 1"


def test_a_tool_that_takes_too_long_was_called(api):
    found = call(api, "wait", timeout_seconds=0.1)
    assert (found.status, found.json["outcome"]) == (200, "timeout")


def test_arguments_that_do_not_fit_are_told_with_the_schema(api):
    found = call(api, "greet", {"name": 5})
    assert (found.status, found.code) == (422, "invalid_arguments")
    assert "5 is not of type 'string'" in found.json["detail"]
    assert call(api, "greet", {"name": "a", "age": 5}).status == 422


def test_what_is_not_there_is_not_called(api):
    for name in ("nothing", "greet@9.9.9"):
        assert call(api, name).code == "item_not_found"


@pytest.mark.parametrize("number", ["9.9.9", "1.0", "v1"])
def test_a_version_that_is_not_there_is_told_with_those_that_are(api, number):
    [version] = api.ask("GET", "/tools/greet/versions").json["versions"]
    found = call(api, f"greet@{number}").json
    assert found["detail"] == f"tools:paper:greet has no version {number}"
    assert found["hint"] == f"it has: {version['number']}"


def test_a_version_can_be_named(api):
    [version] = api.ask("GET", "/tools/greet/versions").json["versions"]
    found = call(api, f"greet%40{version['number']}".replace("+", "%2B"), {"name": "x"})
    assert found.json["text"] == "hello x\n"


def test_a_directive_a_skill_and_knowledge_are_told(api):
    assert "Build {branch}." in call(api, "deploy", {"branch": "main"}).json["text"]
    assert call(api, "deploy").code == "invalid_arguments"
    for name in ("release-notes", "retry"):
        found = api.ask("POST", f"/items/{name}/call")
        assert (found.status, found.json["outcome"]) == (200, "ok")


def test_files_that_a_run_made_come_along_unless_they_are_too_large(api):
    large, small = call(api, "draw").json["artifacts"]
    assert (small["name"], base64.b64decode(small["base64"])) == ("small.bin", b"\xffink")
    assert (large["bytes"] > LARGEST_FILE, "base64" in large) == (True, False)


# Approval.


def test_what_can_destroy_something_is_asked_about_first(api):
    before = runs(api, "shred")
    found = call(api, "shred", {"sheet": "a"}, who="reader")
    assert (found.status, found.code) == (409, "approval_needed")
    assert "it can destroy something" in found.json["question"]
    assert '{"sheet": "a"}' in found.json["question"]
    assert runs(api, "shred") == before


def test_a_yes_counts_for_exactly_the_call_that_was_asked_about(api):
    mark = call(api, "shred", {"sheet": "a"}).json["mark"]
    other = call(api, "shred", {"sheet": "b"}, approve=mark)
    assert (other.status, other.code) == (409, "approval_needed")
    assert other.json["mark"] != mark
    done = call(api, "shred", {"sheet": "a"}, approve=mark, who="author")
    assert (done.status, done.json["text"]) == (200, "shredded a\n")
    again = call(api, "shred", {"sheet": "a"}, approve="x" * 64)
    assert again.code == "approval_needed"


def test_a_reader_approves_nothing(api):
    mark = call(api, "shred", {"sheet": "a"}, who="reader").json["mark"]
    found = call(api, "shred", {"sheet": "a"}, approve=mark, who="reader")
    assert (found.status, found.code) == (403, "not_allowed")


def test_an_approval_of_what_needs_none_does_no_harm(api):
    assert call(api, "greet", {"name": "x"}, approve="y").status == 200


def test_what_the_settings_forbid_is_denied(request, monkeypatch):
    monkeypatch.setenv("PEGBOARD_RUN_DESTRUCTIVE", "deny")
    with serving(request.getfixturevalue("board")) as strict:
        found = call(strict, "shred", {"sheet": "a"})
    assert (found.status, found.code) == (403, "denied")
    assert "run.destructive" in found.json["hint"]


# What tools bring back can be odd.


class Odd:
    """A call that has ended already."""

    question = mark = ""

    def __init__(self, item, result):
        self.item = item
        self.result = result

    def start(self, *, approved):
        done = Future()
        done.set_result(self.result)
        return done


def nested(depth):
    found = {}
    for _ in range(depth):
        found = {"a": [found]}
    return found


@pytest.mark.parametrize(
    ("result", "told"),
    [
        (CallResult(Outcome.OK, structured={"n": float("nan")}), {"structured": {"n": None}}),
        (CallResult(Outcome.OK, structured={"n": 10**5_000}), {"outcome": "ok"}),
        (CallResult(Outcome.OK, ({"type": "text", "text": "\ud800"},)), {"text": "?"}),
        (CallResult(Outcome.OK, structured=nested(2_000)), {"structured": None}),
        (CallResult(Outcome.KILLED, error="it was killed"), {"outcome": "killed"}),
    ],
)
def test_whatever_a_tool_brings_back_can_be_told(api, monkeypatch, result, told):
    item = api.board.show("greet").item
    monkeypatch.setattr(type(api.board), "prepare_call", lambda *a, **k: Odd(item, result))
    found = call(api, "greet")
    assert found.status == 200
    assert found.json.items() >= told.items()


def test_what_cannot_be_run_here_is_a_problem_of_the_tool_and_not_of_the_gateway(api, monkeypatch):
    item = api.board.show("greet").item
    gone = CallResult(Outcome.UNAVAILABLE, error="the server is down\n  start it")
    monkeypatch.setattr(type(api.board), "prepare_call", lambda *a, **k: Odd(item, gone))
    found = call(api, "greet")
    assert (found.status, found.code, found.json["hint"]) == (409, "unavailable", "start it")


def test_a_call_ends_when_whoever_made_it_goes_away(api):
    body = json.dumps({"arguments": {}}).encode()
    before = len(runs(api, "wait"))
    with socket.create_connection(("127.0.0.1", api.port), SECONDS) as connection:
        connection.sendall(
            b"POST /tools/wait/call HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer owner\r\n"
            b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body
        )
        tool = until(_sleeping, "that the tool runs")
    until(lambda: len(runs(api, "wait")) > before)
    assert runs(api, "wait")[0]["outcome"] == "killed"
    until(lambda: not _command(tool), "that the tool has ended")


def _sleeping():
    """The process of the tool, in whatever sandbox, below this one: others test the same."""
    below = [os.getpid()]
    for pid in below:
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{pid}/task").iterdir():
                below += map(int, (task / "children").read_text().split())
    return next((pid for pid in below if _command(pid) == b"sleep\x0098765\x00"), None)


def _command(pid):
    """Nothing of one that has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
