"""The commands for agents: the prompt, and how the server begins and ends on the command line."""

import json
import os
import signal
import subprocess
import sys

import pytest

from pegboard import Pegboard
from pegboard.sources.mcp.config import from_command
from waiting import until

pytestmark = pytest.mark.server

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
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


def typed(*messages: object) -> str:
    return "".join(json.dumps(message) + "\n" for message in messages)


@pytest.fixture
def serve():
    """Runs `pegboard mcp` with all of its input; the answers, its exit code and what it said."""

    def run(*args: str, text: str = typed(HELLO, LIST)):
        done = subprocess.run(
            [sys.executable, "-m", "pegboard", "mcp", *args],
            input=text,
            capture_output=True,
            text=True,
            timeout=60,
        )
        return [json.loads(line) for line in done.stdout.splitlines()], done.returncode, done.stderr

    return run


# prompt


def test_the_prompt_tells_how_to_search(pegboard):
    ran = pegboard("prompt")
    assert (ran.code, ran.err) == (0, "")
    assert "search_tools" in ran.out
    assert "in parallel" in ran.out
    assert ran.out == pegboard("prompt", "--mode", "hybrid").out


def test_the_other_prompt_tells_how_to_browse(pegboard):
    ran = pegboard("prompt", "--mode", "basic")
    assert "list_categories" in ran.out
    assert "search_tools" not in ran.out


@pytest.mark.parametrize("mode", ["basic", "hybrid"])
def test_the_prompt_for_programs_is_the_same_text(pegboard, mode):
    told = pegboard("prompt", "--mode", mode, "--json").json
    assert told == {"mode": mode, "prompt": pegboard("prompt", "--mode", mode).out.rstrip("\n")}


def test_names_in_the_prompt_are_those_the_client_makes(pegboard):
    ran = pegboard("prompt", "--prefix", "mcp__pegboard__")
    assert "mcp__pegboard__search_tools" in ran.out
    assert "mcp__pegboard__call_tool" in ran.out


def test_the_prompt_of_pytools_reads_files_instead_of_calling(pegboard):
    ran = pegboard("prompt", "--profile", "pytools", "--prefix", "pytools_")
    assert "pytools_search_tools" in ran.out
    assert "call_tool" not in ran.out


def test_a_prompt_needs_no_board(pegboard, desk):
    assert pegboard("prompt").code == 0
    assert list(desk.iterdir()) == []


def test_an_unknown_mode_is_told_with_those_there_are(pegboard):
    ran = pegboard("prompt", "--mode", "clever")
    assert (ran.code, ran.out) == (2, "")
    assert "'clever'" in ran.err
    assert "hybrid" in ran.err
    assert "basic" in ran.err


# mcp


@pytest.mark.parametrize("command", ["mcp", "prompt"])
def test_each_command_has_help(pegboard, command):
    ran = pegboard(command, "--help")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("Usage: ")
    assert "--profile" in ran.out


def test_help_of_all_commands_names_both(pegboard):
    ran = pegboard("--help")
    assert "\n  mcp " in ran.out
    assert "\n  prompt " in ran.out


def test_it_answers_what_was_asked_and_ends_with_its_input(serve, board):
    (hello, tools), code, said = serve()
    assert (code, said) == (0, "")
    assert hello["result"]["serverInfo"]["name"] == "pegboard"
    assert "search_tools" in hello["result"]["instructions"]
    names = [tool["name"] for tool in tools["result"]["tools"]]
    assert names[:3] == ["search_tools", "describe_tool", "call_tool"]
    assert {"list_categories", "list_tools"} <= set(names)


def test_it_serves_an_empty_board_where_there_is_none_yet(serve, desk):
    (_, tools), code, said = serve()
    assert (code, said) == (0, "")
    assert "The board is empty." in tools["result"]["tools"][0]["description"]


