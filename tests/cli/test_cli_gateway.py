"""Every command on a board here and behind a gateway: the same words, wherever both make sense."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import click
import pytest
from cli_gateway_parts import serving, write_tools

from pegboard.cli.gateways import AT_GATEWAYS, ONLY_HERE, leaves, reason
from pegboard.cli.main import cli
from waiting import until

pytestmark = pytest.mark.server

LEAVES = dict(leaves(cli))
DOCUMENT = Path(__file__).parents[2] / "docs" / "how-to" / "gateway.md"
PETS = {
    "openapi": "3.0.0",
    "info": {"title": "Pets", "version": "1"},
    "paths": {
        "/pets": {"get": {"operationId": "listPets", "summary": "List all pets.", "responses": {}}}
    },
}


class Both:
    """The same board twice: as a file, and behind a gateway."""

    def __init__(self, pegboard, board, url):
        self.pegboard = pegboard
        self.board = board
        self.url = url

    def here(self, *args):
        return self.pegboard(*args, "--board", str(self.board))

    def there(self, *args):
        return self.pegboard(*args, "--gateway", self.url)


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A board that tests leave as it is, and its gateway."""
    folder = tmp_path_factory.mktemp("filled")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("HOME", str(folder / "home"))
        patch.setenv("PEGBOARD_EMBED_PROVIDER", "test")
        patch.setenv("PEGBOARD_SEARCH_THRESHOLD", "0")
        patch.setenv("PEGBOARD_SEARCH_FLOOR", "0")
        board = folder / "board.db"
        write_tools(folder / ".ai")
        for args in (["init"], ["add", "folder", ".ai"], ["deactivate", "draw", "--by", "Ada"]):
            cli.main([*args, "--board", str(board)], standalone_mode=False)
        with serving(board) as url:
            yield board, url


@pytest.fixture
def both(pegboard, filled):
    return Both(pegboard, *filled)


@pytest.fixture
def own(pegboard, desk):
    """A board that a test may change, and its gateway."""
    board = desk / "own.db"
    write_tools(desk / ".ai")
    for args in (["init"], ["add", "folder", ".ai"]):
        assert pegboard(*args, "--board", str(board)).code == 0
    with serving(board) as url:
        yield Both(pegboard, board, url)


READING = [
    ("search", "greet somebody"),
    ("search", "pager", "--kind", "knowledge", "--limit", "1"),
    ("search", "greet", "--compact"),
    ("search", "greet somebody, then shred the paper"),
    ("search", "greet somebody, then shred the paper", "--explain", "--limit", "1"),
    ("search", "greet somebody, then zzz the yyy", "--mode", "bm25"),
    ("search", "greet somebody, then shred the paper", "--threshold", "1", "--nearest"),
    ("search", "greet", "--budget-tokens", "40"),
    ("search", "shred", "--mode", "bm25", "--tag", "office", "--tag", "paper"),
    ("search", "greet", "--threshold", "0.9", "--nearest"),
    ("search", "greet somebody", "--threshold", "0.95"),
    ("search", "zzz", "--mode", "bm25"),
    ("search", "zzz", "--category", "nowhere"),
    ("search", ""),
    ("search", "deploy", "--linked", "rota"),
    ("search", "draw", "--state", "inactive"),
    ("search", "draw a picture", "--state", "all", "--diverse"),
    ("search", "Grüße 送金 \u202e", "--executable"),
    ("search", "greet", "--linked", "nothing-like-it"),
    ("show", "greet"),
    ("show", "tools:paper:shred"),
    ("show", "public/directives:ops:deploy"),
    ("show", "paper__greet"),
    ("show", "rota"),
    ("show", "tools:paper:draw"),
    ("show", "nothing-like-it"),
    ("show", ".."),
    ("show", "a/b?c#d%2F"),
    ("description", "greet"),
    ("tags", "shred"),
    ("history", "tools:paper:draw"),
    ("history", "greet"),
    ("history", "nothing-like-it"),
    ("links", "rota"),
    ("links", "deploy"),
    ("links", "--unresolved"),
    ("rejections",),
    ("rejections", "--source", "ai"),
    ("rejections", "--source", "other"),
    ("changes",),
    ("changes", "greet"),
    ("status",),
    ("rejections"),
    ("runs",),
    ("runs", "greet"),
    ("sync", "nothing-like-it"),
    ("remove", "nothing-like-it"),
    ("approve", "--all"),
    ("approve", "nothing-like-it"),
    ("prompt",),
    ("prompt", "--mode", "basic"),
]


