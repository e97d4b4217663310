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
