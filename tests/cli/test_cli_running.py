"""pegboard run, runs, create and secret: what goes in, what comes out, and how it ends."""

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import keyring
import pytest
from keyrings.alt.file import PlaintextKeyring

from making import seen_below
from waiting import until

GREET = '''
import os, pathlib, sys

def run(name: str, times: int = 1, loud: bool = False, marks: list[str] | None = None) -> dict:
    """Greet somebody by name."""
    print("thinking about", name)
    said = " ".join([f"hello {name}{''.join(marks or [])}"] * times)
    out = pathlib.Path(os.environ["PEGBOARD_OUTPUT"]) / "cards" / "card.txt"
    out.parent.mkdir()
    out.write_text(said)
    return {"said": said.upper() if loud else said}
'''
WIPE = {
    "tool.yaml": "tool_id: wipe\ntool_type: bash\ndescription: Wipe the slate.\n"
    "executor_config: {entrypoint: run.sh}\ndestructive: true\n",
    "run.sh": "echo wiped",
}
WAIT = {
    "tool.yaml": "tool_id: wait\ntool_type: bash\ndescription: Wait for ever.\n"
    "executor_config: {entrypoint: run.sh}\n",
    "run.sh": "echo begun > $PEGBOARD_OUTPUT/begun; echo ready >&2; "
    "(trap '' TERM INT; sleep 600) & sleep 600",
}


@pytest.fixture
def ai(desk, pegboard):
    """A project with an `.ai` folder, on its board."""
    for path, text in (
        ("ops/greet.py", GREET),
        *((f"ops/wipe/{name}", text) for name, text in WIPE.items()),
        *((f"ops/wait/{name}", text) for name, text in WAIT.items()),
    ):
        file = desk / ".ai/tools" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    for command in (("init",), ("add", "folder", ".ai")):
        assert pegboard(*command).code == 0
    return desk


@pytest.mark.program
def test_a_tool_is_run_with_arguments_of_the_types_that_it_takes(ai, pegboard):
    given = ("name=42", "times=2", "loud=true", 'marks=["!", "?"]')
    ran = pegboard("run", "greet", *(part for each in given for part in ("--arg", each)))
    assert ran.code == 0, ran.err
    assert json.loads(ran.out) == {"said": "HELLO 42!? HELLO 42!?"}
    assert "thinking about 42" in ran.err
    assert "it made cards/card.txt, 21 bytes: --save DIR keeps it" in ran.err


