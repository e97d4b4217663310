"""What becomes of search when the model is off, changed, or broken."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pegboard as package
from embedding_server import running_server
from pegboard.embed.hashed import HashedEmbedder
from pegboard.text import TEXT_VERSION

pytestmark = pytest.mark.server

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
    assert [hit["match_type"] for hit in ran.json["hits"]] == ["keyword"]
    assert ["vector" in hit["breakdown"] for hit in ran.json["hits"]] == [False]


def test_without_a_model_a_search_by_meaning_says_that_it_went_by_words(pegboard, disabled):
    ran = pegboard("search", "refund", "--mode", "vector", "--json")
    assert ran.json["hits"][0]["name"] == "refund_payment"
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
    ran = pegboard("search", "refund a payment", "--json")
    assert (ran.err, ran.json["hits"][0]["match_type"]) == ("", "both")
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


@pytest.mark.parametrize("filters", [(), ("--category", "payments")])
def test_after_a_change_of_model_search_goes_on_with_the_old_one(
    pegboard, board, dimension, filters
):
    before = pegboard("search", "refund a payment", *filters, "--json").json["hits"]
    dimension(OTHER)
    ran = pegboard("search", "refund a payment", *filters, "--json")
    assert (ran.code, ran.json["hits"], ran.err) == (0, before, "")
    assert ran.json["hits"][0]["match_type"] == "both"


def test_a_tool_edited_half_way_to_a_new_model_has_no_vector_of_its_old_text(
    pegboard, board, dimension, tools
):
    dimension(OTHER)
    tools.write("payments/refund_payment", "Return money to a buyer.")
    pegboard("sync", "--no-embed")
    ran = pegboard("search", "refund", "--mode", "vector", "--json")
    assert "refund_payment" not in [hit["name"] for hit in ran.json["hits"]]
    assert "pegboard backfill" in ran.err


def test_backfill_brings_a_changed_model_to_every_tool(pegboard, board, dimension, sql):
    dimension(OTHER)
    assert pegboard("backfill", "--json").json["embedded"] == 5
    ran = pegboard("search", "refund", "--json")
    assert (ran.err, ran.json["hits"][0]["match_type"]) == ("", "both")
    lengths = sql(
        "SELECT DISTINCT f.dimension, length(v.vector) / 4"
        " FROM vectors v JOIN fingerprints f ON f.key = v.fingerprint"
    )
    assert all(said == real for said, real in lengths)
    assert pegboard("doctor").code == 0


def test_going_back_to_the_old_model_costs_no_embedding(pegboard, board, dimension):
    before = pegboard("search", "refund", "--json").json["hits"]
    dimension(OTHER)
    pegboard("backfill")
    dimension(DEFAULT)
    assert pegboard("backfill", "--json").json["embedded"] == 0
    assert pegboard("search", "refund", "--json").json["hits"] == before


def test_a_change_of_model_that_was_given_up_half_way_leaves_nothing_waiting(
    pegboard, board, dimension
):
    dimension(OTHER)
    pegboard("backfill", "--no-embed")
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


@pytest.fixture
def embedded(pegboard, provider, tools):
    """A board with vectors of the packaged model."""
    provider("local")
    for command in (("init",), ("add", "folder", "tools"), ("sync",)):
        assert pegboard(*command).code == 0


@pytest.mark.parametrize("lost", ["model.onnx", "tokenizer.json", "model.json"])
def test_without_a_file_of_the_model_search_goes_by_words_and_says_so_once(
    embedded, crippled, lost
):
    (crippled.weights / lost).unlink()
    ran = crippled("search", "refund", "--json")
    assert ran.returncode == 0, ran.stderr
    assert [hit["match_type"] for hit in json.loads(ran.stdout)["hits"]] == ["keyword"]
    assert ran.stderr.count("note:") == 1
    assert lost in ran.stderr


def test_with_a_file_that_is_not_the_models_own_search_goes_by_words(embedded, crippled):
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
    assert "goes on with the old model" in ran.stderr
    ran = crippled("doctor")
    assert ran.returncode == 9
    assert "model.onnx" in ran.stdout
    assert crippled("worker", "--once").returncode == 6


def models(pegboard):
    """Role and vector length of each model, as the list has them."""
    return {
        line["role"]: line["model"].split("/")[2]
        for line in pegboard("model", "list", "--json").json["models"]
    }


def use(pegboard, *more):
    return pegboard("model", "use", "test", "--dimension", OTHER, *more)


def test_model_use_embeds_everything_and_switches(pegboard, board):
    ran = use(pegboard, "--json")
    assert (ran.code, ran.err) == (0, "")
    assert (ran.json["switched"], ran.json["embeddings"]["ready"]) == (True, 5)
    assert models(pegboard) == {"active": OTHER, "previous": DEFAULT}
    found = pegboard("search", "refund", "--json")
    assert (found.err, found.json["hits"][0]["match_type"]) == ("", "both")
    assert pegboard("doctor").code == 0


def test_model_use_says_by_what_is_searched_now(pegboard, board):
    assert (
        use(pegboard).out
        == f"searching by test/hashed-ngrams/{OTHER}/{TEXT_VERSION} now (5 items)\n"
    )


def test_a_model_that_was_chosen_for_the_board_stays_whatever_the_settings_say(
    pegboard, board, dimension
):
    use(pegboard)
    dimension("32")
    assert pegboard("sync").code == 0
    assert models(pegboard) == {"active": OTHER, "previous": DEFAULT}
    assert pegboard("status", "--json").json["building"] is None


def test_left_to_a_worker_the_change_is_shown_and_search_goes_on(pegboard, board):
    before = pegboard("search", "refund", "--json").json["hits"]
    ran = use(pegboard, "--no-embed", "--json")
    assert (ran.code, ran.json["switched"], ran.json["embeddings"]["pending"]) == (0, False, 5)
    assert models(pegboard) == {"active": DEFAULT, "building": OTHER}
    status = pegboard("status", "--json").json
    assert status["embeddings"]["ready"] == 5
    assert status["building"]["embeddings"]["pending"] == 5
    assert "building   test/hashed-ngrams/64" in pegboard("status").out
    assert "5 to come" in pegboard("model", "list").out
    found = pegboard("search", "refund", "--json")
    assert (found.json["hits"], found.err) == (before, "")
    assert pegboard("worker", "--once", "--json").json["embedded"] == 5
    assert models(pegboard) == {"active": OTHER, "previous": DEFAULT}


def test_left_to_a_worker_it_says_how_to_go_on(pegboard, board):
    out = use(pegboard, "--no-embed").out
    assert "0 of 5 items" in out
    assert "pegboard backfill" in out


def test_rollback_goes_back_at_once_and_back_again(pegboard, board):
    before = pegboard("search", "refund", "--json").json["hits"]
    use(pegboard)
    ran = pegboard("model", "rollback", "--json")
    assert (ran.code, ran.json["switched"]) == (0, True)
    assert models(pegboard) == {"active": DEFAULT, "previous": OTHER}
    assert pegboard("search", "refund", "--json").json["hits"] == before
    pegboard("model", "rollback")
    assert models(pegboard) == {"active": OTHER, "previous": DEFAULT}


def test_rollback_embeds_first_what_has_come_since(pegboard, board, tools):
    use(pegboard)
    tools.write("mail/archive_mail", "Put a mail away.")
    pegboard("sync")
    ran = pegboard("model", "rollback", "--json")
    assert (ran.json["switched"], ran.json["embeddings"]["ready"]) == (True, 6)
    assert pegboard("doctor").code == 0


def test_rollback_during_a_change_gives_the_change_up(pegboard, board):
    use(pegboard, "--no-embed")
    assert pegboard("model", "rollback", "--json").json["switched"] is True
    assert models(pegboard) == {"active": DEFAULT, "kept": OTHER}
    assert pegboard("status", "--json").json["waiting"] == 0
    assert pegboard("doctor").code == 0


def test_without_another_model_there_is_nothing_to_go_back_to(pegboard, board):
    ran = pegboard("model", "rollback")
    assert ran.code == 2
    assert "no other model" in ran.err


def test_prune_removes_vectors_that_nobody_needs(pegboard, board):
    use(pegboard)
    pegboard("model", "use", "test", "--dimension", "32")
    assert set(models(pegboard)) == {"active", "previous", "kept"}
    assert pegboard("model", "prune", "--json").json == {"removed": 5}
    assert set(models(pegboard)) == {"active", "previous"}
    assert pegboard("model", "prune").out == "removed 0 vectors\n"
    assert pegboard("doctor").code == 0


@pytest.mark.parametrize(
    ("name", "options", "code", "said"),
    [
        ("nonsense", (), 2, "there is no model 'nonsense'"),
        ("disabled", (), 2, "disabled"),
        ("local:some-other-model", (), 3, "some-other-model"),
        ("openai-compatible", ("--base-url", "http://127.0.0.1:9/v1"), 3, "needs"),
        (
            "local-http:m",
            ("--base-url", "http://127.0.0.1:9/v1", "--dimension", "4"),
            6,
            "127.0.0.1",
        ),
        (
            "local-http:m",
            ("--base-url", "http://127.0.0.1:9/v1", "--api-key", "sk-1"),
            3,
            "env:NAME",
        ),
    ],
)
def test_a_model_that_does_not_work_changes_nothing(
    pegboard, board, monkeypatch, name, options, code, said
):
    monkeypatch.setenv("PEGBOARD_EMBED_MAX_RETRIES", "0")
    ran = pegboard("model", "use", name, *options)
    assert (ran.code, ran.out) == (code, "")
    assert said in ran.err
    assert "sk-1" not in ran.err
    assert models(pegboard) == {"active": DEFAULT}
    assert pegboard("status", "--json").json["building"] is None


def test_where_embedding_is_disabled_no_model_can_be_chosen(pegboard, board, provider):
    provider("disabled")
    assert use(pegboard).code == 2
    provider("test")
    assert models(pegboard) == {"active": DEFAULT}


def test_an_item_that_cannot_be_embedded_holds_up_the_switch_until_it_may_be_skipped(
    pegboard, board, monkeypatch
):
    true = HashedEmbedder.embed

    def choke(self, texts):
        if self.fingerprint.dimension == int(OTHER) and any("money" in text for text in texts):
            raise ValueError("cannot read this")
        return true(self, texts)

    monkeypatch.setattr(HashedEmbedder, "embed", choke)
    monkeypatch.setenv("PEGBOARD_EMBED_MAX_ATTEMPTS", "1")
    ran = use(pegboard)
    assert ran.code == 0
    assert "4 of 5 items" in ran.out
    assert "pegboard retry --all" in ran.err
    assert models(pegboard) == {"active": DEFAULT, "building": OTHER}
    assert pegboard("worker", "--once").code == 0
    assert models(pegboard) == {"active": DEFAULT, "building": OTHER}
    assert use(pegboard, "--skip-failed", "--json").json["switched"] is True
    assert pegboard("doctor").code == 0


@pytest.mark.parametrize("hands", ["1", "4"])
def test_workers_at_the_same_time_do_each_task_once(pegboard, board, hands, monkeypatch):
    monkeypatch.setenv("PEGBOARD_EMBED_BATCH_SIZE", "1")
    pegboard("refresh", "--all")
    ran = pegboard("worker", "--once", "--concurrency", hands, "--json")
    assert ran.json == {"embedded": 5, "superseded": 0, "failed": 0}


def test_a_service_that_only_the_board_names_is_asked_once_it_is_allowed(
    pegboard, board, tmp_path, monkeypatch
):
    """A board may come from anybody, and would learn what is asked, and a key."""
    with running_server() as server:
        used = pegboard("model", "use", "local-http:m", "--base-url", server.url)
        assert used.code == 0
        mine = pegboard("search", "refund", "--json").json["hits"]
        monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "somebody else"))
        asked = len(server.asked)
        ran = pegboard("search", "refund", "--json")
        assert {hit["match_type"] for hit in ran.json["hits"]} == {"keyword"}
        assert server.url in ran.err
        assert "pegboard model allow" in ran.err
        assert len(server.asked) == asked
        assert server.url in pegboard("model", "allow").out
        assert pegboard("search", "refund", "--json").json["hits"] == mine


def test_a_board_that_asks_nobody_has_nothing_to_allow(pegboard, board):
    assert "no service" in pegboard("model", "allow").out
    assert pegboard("model", "allow", "--json").json["services"] == []


# The same on a PostgreSQL board.


def test_a_change_of_model_on_postgres_is_queued_shown_finished_and_taken_back(there):
    before = there("search", "refund", "--json").json["hits"]
    queued = use(there, "--no-embed", "--json").json
    assert (queued["switched"], queued["embeddings"]["pending"]) == (False, 5)
    assert models(there) == {"active": DEFAULT, "building": OTHER}
    status = there("status", "--json").json
    assert status["embeddings"]["ready"] == status["building"]["embeddings"]["pending"] == 5
    assert "5 to come" in there("model", "list").out
    during = there("search", "refund", "--json")
    assert (during.json["hits"], during.err) == (before, "")

    assert there("worker", "--once", "--json").json["embedded"] == 5
    assert models(there) == {"active": OTHER, "previous": DEFAULT}
    after = there("search", "refund", "--json")
    assert (after.err, after.json["hits"][0]["match_type"]) == ("", "both")

    assert there("model", "rollback", "--json").json["switched"] is True
    assert models(there) == {"active": DEFAULT, "previous": OTHER}
    assert there("search", "refund", "--json").json["hits"] == before
    assert there("doctor").code == 0


def test_model_use_on_postgres_embeds_switches_and_prune_removes_what_nobody_needs(there):
    assert f"/{OTHER}/{TEXT_VERSION} now (5 items)" in use(there).out
    assert there("model", "use", "test", "--dimension", "32").code == 0
    assert set(models(there)) == {"active", "previous", "kept"}
    assert there("model", "prune", "--json").json == {"removed": 5}
    assert set(models(there)) == {"active", "previous"}
    assert there("doctor").code == 0


def test_the_list_says_which_models_are_calibrated(pegboard, board):
    [line] = pegboard("model", "list", "--json").json["models"]
    assert (line["calibrated"], line["calibrated_at"]) == ("no", None)
    assert "not calibrated" in pegboard("model", "list").out


def test_model_calibrate_needs_a_board_of_some_size(pegboard, board):
    ran = pegboard("model", "calibrate")
    assert ran.code == 2
    assert "too early" in ran.err


def test_model_calibrate_says_what_was_measured(pegboard, board, tools):
    for number in range(20):
        tools.write(f"reports/report_{number}", f"Print the report about subject {number}.")
    assert "were calibrated" in pegboard("sync").err
    ran = pegboard("model", "calibrate", "--json")
    assert (ran.code, ran.json["items"]) == (0, 25)
    assert ran.json["before"].keys() == ran.json["after"].keys() == {"served", "unserved"}
    assert "before  answered at " in pegboard("model", "calibrate").out
    assert "calibrated on this board" in pegboard("model", "list").out