@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_what_is_read_is_the_same(both, command, form):
    there = both.there(*command, *form)
    here = both.here(*command, *form) if command[0] != "prompt" else both.pegboard(*command, *form)
    assert timeless(there) == timeless(here)
    assert there.out or there.err


def timeless(ran):
    """How long a search took, and how fast vectors are made, is not the same twice."""
    measured = r'("(?:embed_seconds|search_seconds|done_a_second)": )[\d.e-]+'
    return ran._replace(out=re.sub(measured, r"\1 0", ran.out))


def test_an_explanation_is_the_same_but_for_how_long_it_took(both):
    command = ("search", "greet somebody", "--explain", "--json")
    assert timeless(both.there(*command)) == timeless(both.here(*command))


def test_how_many_hits_is_said_here_and_what_fits_at_the_gateway(both, monkeypatch):
    monkeypatch.setenv("PEGBOARD_SEARCH_LIMIT", "1")
    monkeypatch.setenv("PEGBOARD_SEARCH_THRESHOLD", "1")
    assert len(both.there("search", "greet", "--json").json["hits"]) == 1


def test_the_gateway_and_its_token_can_be_in_the_environment(both, monkeypatch):
    monkeypatch.setenv("PEGBOARD_GATEWAY", both.url)
    assert both.pegboard("search", "greet").out == both.there("search", "greet").out
    monkeypatch.setenv("PEGBOARD_TOKEN", "nobody's-token")
    ran = both.pegboard("search", "greet")
    assert ran.code == 13
    assert "this token is not known" in ran.err
    assert "PEGBOARD_TOKEN" in ran.err
    assert "nobody's-token" not in ran.err


def test_a_board_that_is_named_goes_before_the_gateway_of_the_environment(both, monkeypatch):
    monkeypatch.setenv("PEGBOARD_GATEWAY", "http://127.0.0.1:9")
    assert both.here("search", "greet").code == 0
    assert both.pegboard("search", "greet").code == 4


def test_a_board_and_a_gateway_do_not_go_together(both):
    ran = both.here("search", "greet", "--gateway", both.url)
    assert (ran.code, ran.out) == (2, "")
    assert "--board and --gateway do not go together" in ran.err


def test_a_token_in_a_file_is_shown(both, desk):
    (desk / "token").write_text("reader-token\n")
    ran = both.there("description", "greet", "--reset", "--token-file", "token")
    assert ran.code == 13
    assert "needs the role author, and you are reader" in ran.err


def test_an_error_is_told_to_programs_as_from_a_board_here(both):
    there = both.there("show", "nothing-like-it", "--json")
    assert json.loads(there.err)["error"]["code"] == "item_not_found"
    assert there.code == 7


def test_a_gateway_that_shows_no_source_is_no_new_board(own):
    own.here("remove", "ai")
    assert own.there("sync").err == "note: this gateway shows you no source\n"
    assert "add one with" not in own.there("search", "anything").err


def test_what_a_gateway_asks_of_a_hit_is_not_known_here(filled, pegboard, monkeypatch):
    monkeypatch.setenv("PEGBOARD_SEARCH_THRESHOLD", "1")
    with serving(filled[0]) as strict:
        monkeypatch.setenv("PEGBOARD_SEARCH_THRESHOLD", "0.5")
        ran = pegboard("search", "greet somebody", "--gateway", strict)
    assert ran.code == 1
    assert "the best fit is below what the gateway asks for" in ran.err


def test_a_search_by_another_model_is_for_a_board_here(both, desk):
    ran = both.there("search", "greet", "--model", "local")
    assert (ran.code, ran.out) == (2, "")
    assert "leave --model out" in ran.err
    assert both.there("search", "greet", "--data-dir", str(desk)).code == 2


# What commands change.