@pytest.mark.program
def test_arguments_come_as_json_or_from_standard_input(ai, pegboard, process):
    ran = pegboard("run", "greet", "--arguments", '{"name": "Ada"}', "-a", "times=2")
    assert json.loads(ran.out) == {"said": "hello Ada hello Ada"}
    done = subprocess.run(
        [sys.executable, "-m", "pegboard", "run", "ops__greet", "--arguments", "-"],
        input='{"name": "Zoë"}',
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert json.loads(done.stdout) == {"said": "hello Zoë"}


@pytest.mark.program
def test_everything_about_a_call_can_be_printed_and_files_kept(ai, pegboard):
    ran = pegboard("run", "greet", "-a", "name=Ada", "--json", "--save", "kept")
    told = ran.json
    assert (told["id"], told["outcome"], told["error"]) == ("tools:ops:greet", "ok", "")
    assert told["structured"] == {"said": "hello Ada"}
    assert told["logs"].strip() == "thinking about Ada"
    assert told["sandbox"] == "bubblewrap"
    assert told["artifacts"] == [
        {
            "name": "cards/card.txt",
            "media_type": "text/plain",
            "bytes": 9,
            "path": "kept/cards/card.txt",
        }
    ]
    assert Path("kept/cards/card.txt").read_text() == "hello Ada"


@pytest.mark.program
def test_no_file_of_a_tool_is_kept_where_it_could_do_harm(ai, pegboard):
    code = ai / ".ai/tools/ops/greet.py"
    written = "(out.parent / '.bashrc').write_text(said); (out.parent / 'link').write_text(said)"
    code.write_text(
        GREET.replace("    out.write_text(said)", f"    out.write_text(said); {written}")
    )
    pegboard("sync")
    Path("kept/cards").mkdir(parents=True)
    Path("kept/cards/link").symlink_to(ai / "elsewhere")
    ran = pegboard("run", "greet", "-a", "name=Ada", "--save", "kept")
    assert ran.code == 0
    assert ran.err.count("is not kept") == 2
    assert not (ai / "elsewhere").exists()
    assert sorted(path.name for path in Path("kept/cards").iterdir()) == ["card.txt", "link"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--arguments", "{"), "the arguments are no JSON"),
        (("--arguments", "[]"), "they must be a JSON object"),
        (("--arg", "name"), "'name' has no value\n  write --arg name=value"),
        (("--arg", "=Ada"), "'=Ada' has no name\n  write --arg name=value"),
        (("--arg", "name=Ada", "Lovelace"), "'Lovelace' belongs to nothing before it"),
        (("name=Ada",), 'with quotes around spaces: --arg text="a b"'),
        (("--arg", "name=a", "--arg", "name=b"), "given twice"),
    ],
)
def test_arguments_that_cannot_be_read_say_how_to_write_them(ai, pegboard, arguments, said):
    ran = pegboard("run", "greet", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


def test_arguments_that_do_not_fit_name_the_part_of_the_schema(ai, pegboard):
    ran = pegboard("run", "greet", "-a", "times=many")
    assert (ran.code, ran.out) == (11, "")
    assert "'name' is a required property" in ran.err
    assert "/times: 'many' is not of type 'integer'" in ran.err
    told = pegboard("run", "greet", "--json")
    assert (told.code, told.json["outcome"]) == (11, "invalid_arguments")


def test_an_unknown_tool_is_an_error_with_the_next_step(ai, pegboard):
    ran = pegboard("run", "ghost")
    assert ran.code == 7
    assert "pegboard search" in ran.err
    ran = pegboard("run", "ghost", "--json")
    assert json.loads(ran.err)["error"]["code"] == "item_not_found"


@pytest.mark.program
def test_what_destroys_something_needs_a_yes(ai, pegboard, monkeypatch):
    denied = pegboard("run", "wipe")
    assert (denied.code, denied.out) == (11, "")
    assert "it can destroy something" in denied.err
    assert "--approve" in denied.err
    assert pegboard("run", "wipe", "--approve").out == "wiped\n"
    monkeypatch.setenv("PEGBOARD_RUN_DESTRUCTIVE", "deny")
    assert pegboard("run", "wipe", "--approve").code == 11


SLY = "echo -e 'out \\e]52;c;eA\\a'; echo -e 'log \\e[2J' >&2; echo x > $PEGBOARD_OUTPUT/$'a\\eb'"


@pytest.mark.program
def test_a_tool_cannot_steer_the_terminal(ai, pegboard, monkeypatch):
    (ai / ".ai/tools/ops/wipe/run.sh").write_text(SLY)
    pegboard("sync")
    piped = pegboard("run", "wipe", "--approve")
    assert piped.out == "out \x1b]52;c;eA\x07\n"
    assert "log \\x1b[2J" in piped.err
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    seen = pegboard("run", "wipe", "--approve", "--save", "kept")
    assert "out \\x1b]52;c;eA\\x07" in seen.out
    assert "\x1b]" not in seen.out + seen.err
    assert "kept/a\\x1bb" in seen.err


def test_a_project_may_not_loosen_the_rules(ai, pegboard):
    Path("pegboard.toml").write_text('[run]\ndestructive = "allow"\n')
    ran = pegboard("run", "wipe")
    assert ran.code == 3
    assert "a project may not set run.destructive" in ran.err


@pytest.mark.program
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_interrupted_ends_with_all_that_it_started(ai, number):
    running = subprocess.Popen(
        [sys.executable, "-m", "pegboard", "run", "wait"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        runs = Path(os.environ["HOME"]) / ".cache/pegboard/runs"
        until(lambda: seen_below(runs, "**/begun"), "that the tool begins")
        running.send_signal(number)
        assert running.wait(20) == 130
        assert "stopped; the tool was ended" in running.stderr.read()
        assert not any(runs.rglob("begun"))
    finally:
        running.kill()
        running.wait()
        running.stdout.close()
        running.stderr.close()


@pytest.mark.program
def test_paths_begin_in_the_project_of_the_board_wherever_it_is_asked(ai, pegboard, monkeypatch):
    """Clients start servers in folders of their own."""
    (ai / "notes.txt").write_text("remember the milk")
    (ai / ".ai/tools/ops/notes.py").write_text(
        '__permissions__ = ["read filesystem *.txt"]\n\n'
        'def run():\n    """Read the notes."""\n    return open("notes.txt").read()\n'
    )
    pegboard("sync")
    board = str(ai / ".pegboard/board.db")
    monkeypatch.chdir("/")
    ran = pegboard("run", "notes", "--board", board)
    assert (ran.code, ran.out) == (0, "remember the milk\n")


@pytest.mark.program
def test_runs_are_listed_with_how_they_ended(ai, pegboard):
    assert "nothing was run here yet" in pegboard("runs").err
    pegboard("run", "greet", "-a", "name=Ada")
    pegboard("run", "wipe")
    ran = pegboard("runs", "--json")
    assert [(each["id"], each["outcome"], each["caller"]) for each in ran.json["runs"]] == [
        ("tools:ops:wipe", "denied", "cli"),
        ("tools:ops:greet", "ok", "cli"),
    ]
    assert "Ada" not in ran.out
    told = pegboard("runs", "greet").out
    assert "ok" in told
    assert "tools:ops:greet@" in told
    assert "wipe" not in told


@pytest.mark.program
def test_a_tool_can_be_made_changed_and_run(desk, pegboard):
    pegboard("init")
    code = 'def run(text: str):\n    """Say it louder.\n\n    Much."""\n    return text.upper()\n'
    Path("shout.py").write_text(code)
    made = pegboard("create", "shout.py", "--category", "text", "--try-with", '{"text": "a"}')
    assert made.code == 0, made.err
    assert made.out == "created created:text:shout@1.0.0\n"
    assert "tried it: ok" in made.err
    assert pegboard("run", "shout", "-a", "text=hi").out == "HI\n"
    assert "just so" in pegboard("create", "shout.py", "--category", "text").out
    other = pegboard("create", "shout.py", "--category", "noise")
    assert (other.code, other.out) == (1, "created:text:shout  Say it louder.\n")
    Path("shout.py").write_text(code.replace("upper()", "upper() + '!'"))
    again = pegboard("create", "shout.py", "--category", "text", "--json").json
    assert (again["state"], again["version"]) == ("updated", "1.0.1")
    assert pegboard("run", "shout@1.0.0", "-a", "text=hi").out == "HI\n"
    assert pegboard("run", "shout", "-a", "text=hi").out == "HI!\n"
    assert pegboard("search", "say it louder").out.count("created:text:shout") == 1


@pytest.mark.program
def test_a_tool_is_shown_with_how_it_fared_and_who_vouches_for_it(desk, pegboard):
    pegboard("init")
    Path("half.py").write_text('def run(n: int):\n    """Halve it."""\n    return 2 // n\n')
    pegboard("create", "half.py", "--category", "sums")
    assert "runs" not in pegboard("show", "half").out
    for number in (1, 2, 0):
        pegboard("run", "half", "-a", f"n={number}")
    told = pegboard("show", "half").out
    assert "signature  none; it was made on this board" in told
    assert "runs       3, of which 2 went well in 0." in told
    assert "success    unknown" in told
    assert "duration   0." in told
    assert "cost       unknown" in told
    assert pegboard("show", "half", "--json").json["runs"]["ok"] == 2
    for number in (1, 2):
        pegboard("run", "half", "-a", f"n={number}")
    assert "success    80% of 5 runs" in pegboard("show", "half").out
    found = pegboard("show", "half", "--json").json
    assert (found["success_rate"], found["counted_runs"], found["rating"]) == (0.8, 5, None)
    assert found["runs"]["median"] > 0
    assert 0 < found["quality_score"] < 1


def test_what_cannot_be_made_says_why(desk, pegboard):
    pegboard("init")
    assert pegboard("create", "nowhere").code == 2
    assert pegboard("create", ".", "--try-with", "[]").code == 2
    Path("tool.yaml").write_text("tool_id: x\ntool_type: perl\n")
    refused = pegboard("create", ".")
    assert refused.code == 1
    assert "tool_type" in refused.err


@pytest.mark.program
def test_a_secret_is_kept_in_the_keyring_and_given_to_the_tool_alone(
    ai, pegboard, monkeypatch, tmp_path
):
    own = PlaintextKeyring()
    own.file_path = str(tmp_path / "keyring.cfg")
    before = keyring.get_keyring()
    keyring.set_keyring(own)
    folder = ai / ".ai/tools/ops/tell"
    folder.mkdir()
    (folder / "tool.yaml").write_text(
        "tool_id: tell\ntool_type: bash\ndescription: Tell it.\n"
        "executor_config: {entrypoint: run.sh, env: {KEY: 'secret://TELL_KEY'}}\n"
    )
    (folder / "run.sh").write_text('echo "key: $KEY"; echo "$KEY" >&2; [ "$KEY" = t0p-secret ]')
    try:
        pegboard("sync")
        missing = pegboard("run", "tell", "--approve")
        assert (missing.code, "pegboard secret set TELL_KEY" in missing.err) == (11, True)
        monkeypatch.setattr(sys, "stdin", io.StringIO("t0p-secret\n"))
        assert pegboard("secret", "set", "TELL_KEY").code == 0
        told = pegboard("run", "tell", "--approve", "--json")
        assert (told.code, told.json["text"].strip()) == (0, "key: ***")
        assert "t0p" not in told.out
        assert pegboard("secret", "forget", "TELL_KEY").code == 0
        assert pegboard("secret", "forget", "TELL_KEY").code == 2
    finally:
        keyring.set_keyring(before)
