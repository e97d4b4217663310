"""search --model and --data-dir, and the variables of the same meaning."""

import pytest

from embedding_server import running_server

pytestmark = pytest.mark.server

SERVICE = "local-http:m"


@pytest.fixture
def two_models(pegboard, board):
    """A board that is searched by a service, and has vectors of the model before it."""
    before = pegboard("search", "money back", "--mode", "vector", "--json").json["hits"]
    with running_server() as server:
        ran = pegboard("model", "use", SERVICE, "--base-url", server.url)
        assert ran.code == 0, ran.err
        yield server, before


def test_a_search_goes_by_the_vectors_of_the_model_that_is_named(pegboard, two_models):
    server, before = two_models
    now = pegboard("search", "money back", "--mode", "vector", "--json").json["hits"]
    asked = len(server.asked)
    named = pegboard("search", "money back", "--mode", "vector", "--model", "test", "--json").json[
        "hits"
    ]
    assert len(server.asked) == asked
    assert [hit["breakdown"] for hit in named] == [hit["breakdown"] for hit in before]
    assert [hit["breakdown"] for hit in named] != [hit["breakdown"] for hit in now]


def test_the_active_model_can_be_named_without_saying_where_it_is(pegboard, two_models):
    now = pegboard("search", "money back", "--json").json["hits"]
    assert pegboard("search", "money back", "--model", SERVICE, "--json").json["hits"] == now


def test_a_model_without_vectors_on_the_board_is_refused_with_the_next_step(pegboard, board):
    ran = pegboard("search", "money back", "--model", "local")
    assert (ran.code, ran.out) == (2, "")
    assert "this board has no vectors of local; search goes by test/hashed-ngrams" in ran.err
    assert "pegboard model use local" in ran.err


def test_a_model_that_is_none_is_told_with_those_there_are(pegboard, board):
    ran = pegboard("search", "money back", "--model", "gpt")
    assert ran.code == 2
    assert "provider:model" in ran.err


def test_the_data_folder_has_the_board_outside_of_projects(pegboard, tools, tmp_path, monkeypatch):
    monkeypatch.setenv("PEGBOARD_DATA_DIR", str(tmp_path / "mine"))
    assert pegboard("init", "--board", str(tmp_path / "mine" / "board.db")).code == 0
    assert pegboard("add", "folder", "tools").code == 0
    monkeypatch.delenv("PEGBOARD_DATA_DIR")
    assert pegboard("search", "money back").code == 4
    ran = pegboard("search", "money back", "--data-dir", str(tmp_path / "mine"), "--json")
    assert ran.json["hits"][0]["name"] == "refund_payment"


def test_the_keys_are_in_the_data_folder(pegboard, tmp_path, monkeypatch):
    monkeypatch.setenv("PEGBOARD_DATA_DIR", str(tmp_path / "mine"))
    assert pegboard("keys", "new", "ada").code == 0
    assert (tmp_path / "mine" / "keys" / "ada.key").is_file()


def test_a_data_folder_that_is_a_file_is_named(pegboard, tools, tmp_path):
    (tmp_path / "mine").write_text("")
    ran = pegboard("search", "money", "--data-dir", str(tmp_path / "mine"))
    assert ran.code == 4
    assert str(tmp_path / "mine") in ran.err


def test_the_model_and_limit_of_all_commands_can_be_said_in_the_environment(
    pegboard, tools, monkeypatch
):
    monkeypatch.delenv("PEGBOARD_EMBED_PROVIDER")
    monkeypatch.setenv("PEGBOARD_SEARCH_MODEL", "test")
    monkeypatch.setenv("PEGBOARD_SEARCH_LIMIT", "2")
    for command in (("init",), ("add", "folder", "tools")):
        assert pegboard(*command).code == 0
    assert pegboard("status", "--json").json["model"].startswith("test/hashed-ngrams/")
    assert len(pegboard("search", "message", "--json").json["hits"]) == 2