def test_a_description_is_given_and_taken_back(own):
    ran = own.there("description", "greet", "--set", "Say hello.", "--json")
    assert ran.code == 0
    assert (ran.json["description"], ran.json["override_by"]) == ("Say hello.", "local")
    shown = own.here("description", "greet", "--json").json
    assert shown == ran.json
    assert own.there("description", "greet", "--reset").out == own.here("description", "greet").out
    assert own.there("description", "greet", "--set", "  ").code == 2


def test_tags_are_given_and_taken_back(own):
    assert own.there("tags", "greet", "--set", "warm,kind", "--json").json["tags"] == [
        "warm",
        "kind",
    ]
    assert own.there("tags", "greet").out == own.here("tags", "greet").out
    assert own.there("tags", "greet", "--reset", "--json").json["tags"] == []


def test_an_item_is_switched_off_and_on(own):
    ran = own.there("deactivate", "greet", "--reason", "too warm")
    assert (
        ran.out
        == "tools:paper:greet is switched off\non again with: pegboard activate tools:paper:greet\n"
    )
    assert "too warm" in own.here("history", "tools:paper:greet").out
    assert own.there("activate", "tools:paper:greet").out == "tools:paper:greet is active\n"
    here, there = (way("activate", "greet") for way in (own.here, own.there))
    assert here.code == 2
    assert there.code in (0, 2)  # to switch on what is on changes nothing


def test_who_decides_is_who_the_token_is_of(own):
    ran = own.there("deactivate", "greet", "--by", "somebody else")
    assert (ran.code, ran.out) == (2, "")
    assert "who the token is of" in ran.err


def write_made(folder, text="hello"):
    folder.mkdir()
    (folder / "tool.yaml").write_text(
        "tool_id: shout\ntool_type: bash\ndescription: Shout a word over the yard.\n"
        "parameters:\n  - {name: word, type: string}\nexecutor_config: {entrypoint: run.sh}\n"
    )
    (folder / "run.sh").write_text(f'echo "{text} $ARG_WORD"\n')
    (folder / "picture.bin").write_bytes(b"\xff\x00ink")


def test_a_tool_is_made_there_run_and_deleted(own, desk):
    write_made(desk / "shout")
    ran = own.there("create", "shout", "--category", "yard", "--try-with", '{"word": "hey"}')
    assert ran.code == 0, ran.err
    assert ran.out == "created created:yard:shout@1.0.0\n"
    assert "tried it: ok" in ran.err
    assert own.there("create", "shout", "--category", "yard").out.endswith("already, just so\n")
    assert own.there("run", "shout", "--arg", "word=ho").out == "hello ho\n"
    here, there = (way("show", "shout", "--json").json for way in (own.here, own.there))
    assert here == there
    assert own.there("delete", "shout").code == 2
    assert own.there("delete", "shout", "--yes").out == "removed created:yard:shout\n"
    assert own.here("show", "shout").code == 7


def test_what_comes_from_a_source_is_not_deleted(own):
    here, there = (way("delete", "greet", "--yes") for way in (own.here, own.there))
    assert (there.code, there.err) == (here.code, here.err)


def test_a_python_file_alone_is_made_there_too(own, desk):
    (desk / "count_words.py").write_text(
        "def run(text: str, least: int = 1) -> int:\n"
        '    """Say how many long words a text has."""\n'
        "    return sum(len(word) >= least for word in text.split())\n"
    )
    ran = own.there("create", "count_words.py", "--category", "text")
    assert ran.out == "created created:text:count_words@1.0.0\n", ran.err
    assert own.there("run", "count_words", "--arg", "text=a bc d", "--arg", "least=2").out == "1\n"


def test_what_is_not_made_is_told_as_here(own, desk):
    write_made(desk / "shout")
    (desk / "shout" / "tool.yaml").write_text("tool_id: shout\ntool_type: spell\n")
    here, there = (way("create", "shout", "--category", "yard") for way in (own.here, own.there))
    assert there == here
    assert there.code == 1
    (desk / "greet").mkdir()
    for name, text in (
        ("tool.yaml", "tools/paper/greet/tool.yaml"),
        ("run.sh", "tools/paper/greet/run.sh"),
    ):
        (desk / "greet" / name).write_text((desk / ".ai" / text).read_text())
    here, there = (way("create", "greet", "--category", "x") for way in (own.here, own.there))
    assert there == here
    assert "look at these first" in there.err


