"""The command as a process: help without a model, JSON everywhere, errors, pipes and encodings."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.server

COMMANDS = [
    "init",
    "add folder",
    "add mcp",
    "remove",
    "sync",
    "search",
    "show",
    "eval",
    "mcp",
    "prompt",
    "allow",
    "changes",
    "approve",
    "status",
    "worker",
    "backfill",
    "retry",
    "refresh",
    "doctor",
]
HEAVY = ["onnxruntime", "numpy", "rich", "tokenizers", "mcp", "watchfiles", "jsonschema"]


def test_the_version_is_printed(process):
    ran = process("--version")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.endswith("pegboard, version 0.1.0\n")


def test_help_lists_every_command(process):
    ran = process("--help")
    assert ran.code == 0
    for command in COMMANDS:
        assert f"\n  {command.split()[0]} " in ran.out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_and_json(pegboard, command):
    ran = pegboard(*command.split(), "--help")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("Usage: ")
    assert ("--json" in ran.out) is (command != "mcp")
    assert ("--board" in ran.out) is (command != "prompt")


@pytest.mark.parametrize(
    "commands", [[""], ["search"], COMMANDS], ids=["pegboard", "search", "all"]
)
def test_help_loads_nothing_heavy(commands):
    code = (
        "import sys\n"
        "from pegboard.cli.main import cli\n"
        f"for command in {commands!r}:\n"
        "    cli.main([*command.split(), '--help'], standalone_mode=False)\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    assert done.stderr == "[]\n"


def test_a_whole_session_in_json(process, tools, tmp_path):
    steps = [
        ("init",),
        ("add", "folder", "tools"),
        ("sync",),
        ("search", "refund"),
        ("show", "refund_payment"),
        ("status",),
        ("rejections",),
        ("refresh", "--all"),
        ("worker", "--once"),
        ("retry", "--all"),
        ("backfill",),
        ("doctor",),
        ("remove", "tools"),
    ]
    for step in steps:
        ran = process(*step, "--json")
        assert ran.code == 0, (step, ran.err)
        json.loads(ran.out)


def test_a_whole_session_with_the_real_model(process, tools):
    real = {"PEGBOARD_EMBED_PROVIDER": "local"}
    for step in (("init",), ("add", "folder", "tools"), ("sync",)):
        assert process(*step, **real).code == 0
    ran = process("search", "reimburse a purchaser", "--json", **real)
    assert ran.json["hits"][0]["id"] == "mcptools:payments:refund_payment"
    assert ran.json["hits"][0]["match_type"] == "semantic"


ERRORS = {
    "no board": (("search", "x", "--board", "none.db"), 4, "pegboard init"),
    "wrong folder": (("add", "folder", "none"), 5, "mcptools"),
    "unknown source": (("sync", "none"), 2, "known: tools"),
    "unknown item": (("show", "none"), 7, "pegboard search"),
    "unknown option": (("status", "--none"), 2, "--help"),
    "unknown command": (("none",), 2, "--help"),
    "not a board": (("status", "--board", "pegboard.toml"), 4, "pegboard"),
    "folder as board": (("status", "--board", "tools"), 4, "board.db"),
    "nothing to measure": (("eval", "tools"), 2, "queries.jsonl"),
}


@pytest.mark.parametrize(("args", "code", "hint"), ERRORS.values(), ids=ERRORS.keys())
def test_an_error_is_on_stderr_with_a_next_step_and_no_traceback(process, board, args, code, hint):
    ran = process(*args)
    assert (ran.code, ran.out) == (code, "")
    assert hint in ran.err
    assert "Traceback" not in ran.err


def test_an_error_for_programs_is_an_object(pegboard, board):
    ran = pegboard("show", "none", "--json")
    assert (ran.code, ran.out) == (7, "")
    assert json.loads(ran.err)["error"]["code"] == "item_not_found"
    assert json.loads(ran.err)["error"].keys() == {"code", "message", "hint"}


def test_a_settings_error_is_told_before_anything_is_done(process, desk):
    (desk / "pegboard.toml").write_text("[search]\nlimt = 3\n")
    ran = process("init")
    assert (ran.code, ran.out) == (3, "")
    assert "did you mean 'search.limit'?" in ran.err
    assert not (desk / ".pegboard").exists()


def test_errors_and_notes_have_no_colour_when_nobody_looks(process, board):
    ran = process("search", "refund", PEGBOARD_EMBED_DIMENSION="64")
    assert "\x1b" not in ran.out + ran.err
    assert "\x1b" not in process("show", "none").err


@pytest.mark.parametrize(
    "args", [["search", "message", "--json"], ["search", "message"], ["status"], ["--help"]]
)
def test_a_reader_that_goes_away_early_is_no_failure(board, args):
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pegboard", *args],
            stdout=write,
            stderr=subprocess.PIPE,
            timeout=60,
        )
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("args", [["search", "message", "--json"], ["search", "message"]])
def test_an_answer_for_which_there_is_no_room_is_an_error_of_one_line(board, args):
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "pegboard", *args],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
        )
    assert done.returncode == 10
    assert "there is no room to write: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


def test_without_anywhere_to_answer_nothing_is_answered(board):
    command = f"'{sys.executable}' -m pegboard search message --json >&-"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_output_through_head_causes_no_traceback(board):
    command = f"'{sys.executable}' -m pegboard search message --json --limit 5 | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("{\n", "")


@pytest.fixture
def foreign(pegboard, board, tools):
    """The board with tools whose words no single old encoding can write."""
    tools.write("chat/überweisung_送金", "Überweise Geld → “送金” 💸 naïve.")
    tools.write("chat/transfer", "Überweise Geld → “送金” 💸 naïve.")
    assert pegboard("sync").code == 0


ENCODINGS = {
    "ascii": {"PYTHONIOENCODING": "ascii"},
    "latin-1": {"PYTHONIOENCODING": "latin-1"},
    "C": {"LC_ALL": "C"},
    "POSIX": {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
}


@pytest.mark.parametrize("environ", ENCODINGS.values(), ids=ENCODINGS.keys())
@pytest.mark.parametrize("args", [("search", "Geld"), ("show", "transfer")], ids=" ".join)
def test_unicode_is_printed_whatever_the_terminal_can_show(foreign, args, environ):
    done = terminal(environ, *args)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    assert b"Traceback" not in done.stderr
    assert b"Geld" in done.stdout


@pytest.mark.parametrize("environ", ENCODINGS.values(), ids=ENCODINGS.keys())
def test_json_is_whole_whatever_the_terminal_can_show(foreign, environ):
    done = terminal(environ, "search", "Geld", "--json")
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    hits = json.loads(done.stdout)["hits"]
    assert {"überweisung_送金", "transfer"} <= {hit["name"] for hit in hits}


def terminal(environ: dict[str, str], *args: str) -> subprocess.CompletedProcess[bytes]:
    """The command in a terminal that knows no other encoding than these variables say."""
    return subprocess.run(
        [sys.executable, "-m", "pegboard", *args],
        env={k: v for k, v in os.environ.items() if not k.startswith("LC_")} | environ,
        capture_output=True,
        timeout=60,
    )


def test_an_error_that_names_unicode_is_printed_on_an_ascii_terminal(process, board):
    ran = process("show", "überweisung_送金", PYTHONIOENCODING="ascii")
    assert ran.code == 7
    assert "Traceback" not in ran.err


def test_bytes_that_are_no_text_can_be_searched_for(process, board):
    ran = process("search", b"\xff\xfe refund", "--json")
    assert ran.json["hits"][0]["name"] == "refund_payment"


def test_bytes_that_are_no_text_name_no_item(process, board):
    ran = process("show", b"refund\xff")
    assert ran.code == 7
    assert "Traceback" not in ran.err


def test_bytes_that_are_no_text_are_no_category(process, board):
    ran = process("search", "refund", "--category", b"payments\xff")
    assert ran.code == 1
    assert "Traceback" not in ran.err


def test_the_board_of_a_folder_with_an_odd_name_works(process, desk, tools):
    odd = desk / "ein Ordner ‘mit’ %20 ?x=1 #y 送金"
    odd.mkdir()
    assert process("init", cwd=odd).code == 0
    assert process("add", "folder", "../tools", cwd=odd).code == 0
    assert process("sync", cwd=odd).code == 0
    assert process("search", "refund", cwd=odd).code == 0


LISTS = {
    "allow": "servers",
    "audit": "audit",
    "changes": "changes",
    "keys list": "keys",
    "links --unresolved": "links",
    "model allow": "services",
    "model list": "models",
    "rejections": "rejections",
    "runs": "runs",
    "token list": "tokens",
}


@pytest.mark.parametrize(("command", "name"), LISTS.items())
def test_what_is_listed_as_json_stands_under_its_name(pegboard, board, command, name):
    ran = pegboard(*command.split(), "--json")
    assert ran.code == 0, ran.err
    assert isinstance(ran.json[name], list)


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("search", "x", "--mode", "psychic"), "'psychic' is not one of"),
        (("search", "x", "--limit", "many"), "'many' is not a valid"),
        (("shwo", "refund"), "No such command 'shwo'"),
    ],
)
def test_wrong_usage_is_an_error_like_any_other_for_programs(pegboard, board, args, told):
    ran = pegboard(*args, "--json")
    error = json.loads(ran.err)["error"]
    assert (ran.code, error["code"], told in error["message"]) == (2, "usage_error", True)
    assert error["hint"].endswith("--help")
    assert not pegboard(*args).err.startswith("{")


def test_json_after_two_dashes_is_for_another_program(pegboard, board):
    ran = pegboard("add", "mcp", "a b", "--", "server", "--json")
    assert ran.code != 0
    assert ran.err.startswith("error: ")