def test_only_the_namespaces_that_are_named_are_seen(serve, pegboard, board, tools):
    other = tools.root.parent / "other"
    tools.root.rename(other)
    assert pegboard("add", "folder", "other", "--namespace", "acme").code == 0
    assert pegboard("sync", "other").code == 0
    (_, all_of_it), *_ = serve("--no-sync")
    (_, acme), *_ = serve("--no-sync", "--namespace", "acme")
    (_, none), *_ = serve("--no-sync", "--namespace", "nobody")
    told = [each["result"]["tools"][0]["description"] for each in (all_of_it, acme, none)]
    assert "10 items" in told[0]
    assert "5 items" in told[1]
    assert "The board is empty." in told[2]


def test_without_sync_the_board_is_served_as_it_is(serve, board, tools):
    tools.write("chat/unseen", "Nobody has read this yet.")
    (_, tools_now), *_ = serve("--no-sync")
    assert "5 items" in tools_now["result"]["tools"][0]["description"]


ERRORS = {
    "no such board": (("--board", "none.db"), 4, "none.db"),
    "not a board": (("--board", "pegboard.toml"), 4, "pegboard.toml"),
    "unknown profile": (("--profile", "nobody"), 2, "pytools"),
    "unknown option": (("--none",), 2, "--help"),
}


@pytest.mark.parametrize(("args", "code", "hint"), ERRORS.values(), ids=ERRORS.keys())
def test_what_it_cannot_serve_is_told_on_stderr(serve, board, args, code, hint):
    answers, ended, said = serve(*args)
    assert (answers, ended) == ([], code)
    assert hint in said
    assert "Traceback" not in said


def test_a_settings_error_is_told_and_nothing_is_served(serve, board, desk):
    (desk / "pegboard.toml").write_text("[trust]\nchanged = 'perhaps'\n")
    answers, ended, said = serve()
    assert (answers, ended) == ([], 3)
    assert "'perhaps'" in said
    assert "hold, warn, allow" in said


@pytest.mark.parametrize("closed", ["<&-", "<&- >&-"])
def test_without_its_streams_it_ends_and_harms_nothing(pegboard, board, closed):
    command = f"'{sys.executable}' -m pegboard mcp {closed}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60)
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert pegboard("doctor").code == 0


def test_a_board_that_would_serve_itself_is_refused(pegboard, board):
    here = str(Pegboard.open(str(board)).store.facts()["board"])
    done = subprocess.run(
        [sys.executable, "-m", "pegboard", "mcp", "--board", here],
        env={**os.environ, "_PEGBOARD_BOARDS": f"/some/other.db{os.pathsep}{here}"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2
    assert "without end" in done.stderr


def test_a_pegboard_behind_a_pegboard_is_told_which_boards_lead_to_it(pegboard, board, tmp_path):
    """And so one that is behind itself does not start without end."""
    with Pegboard.open(str(board)) as found:
        found.add_servers(
            [from_command("me", [sys.executable, "-m", "pegboard", "mcp", "--board", str(board)])]
        )
        report = next(each for each in found.sync(embed=False).sources if each.source == "me")
    assert "without end" in report.error


def test_nothing_is_written_at_home_and_nobody_is_told_of_its_use(pegboard, board, tmp_path):
    home = tmp_path / "empty home"
    home.mkdir()
    names = ("PATH", "PYTHONPATH")
    kept = {name: os.environ[name] for name in names if name in os.environ}
    subprocess.run(
        [sys.executable, "-m", "pegboard", "search", "anything", "--board", str(board)],
        env={**kept, "HOME": str(home)},
        capture_output=True,
        timeout=60,
    )
    assert list(home.rglob("*")) == []


def test_a_sync_that_waits_for_a_server_can_be_stopped(pegboard, board, tmp_path):
    started = tmp_path / "started"
    asleep = ("sh", "-c", f"touch '{started}'; exec sleep 300")
    adding = ("add", "mcp", "asleep", "--no-sync", "--board", str(board))
    assert pegboard(*adding, "--", *asleep).code == 0
    process = subprocess.Popen(
        [sys.executable, "-m", "pegboard", "sync", "--board", str(board)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    until(started.exists, "that the server was started")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=15)
    assert process.returncode == 130
    assert "Traceback" not in err