def test_a_trial_that_fails_is_told(own, desk):
    write_made(desk / "shout")
    (desk / "shout" / "run.sh").write_text("echo no >&2; exit 3\n")
    ran = own.there("create", "shout", "--category", "yard", "--try-with", "{}")
    assert ran.code == 1
    assert "trying it failed" in ran.err
    assert "tried it: failed" in ran.err


def test_embeddings_are_queued_and_the_gateway_makes_them(own):
    assert own.there("refresh", "--all").out == "queued 5; the gateway embeds it\n"
    assert own.there("refresh", "greet", "--json").json == {"queued": 1}
    assert own.there("retry", "--all", "--json").json == {"queued": 0}
    ran = own.there("backfill", "--json")
    assert ran.json["total"] == 5
    assert "the gateway embeds what waits" in ran.err
    assert own.there("backfill", "--no-embed").err == ""


def test_sources_are_synced_and_removed(own, desk):
    (desk / ".ai" / "tools" / "paper" / "greet" / "tool.yaml").write_text(
        "tool_id: greet\ntool_type: bash\ndescription: Wave.\n"
        "executor_config: {entrypoint: run.sh}\n"
    )
    ran = own.there("sync", "--json")
    assert (ran.json["sources"][0]["changed"], ran.json["waiting"]) == (1, 1)
    assert "the gateway embeds what waits" in ran.err
    again = own.there("sync", "ai", "--full")
    assert again.out.startswith("ai: 0 added, 0 changed, 5 unchanged") or "changed" in again.out
    assert own.there("remove", "ai").out == "removed ai\n"
    assert own.here("status", "--json").json["sources"] == []


def test_what_a_gateway_does_not_take_as_a_source_is_said_with_the_way_out(own, desk):
    (desk / "pets.json").write_text("{}")
    for command in (
        ("add", "openapi", "pets.json"),
        ("add", "openapi", "https://a.example/x.json", "--header", "X-Key: ${KEY}"),
        ("add", "mcp", "clock", "https://a.example/mcp", "--header", "X-Key: ${KEY}"),
        ("add", "mcp", "clock", "https://a.example/mcp", "--include", "a*"),
    ):
        ran = own.there(*command)
        assert (ran.code, ran.out) == (2, "")
        assert "where the board is, with --board" in ran.err
    ran = own.pegboard("add", "mcp", "clock", "--gateway", own.url, "--", "uvx", "clock")
    assert ran.code == 2
    assert "could start programs there" in ran.err
    assert own.here("status", "--json").json["sources"][1:] == []


@pytest.fixture
def pets():
    """The address of a document that describes a service."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(PETS).encode())

        def log_message(self, format, *args):
            """Nobody reads it."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=http.serve_forever, args=(0.02,))
    thread.start()
    yield f"http://127.0.0.1:{http.server_address[1]}/pets.json"
    http.shutdown()
    thread.join(30)
    http.server_close()


def test_a_service_is_added_by_its_address(pegboard, desk, pets, monkeypatch):
    monkeypatch.setenv("PEGBOARD_RUN_LOOPBACK", "on")
    boards = desk / "one.db", desk / "two.db"
    for board in boards:
        assert pegboard("init", "--board", str(board)).code == 0
    command = ("add", "openapi", pets, "--name", "pets", "--json")
    with serving(boards[1]) as url:
        here = pegboard(*command, "--board", str(boards[0]))
        there = pegboard(*command, "--gateway", url)
        assert here.code == there.code == 0, there.err
        for found in (here.json, there.json):
            assert (found["location"], found["sync"]["added"]) == (pets, 1)
        server = ("add", "mcp", "clock", pets.replace("pets.json", "mcp"))
        here = pegboard(*server, "--board", str(boards[0]))
        there = pegboard(*server, "--gateway", url)
        assert there.code == here.code == 5
        assert there.out.splitlines()[:2] == here.out.splitlines()[:2]
    names = [
        each["name"]
        for each in pegboard("status", "--json", "--board", str(boards[1])).json["sources"]
    ]
    assert names == ["clock", "pets"]


def test_a_gateway_asks_no_address_that_its_tools_may_not_call(own, pets):
    ran = own.there("add", "openapi", pets)
    assert (ran.code, ran.out) == (13, "")
    assert "127.0.0.1" in ran.err


