"""A board whose vectors come from a service, by the commands that people use."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from embedding_server import hangs_up, status, unless, well
from pegboard.cli.main import cli
from pegboard.embed.service import PROBE

pytestmark = pytest.mark.server

DEMO = Path(__file__).parents[2] / "demo"
KEY = "sk-1234567890-secret"


@pytest.fixture
def run(server, tmp_path, monkeypatch):
    for name, value in {
        "PEGBOARD_EMBED_PROVIDER": "openai-compatible",
        "PEGBOARD_EMBED_MODEL": "text-embedding-tiny",
        "PEGBOARD_EMBED_BASE_URL": server.url,
        "PEGBOARD_EMBED_API_KEY": "env:SOME_KEY",
        "PEGBOARD_EMBED_MAX_RETRIES": "1",
        "SOME_KEY": KEY,
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }.items():
        monkeypatch.setenv(name, value)
    server.key = KEY
    board = str(tmp_path / "board.db")

    def command(*words):
        done = CliRunner().invoke(cli, [*words, "--board", board, "--json"])
        assert KEY not in done.output
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout), done.stderr

    command("init")
    command("add", "folder", "--no-sync", str(DEMO))
    return command


def counts(run):
    found, _ = run("status")
    return found["embeddings"]["total"], found["embeddings"]["ready"], found["model"]


def test_a_board_is_filled_and_searched_with_the_vectors_of_a_service(server, run):
    run("sync")
    total, ready, model = counts(run)
    assert total == ready > 10
    assert model.startswith("openai-compatible/text-embedding-tiny/64/")
    answer, _ = run("search", "extract an archive", "--mode", "vector", "--threshold", "0")
    assert answer["hits"][0]["id"] == "gentools:files:extract_archive"
    assert ["extract an archive"] in [asked.texts for asked in server.asked]
    assert run("doctor")[0]["model"] == "ok"


def test_while_the_service_is_down_words_are_searched_and_afterwards_nothing_is_missing(
    server, run
):
    server.always = hangs_up
    _, told = run("sync")
    assert "cannot be reached" in told
    answer, told = run("search", "extract an archive")
    assert answer["hits"][0]["id"] == "gentools:files:extract_archive"
    assert "searched by words only" in told
    server.always = well
    run("backfill")
    total, ready, _ = counts(run)
    assert total == ready


def test_a_text_that_the_service_refuses_costs_only_its_own_vector(server, run, monkeypatch):
    monkeypatch.setenv("PEGBOARD_EMBED_MAX_ATTEMPTS", "1")
    server.always = unless(
        lambda asked: any("archive" in text.lower() for text in asked.texts),
        status(400, "too long"),
    )
    run("sync")
    found = run("status")[0]["embeddings"]
    assert found["failed"] > 0
    assert found["failed"] + found["ready"] == found["total"]
    assert found["ready"] > found["failed"]


def test_a_second_board_pays_for_nothing(server, run, tmp_path):
    run("sync")
    first = len(server.asked)
    other = str(tmp_path / "other.db")
    for words in (["init"], ["add", "folder", str(DEMO)], ["sync"]):
        assert CliRunner().invoke(cli, [*words, "--board", other]).exit_code == 0
    assert all(asked.texts == [PROBE] for asked in server.asked[first:])
