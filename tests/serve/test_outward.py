"""Whoever asks over a network is not told where the gateway finds what it talks to."""

import pytest

from pegboard.app.pegboard import Pegboard
from pegboard.board.run.calling import Running
from pegboard.errors import (
    BoardBusy,
    BoardCorrupt,
    BoardFull,
    BoardReadOnly,
    BoardUnreachable,
    ItemNotFound,
    ModelUnavailable,
    UsageError,
)
from pegboard.formats.addresses import without_addresses, without_paths
from pegboard.model.calls import OWNER, Caller, CallResult, Outcome, Role
from pegboard.serve.http.problems import problem
from pegboard.serve.mcp.replies import failed
from pegboard.serve.outward import outward

INNER = "http://10.0.0.7:8080/v1"
AUTHOR = Caller("mia", ("public",), Role.AUTHOR)
READER = Caller("rob", ("team",), Role.READER)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"nothing answers at {INNER}", "nothing answers at an address of its own"),
        (f"{INNER} cannot be reached: refused", "an address of its own cannot be reached: refused"),
        (f"see ({INNER}), or {INNER}.", "see (an address of its own), or an address of its own."),
        ("postgresql://ada@db/tools is busy", "an address of its own is busy"),
        ("tools:mail:send at 10:30 // later", "tools:mail:send at 10:30 // later"),
    ],
)
def test_an_address_in_a_text_is_hidden_and_the_rest_stays(text, said):
    assert without_addresses(text) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("/srv/b/board.db is locked", "a file of its own is locked"),
        (
            "the disk (/srv/b) is full: '/srv/ü/b.db'.",
            "the disk (a file of its own) is full: 'a file of its own'.",
        ),
        ("the file scripts/run.py of tools/x", "the file scripts/run.py of tools/x"),
        ("1 / 2 and/or 3", "1 / 2 and/or 3"),
    ],
)
def test_a_path_from_the_root_is_hidden_and_others_stay(text, said):
    assert without_paths(text) == said


def test_a_board_that_is_locked_or_damaged_is_told_of_without_its_path_but_in_the_log(caplog):
    for kind in (BoardBusy, BoardCorrupt, BoardFull, BoardReadOnly):
        said = outward(kind("/srv/secret/board.db cannot be used", "look at /srv/secret"))
        assert said == ("a file of its own cannot be used", "look at a file of its own")
    assert caplog.text.count("/srv/secret/board.db") == 4


def test_a_board_that_cannot_be_reached_is_told_of_without_its_host_but_in_the_log(caplog):
    error = BoardUnreachable('postgresql://ada@db/t cannot be reached (host "db", 10.0.0.9)', "x")
    assert "10.0.0.9" not in str(outward(error))
    assert "10.0.0.9" in caplog.text


@pytest.mark.parametrize("kind", [BoardBusy, BoardUnreachable, ModelUnavailable])
def test_no_face_of_a_gateway_tells_an_inner_address(kind):
    error = kind(f"{INNER} is busy", f"see {INNER}")
    assert b"10.0.0.7" not in problem(error).body
    assert "10.0.0.7" not in failed(error, outside=True).model_dump_json()
    assert "10.0.0.7" in failed(error).model_dump_json()


def test_what_the_caller_said_himself_is_told_as_it_is():
    assert outward(UsageError(f"{INNER} is no name")).message == f"{INNER} is no name"
    text = failed(ItemNotFound("no item 'x'"), outside=True).content[0].text
    assert text == "no item 'x'\n  look for it with search_tools"


@pytest.mark.server
def test_a_search_names_the_service_of_the_model_to_the_owner_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("PEGBOARD_EMBED_PROVIDER", "local-http")
    monkeypatch.setenv("PEGBOARD_EMBED_MODEL", "m")
    monkeypatch.setenv("PEGBOARD_EMBED_DIMENSION", "4")
    monkeypatch.setenv("PEGBOARD_EMBED_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("PEGBOARD_EMBED_MAX_RETRIES", "0")
    with Pegboard.open(str(tmp_path / "board.db"), create=True) as board:
        [owner] = board.seen_by(OWNER).search("greet").notices
        [reader] = board.seen_by(READER).search("greet").notices
    assert "127.0.0.1:9" in owner
    assert "127.0.0.1" not in reader
    assert "m cannot be used: an address of its own cannot be reached" in reader


def test_a_call_that_reached_nobody_names_the_server_to_the_owner_alone(tmp_path, monkeypatch):
    async def unreached(running, call):
        return CallResult(Outcome.UNAVAILABLE, error=f"MCP server 'far': nothing is at {INNER}")

    monkeypatch.chdir(tmp_path)
    tool = tmp_path / ".ai" / "tools" / "paper" / "fold.py"
    tool.parent.mkdir(parents=True)
    tool.write_text('"""Fold a sheet."""\n\n\ndef run():\n    """Fold a sheet."""\n')
    monkeypatch.setattr(Running, "_run", unreached)
    with Pegboard.open(str(tmp_path / "board.db"), create=True) as board:
        board.add_folder(tmp_path / ".ai")
        board.sync()
        owner = board.seen_by(OWNER).call("fold", {}).error
        author = board.seen_by(AUTHOR).call("fold", {}).error
    assert owner.endswith(f"nothing is at {INNER}")
    assert author.endswith("nothing is at an address of its own")