# Running.


def test_a_tool_is_run_there_with_what_it_says_on_its_way(both):
    ran = both.there("run", "greet", "--arg", "name=Ada")
    assert (ran.code, ran.out, ran.err) == (0, "hello Ada\n", "on the way\n")
    assert both.there("run", "greet", "--arguments", '{"name": "nobody"}').code == 11
    assert "by local" in both.here("runs").out


def facts(ran):
    return {name: value for name, value in ran.json.items() if name != "seconds"}


def test_all_about_a_run_is_told_as_here(both):
    command = ("run", "greet", "--arg", "name=Zoë \x1b[31m", "--json")
    assert facts(both.there(*command)) == facts(both.here(*command))


def test_a_directive_is_told_with_its_inputs(both):
    command = ("run", "deploy", "--arg", "version=7")
    assert both.there(*command) == both.here(*command)


def test_wrong_arguments_are_told_as_here(both):
    here, there = (way("run", "greet", "--arg", "nom=x") for way in (both.here, both.there))
    assert there == here
    assert there.code == 11


def test_files_that_a_run_makes_are_kept_here(own, desk):
    own.here("activate", "tools:paper:draw")
    ran = own.there("run", "draw", "--save", "kept")
    assert ran.code == 0, ran.err
    assert (desk / "kept" / "small.bin").read_bytes() == b"\xffink"


def test_what_somebody_has_to_approve_is_not_run_unasked(both):
    ran = both.there("run", "shred", "--arg", "sheet=1")
    assert ran.code == 11
    assert "nobody is here; --approve does" in ran.err
    assert "denied: shred was not run" in ran.err
    assert both.there("run", "shred@1.2.0", "--arg", "sheet=1", "--approve").out == "shredded 1\n"


def test_a_reader_cannot_approve(both, monkeypatch):
    monkeypatch.setenv("PEGBOARD_TOKEN", "reader-token")
    ran = both.there("run", "shred", "--arg", "sheet=1", "--approve")
    assert ran.code == 13
    assert "approving a call needs the role author" in ran.err


