"""What becomes of search when the model is off, changed, or broken."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pegboard as package

DEFAULT, OTHER = "256", "64"


@pytest.fixture
def dimension(monkeypatch):
    """Switches to a model whose vectors have another length."""

    def switch(length: str) -> None:
        monkeypatch.setenv("PEGBOARD_EMBED_DIMENSION", length)

    return switch


@pytest.fixture
def provider(monkeypatch):
    def switch(name: str) -> None:
        monkeypatch.setenv("PEGBOARD_EMBED_PROVIDER", name)

    return switch


@pytest.fixture
def disabled(provider, pegboard, tools):
    """A board that was filled without any model."""
    provider("disabled")
    for command in (("init",), ("add", "folder", "tools"), ("sync",)):
        assert pegboard(*command).code == 0


def test_without_a_model_search_goes_by_words(pegboard, disabled):
    ran = pegboard("search", "refund", "--json")
    assert ran.code == 0
    assert [hit["match_type"] for hit in ran.json] == ["keyword"]
    assert ["vector" in hit["breakdown"] for hit in ran.json] == [False]


def test_without_a_model_a_search_by_meaning_says_that_it_went_by_words(pegboard, disabled):
    ran = pegboard("search", "refund", "--mode", "vector", "--json")
    assert ran.json[0]["name"] == "refund_payment"
    assert ran.err.count("embedding is disabled") == 1


def test_without_a_model_status_says_disabled(pegboard, disabled):
    found = pegboard("status", "--json").json
    assert found["model"] == "disabled"
    assert (found["embeddings"]["disabled"], found["waiting"]) == (5, 0)
    assert "5 disabled" in pegboard("status").out


def test_without_a_model_nothing_is_queued_and_the_board_is_well(pegboard, disabled):
    assert pegboard("backfill", "--json").json["disabled"] == 5
    assert pegboard("doctor", "--json").json["model"] == "disabled"


@pytest.mark.parametrize("command", [("worker", "--once"), ("refresh", "--all")])
def test_without_a_model_what_needs_one_is_wrong_usage(pegboard, disabled, command):
    ran = pegboard(*command)
    assert ran.code == 2
    assert "embed.provider" in ran.err


def test_once_there_is_a_model_backfill_embeds_everything(pegboard, disabled, provider):
    provider("test")
    assert "backfill" in pegboard("search", "refund").err
    assert pegboard("backfill", "--json").json["embedded"] == 5
    ran = pegboard("search", "refund", "--json")
    assert (ran.err, ran.json[0]["match_type"]) == ("", "both")
    assert pegboard("doctor").code == 0


def test_once_there_is_a_model_sync_embeds_everything(pegboard, disabled, provider):
    provider("test")
    assert pegboard("sync", "--json").json["work"]["embedded"] == 5


def test_what_waits_when_the_model_is_turned_off_is_disabled(pegboard, board, provider):
    pegboard("refresh", "--all")
    provider("disabled")
    assert pegboard("sync").code == 0
    assert pegboard("status", "--json").json["waiting"] == 0
    assert pegboard("doctor").code == 0


def test_after_a_change_of_model_search_goes_by_words_and_says_so(pegboard, board, dimension):
    dimension(OTHER)
    ran = pegboard("search", "refund", "--json")
    assert ran.code == 0
    assert [hit["match_type"] for hit in ran.json] == ["keyword"]
    assert "pegboard backfill" in ran.err


def test_after_a_change_of_model_a_filtered_search_says_so_as_well(pegboard, board, dimension):
    dimension(OTHER)
    ran = pegboard("search", "refund", "--category", "payments", "--json")
    assert [hit["match_type"] for hit in ran.json] == ["keyword"]
    assert "pegboard backfill" in ran.err


def test_half_way_to_a_new_model_no_vector_of_the_old_one_counts(pegboard, board, dimension, tools):
    dimension(OTHER)
    tools.write("payments/refund_payment", "Return money to a buyer.")
    pegboard("sync", "--no-embed")
    ran = pegboard("search", "refund", "--mode", "vector", "--json")
    assert (ran.code, ran.json) == (1, [])
    assert "pegboard backfill" in ran.err


def test_backfill_brings_a_changed_model_to_every_tool(pegboard, board, dimension, sql):
    dimension(OTHER)
    assert pegboard("backfill", "--json").json["embedded"] == 5
    ran = pegboard("search", "refund", "--json")
    assert (ran.err, ran.json[0]["match_type"]) == ("", "both")
    lengths = sql(
        "SELECT DISTINCT f.dimension, length(v.vector) / 4"
        " FROM vectors v JOIN fingerprints f ON f.key = v.fingerprint"
    )
    assert all(said == real for said, real in lengths)
    assert pegboard("doctor").code == 0


def test_going_back_to_the_old_model_costs_no_embedding(pegboard, board, dimension):
    before = pegboard("search", "refund", "--json").json
    dimension(OTHER)
    pegboard("backfill")
    dimension(DEFAULT)
    assert pegboard("backfill", "--json").json["embedded"] == 0
    assert pegboard("search", "refund", "--json").json == before


def test_a_change_of_model_that_was_given_up_half_way_leaves_nothing_waiting(
    pegboard, board, dimension
):
    dimension(OTHER)
    pegboard("backfill", "--queue-only")
    dimension(DEFAULT)
    counts = pegboard("backfill", "--json").json
    assert (counts["ready"], counts["pending"]) == (5, 0)
    assert pegboard("status", "--json").json["waiting"] == 0
    assert pegboard("search", "refund").err == ""


def test_a_damaged_vector_is_an_error_with_a_way_out_and_no_traceback(pegboard, sql):
    sql("UPDATE vectors SET vector = x'00'")
    ran = pegboard("search", "refund", "--json")
    assert ran.code in (0, 4)
    assert "Traceback" not in ran.err
    assert "pegboard" in ran.err


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("PEGBOARD_EMBED_PROVIDER", "magic"),
        ("PEGBOARD_EMBED_DEVICE", "gpu"),
        ("PEGBOARD_EMBED_MODEL", "some-other-model"),
    ],
)
def test_a_model_that_does_not_exist_is_a_settings_error(
    pegboard, board, provider, monkeypatch, variable, value
):
    provider("local")
    monkeypatch.setenv(variable, value)
    ran = pegboard("search", "refund")
    assert (ran.code, ran.out) == (3, "")
    assert value in ran.err


@pytest.fixture
def crippled(tmp_path):
    """An installation of Pegboard from which one file of the model can be taken away."""
    source = Path(package.__file__).parent
    copy = tmp_path / "installed" / "pegboard"
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("weights", "__pycache__"))
    weights = copy / "embed" / "weights"
    weights.mkdir()
    for file in (source / "embed" / "weights").iterdir():
        (weights / file.name).symlink_to(file)

    def run(*args: str) -> subprocess.CompletedProcess[str]:
        environ = os.environ | {
            "PYTHONPATH": str(copy.parent),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PEGBOARD_EMBED_PROVIDER": "local",
        }
        command = [sys.executable, "-m", "pegboard", *args]
        return subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60)

    run.weights = weights
    return run


@pytest.mark.parametrize("lost", ["model.onnx", "tokenizer.json", "model.json"])
def test_without_a_file_of_the_model_search_goes_by_words_and_says_so_once(board, crippled, lost):
    (crippled.weights / lost).unlink()
    ran = crippled("search", "refund", "--json")
    assert ran.returncode == 0, ran.stderr
    assert [hit["match_type"] for hit in json.loads(ran.stdout)] == ["keyword"]
    assert ran.stderr.count("note:") == 1
    assert lost in ran.stderr


def test_with_a_file_that_is_not_the_models_own_search_goes_by_words(board, crippled):
    model = crippled.weights / "model.onnx"
    content = model.read_bytes()
    model.unlink()
    model.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    ran = crippled("search", "refund", "--json")
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr.count("note:") == 1
    assert "SHA-256" in ran.stderr


def test_without_the_model_sync_fills_the_board_and_doctor_names_what_is_lost(board, crippled):
    (crippled.weights / "model.onnx").unlink()
    ran = crippled("sync")
    assert ran.returncode == 0, ran.stderr
    assert "nothing was embedded" in ran.stderr
    ran = crippled("doctor")
    assert ran.returncode == 9
    assert "model.onnx" in ran.stdout
    assert crippled("worker", "--once").returncode == 6
