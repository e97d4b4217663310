"""The ten likeliest mistakes: each is named with its value, and told what to do next."""

import socket

import pytest

from pegboard.embed import local


@pytest.fixture
def project(board, pegboard, tools):
    """With two tools of one name."""
    tools.write("chat/send", "Send a message to a channel.")
    tools.write("mail/send", "Send an e-mail.")
    assert pegboard("sync").code == 0


def told_as(ran, code, message, hint):
    assert ran.code == code
    assert ran.out == ""
    first, *rest = ran.err.splitlines()
    assert message in first
    assert hint in " ".join(rest)


def test_no_board(pegboard, desk):
    pegboard("init")
    (desk / ".pegboard" / "board.db").unlink()
    told_as(pegboard("search", "x"), 4, str(desk / ".pegboard" / "board.db"), "pegboard rebuild")


def test_the_wrong_folder(pegboard):
    told_as(pegboard("status"), 4, "there is no board at", "go to your project's folder")


def test_the_wrong_board(pegboard, tmp_path):
    other = str(tmp_path / "my boards" / "other.db")
    ran = pegboard("search", "x", "--board", other)
    told_as(ran, 4, other, f"pegboard init --board '{other}'")


def test_a_folder_that_is_not_there(pegboard):
    pegboard("init")
    told_as(pegboard("add", "folder", "tols"), 5, "tols is no folder", "give a folder")


def test_a_missing_model(pegboard, tools, monkeypatch, tmp_path):
    monkeypatch.setenv("PEGBOARD_EMBED_PROVIDER", "local")
    monkeypatch.setattr(local, "WEIGHTS", tmp_path)
    pegboard("init")
    pegboard("add", "folder", "tools")
    ran = pegboard("search", "send a message")
    assert ran.code == 0
    assert "post_message" in ran.out
    assert f"searched by words only: {tmp_path}" in ran.err
    assert "reinstall" in ran.err


@pytest.mark.server
def test_a_port_that_is_taken(pegboard, project):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        told_as(pegboard("serve", "--open", "--port", port), 2, f"port {port}", "--port")


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("[search]\nlimitt = 3\n", "unknown setting 'search.limitt'", "'search.limit'"),
        ("[search\nlimit = 3\n", "not valid TOML", "mend that line"),
    ],
)
def test_bad_settings(pegboard, desk, text, message, hint):
    (desk / "pegboard.toml").write_text(text, "utf-8")
    told_as(pegboard("status"), 3, message, hint)


def test_no_permission(pegboard):
    """Nobody may write there, whoever runs the tests."""
    told_as(pegboard("init", "--board", "/proc/board.db"), 4, "/proc/board.db", "may be written")


def test_an_unknown_id(pegboard, project):
    ran = pegboard("run", "mail__sennd")
    told_as(ran, 7, "no item 'mail__sennd'", "pegboard search mail__sennd")


def test_an_ambiguous_id(pegboard, project):
    ran = pegboard("show", "send")
    told_as(ran, 8, "mcptools:chat:send, mcptools:mail:send", "give one of these")


@pytest.mark.server
def test_a_dead_server(pegboard):
    pegboard("init")
    with socket.create_server(("127.0.0.1", 0)) as gone:
        address = f"http://127.0.0.1:{gone.getsockname()[1]}/mcp"
    ran = pegboard("add", "mcp", "far", address)
    assert ran.code == 5
    assert f"nothing answers at {address}" in ran.err
    assert "pegboard sync" in ran.err


def test_a_database_that_a_newer_pegboard_wrote(pegboard, project, sql):
    sql("INSERT INTO migrations (number, name, applied_at) VALUES (999, 'later', 0)")
    told_as(pegboard("search", "x"), 4, "has schema 999", "upgrade Pegboard")


def test_an_empty_database_does_not_have_its_password_told(pegboard, empty_database):
    address = f"{empty_database}&password=hunter2"
    told_as(pegboard("search", "x", "--board", address), 4, "there is no board", "--board ADDRESS")
    assert "hunter2" not in pegboard("search", "x", "--board", address, "--json").err


@pytest.mark.parametrize("address", ["postgresq://u:hunter2@db/x", "sqlite:///tmp/x.db"])
def test_an_address_that_is_none_is_refused_and_makes_no_file(pegboard, desk, address):
    for command in ("init", "search x"):
        ran = pegboard(*command.split(), "--board", address)
        told_as(ran, 3, f"{address.partition('://')[0]}://..., which is no board", "postgresql://")
        assert "hunter2" not in ran.err
    assert list(desk.glob("*:")) == []


def test_a_folder_in_place_of_a_board(pegboard, tmp_path):
    for command in (("init",), ("search", "x")):
        ran = pegboard(*command, "--board", str(tmp_path))
        told_as(ran, 4, f"{tmp_path} is a folder", str(tmp_path / ".pegboard" / "board.db"))


@pytest.mark.parametrize("content", [b"", b"no board, and never was one" * 100])
def test_another_board_that_is_damaged_is_the_one_to_make_anew(
    pegboard, project, tmp_path, content
):
    other = tmp_path / "my other.db"
    other.write_bytes(content)
    ran = pegboard("search", "x", "--board", str(other))
    told_as(ran, 4, str(other), f"pegboard rebuild --board '{other}'")


def test_a_board_with_a_name_that_is_no_text(pegboard):
    told_as(pegboard("init", "--board", "a\udcffb"), 4, "is not valid text", "another name")


def test_a_section_that_stands_twice(pegboard, desk):
    pegboard("init")
    settings = desk / "pegboard.toml"
    settings.write_text(settings.read_text() + "\n[search]\nlimit = 1\n")
    told_as(pegboard("search", "x"), 3, "not valid TOML", "a section stands once")


def test_a_tool_that_is_switched_off_or_gone(pegboard, project, tools):
    pegboard("deactivate", "mcptools:chat:send")
    ran = pegboard("run", "mcptools:chat:send")
    told_as(ran, 7, "is switched off", "pegboard activate mcptools:chat:send")
    (tools.root / "mcptools" / "mail" / "send.py").unlink()
    pegboard("sync")
    ran = pegboard("run", "mcptools:mail:send")
    told_as(ran, 7, "is gone from its source", "pegboard show mcptools:mail:send")


def test_a_source_that_is_not_there(pegboard, project):
    told_as(pegboard("rejections", "--source", "tolls"), 2, "no source 'tolls'", "known: tools")


def test_a_time_that_is_no_number(pegboard):
    ran = pegboard("run", "x", "--timeout-seconds", "nan")
    assert ran.code == 2
    assert "'nan' is not in the range" in ran.err