def at_a_terminal(answer, *args):
    """The command with a person before it: what it prints, and how it ends."""
    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "pegboard", *args]
    child = subprocess.Popen(
        command, stdin=follower, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    os.close(follower)
    try:
        os.write(leader, answer)
        out, err = child.communicate(timeout=60)
    finally:
        os.close(leader)
    return child.returncode, out.decode(), err.decode()


@pytest.mark.parametrize(("answer", "code"), [(b"y\n", 0), (b"n\n", 11)])
def test_a_person_at_the_terminal_is_asked(both, answer, code):
    run = ("run", "shred", "--arg", "sheet=1", "--gateway", both.url)
    ended, out, err = at_a_terminal(answer, *run)
    assert ended == code
    assert "Run tools:paper:shred? Consider:" in err
    assert out == ("shredded 1\n" if code == 0 else "")


def test_whoever_stops_waiting_stops_the_run(own, desk):
    started, ended = desk / "started", desk / "ended"
    folder = desk / ".ai" / "tools" / "paper" / "wait"
    folder.mkdir()
    (folder / "tool.yaml").write_text(
        "tool_id: wait\ntool_type: bash\ndescription: Wait.\n"
        "executor_config: {entrypoint: run.sh}\n"
        f"permissions: [write filesystem {desk}/**]\n"
    )
    (folder / "run.sh").write_text(
        f"trap 'touch {ended}; exit' TERM; touch {started}\nsleep 98765 &\nwait\n"
    )
    assert own.here("sync").code == 0
    command = [sys.executable, "-m", "pegboard", "run", "wait", "--approve", "--gateway", own.url]
    child = subprocess.Popen(command, stderr=subprocess.PIPE)
    until(started.exists)
    child.send_signal(signal.SIGINT)
    assert child.wait(30) == 130
    assert b"stopped" in child.stderr.read()
    child.stderr.close()
    until(lambda: "killed" in own.here("runs", "wait").out)


# What there is to say about a gateway itself.


def test_the_doctor_says_how_a_gateway_is_and_what_one_may_do(both, monkeypatch):
    ran = both.there("doctor", "--json")
    assert ran.code == 0, ran.err
    assert ran.json == {
        "gateway": both.url,
        "ready": True,
        "reasons": [],
        "version": "0.1.0",
        "subject": "local",
        "role": "admin",
        "namespaces": [],
    }
    assert "you        local: admin of the whole board" in both.there("doctor").out
    monkeypatch.setenv("PEGBOARD_TOKEN", "author-token")
    assert "you        art: author of public" in both.there("doctor").out
    monkeypatch.setenv("PEGBOARD_TOKEN", "unknown")
    ran = both.there("doctor")
    assert ran.code == 13
    assert "ready      yes" in ran.out
    assert both.there("doctor", "--fix").code == 2


def test_search_is_measured_as_it_is(both, desk):
    queries = desk / "queries.jsonl"
    queries.write_text('{"id": "q1", "query": "greet somebody", "gold": ["tools:paper:greet"]}\n')
    command = ("eval", ".", "--as-is", "--json")
    there, here = both.there(*command).json, both.here(*command).json
    times = {name for name in here if "ms" in name or "seconds" in name}
    assert {k: v for k, v in there.items() if k not in times} == {
        k: v for k, v in here.items() if k not in times
    }
    assert "--as-is" in both.there("eval", ".").err


# All commands.


def test_every_command_is_in_one_of_the_two_tables():
    refused = {name for name in LEAVES if name not in AT_GATEWAYS}
    assert set(LEAVES) >= AT_GATEWAYS
    assert all(name in ONLY_HERE or name.partition(" ")[0] in ONLY_HERE for name in refused)
    assert not AT_GATEWAYS & set(ONLY_HERE)
    used = {name if name in ONLY_HERE else name.partition(" ")[0] for name in refused}
    assert used == set(ONLY_HERE)


def test_both_tables_are_in_the_documents():
    told = DOCUMENT.read_text("utf-8")
    for name in (*AT_GATEWAYS, *ONLY_HERE):
        assert re.search(rf"`{name}( --as-is)?`", told), (
            f"docs/how-to/gateway.md says nothing of {name}"
        )


@pytest.mark.parametrize("name", sorted(set(LEAVES) - AT_GATEWAYS))
def test_what_is_only_for_here_says_why_and_what_to_do(pegboard, desk, name):
    ran = pegboard(*name.split(), "--gateway", "https://a.example")
    why, instead = reason(name)
    assert (ran.code, ran.out) == (2, "")
    assert f"pegboard {name} asks no gateway: {why}" in ran.err
    assert instead in ran.err
    both = pegboard(*name.split(), "--token-file", "t", "--gateway", "https://a.example")
    assert both == ran
    assert list(desk.iterdir()) == []


@pytest.mark.parametrize("name", sorted(AT_GATEWAYS))
def test_what_can_be_asked_of_a_gateway_says_so_in_its_help(name):
    shown = [each for each in LEAVES[name].params if isinstance(each, click.Option)]
    options = {each.opts[0]: each for each in shown}
    assert not options["--gateway"].hidden
    assert not options["--token-file"].hidden


def test_a_command_that_is_only_for_here_says_which_board_it_is_about(pegboard, board, monkeypatch):
    monkeypatch.setenv("PEGBOARD_GATEWAY", "https://a.example")
    ran = pegboard("model", "list")
    assert ran.code == 0
    assert "about the board here, and not about the one at https://a.example" in ran.err
    assert pegboard("model", "list", "--board", str(board)).err == ""
    assert pegboard("schema").err == ""


def test_a_local_command_loads_nothing_of_what_asks_gateways(board):
    code = (
        "import sys\n"
        "from pegboard.cli.main import cli\n"
        "cli.main(['search', 'money'], standalone_mode=False)\n"
        "print([name for name in ('httpx2', 'pegboard.remote') if name in sys.modules],"
        " file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stderr == "[]\n"


@pytest.mark.parametrize("wrong", ["/ui", "/mcp", "/boards/main"])
def test_an_address_with_too_much_behind_it_is_said_to_be_wrong(both, wrong):
    ran = both.pegboard("search", "greet", "--gateway", both.url + wrong)
    assert ran.code == 4
    assert f"there is no Pegboard gateway at {both.url}{wrong}" in ran.err
    assert "without /ui or /mcp behind it" in ran.err
