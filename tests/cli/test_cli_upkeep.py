"""status, worker, backfill, retry, refresh and doctor."""

import threading

import pytest

from pegboard.app.pegboard import Pegboard
from pegboard.board.maintain.worker import Worker, WorkerSettings
from pegboard.embed.hashed import HashedEmbedder
from pegboard.errors import EmbeddingError
from pegboard.ports.stages import quiet

COUNTS = ["total", "ready", "pending", "failed", "disabled", "blank"]


class Refusing(HashedEmbedder):
    """A service that answers every text with an error."""

    def embed(self, texts):
        raise EmbeddingError("out of order")


@pytest.fixture
def waiting(pegboard, board):
    """The board with all its embeddings still to be made."""
    assert pegboard("refresh", "--all", "--json").json == {"queued": 5}


@pytest.fixture
def failed(waiting):
    """The board with all its embeddings given up."""
    with Pegboard.open() as opened:
        worker = Worker(opened.store, Refusing(256), WorkerSettings(max_attempts=1))
        assert worker.drain(threading.Event(), quiet).failed == 5


def counts(pegboard):
    return {k: n for k, n in pegboard("status", "--json").json["embeddings"].items() if n}


def test_status_tells_board_model_counts_and_sources(pegboard, board, tools):
    out = pegboard("status").out
    assert str(board) in out
    assert "hashed-ngrams" in out
    assert "5 ready, 0 pending, 0 failed, 0 disabled, 0 blank" in out
    assert f"tools (pytools) {tools.root}, synced just now" in out


def test_status_as_json_has_the_same(pegboard, board, tools):
    found = pegboard("status", "--json").json
    assert list(found["embeddings"]) == COUNTS
    assert found["facts"]["board"] == str(board)
    assert "hashed-ngrams" in found["model"]
    assert (found["waiting"], found["rejections"]) == (0, 0)
    assert [source["location"] for source in found["sources"]] == [str(tools.root)]


def test_status_of_a_source_that_was_never_read_says_so(pegboard, tools):
    pegboard("init")
    pegboard("add", "folder", "tools", "--no-sync")
    assert "never synced" in pegboard("status").out


def test_status_counts_the_vectors_of_each_model_apart(pegboard, board, monkeypatch):
    monkeypatch.setenv("PEGBOARD_EMBED_DIMENSION", "64")
    found = pegboard("status", "--json").json
    assert found["embeddings"]["ready"] == 5
    assert found["building"]["embeddings"]["ready"] == 0


def test_worker_once_embeds_what_waits_and_ends(pegboard, waiting):
    ran = pegboard("worker", "--once", "--json")
    assert ran.code == 0
    assert ran.json == {"embedded": 5, "superseded": 0, "failed": 0}
    assert pegboard("worker", "--once").out == "embedded 0, superseded 0, failed 0\n"


def test_backfill_embeds_what_waits_and_counts(pegboard, waiting):
    assert counts(pegboard) == {"total": 5, "pending": 5}
    ran = pegboard("backfill", "--json")
    assert ran.code == 0
    assert ran.json == dict.fromkeys(COUNTS, 0) | {"total": 5, "ready": 5, "embedded": 5}


def test_backfill_again_has_nothing_left_to_do(pegboard, board):
    assert pegboard("backfill", "--json").json["embedded"] == 0
    assert pegboard("backfill").out == (
        "5 total, 5 ready, 0 pending, 0 failed, 0 disabled, 0 blank\n"
    )


def test_backfill_goes_on_where_it_was_stopped(pegboard, waiting):
    with Pegboard.open() as opened:
        settings = WorkerSettings(batch_size=2)
        assert Worker(opened.store, HashedEmbedder(256), settings).step()
    assert counts(pegboard) == {"total": 5, "ready": 2, "pending": 3}
    assert pegboard("backfill", "--json").json["embedded"] == 3


def test_backfill_makes_the_vectors_that_were_lost(pegboard, board, sql):
    sql("DELETE FROM vectors WHERE item_key IN (SELECT key FROM items LIMIT 2)")
    assert pegboard("backfill", "--json").json["embedded"] == 2
    assert pegboard("doctor").code == 0


def test_backfill_can_leave_the_embedding_to_a_worker(pegboard, board, sql):
    sql("DELETE FROM vectors")
    assert pegboard("backfill", "--no-embed", "--json").json["pending"] == 5
    assert pegboard("worker", "--once", "--json").json["embedded"] == 5


def test_what_failed_is_counted_and_still_found_by_words(pegboard, failed):
    assert counts(pegboard) == {"total": 5, "failed": 5}
    assert pegboard("search", "refund", "--mode", "bm25").code == 0
    assert "failed" in pegboard("show", "refund_payment").out


def test_retry_of_one_item_revives_only_it(pegboard, failed):
    assert pegboard("retry", "refund_payment", "--json").json == {"queued": 1}
    assert counts(pegboard) == {"total": 5, "pending": 1, "failed": 4}
    assert pegboard("backfill", "--json").json["embedded"] == 1


def test_retry_of_all_revives_all(pegboard, failed):
    assert "queued 5; embed with: pegboard backfill" in pegboard("retry", "--all").out
    assert pegboard("backfill", "--json").json["ready"] == 5
    assert pegboard("doctor").code == 0


def test_retry_has_nothing_to_do_where_nothing_failed(pegboard, board):
    assert pegboard("retry", "--all", "--json").json == {"queued": 0}
    assert pegboard("retry", "refund_payment", "--json").json == {"queued": 0}


def test_refresh_of_one_item_queues_only_it(pegboard, board):
    assert pegboard("refresh", "refund_payment", "--json").json == {"queued": 1}
    assert pegboard("backfill", "--json").json["embedded"] == 1


def test_refresh_of_all_embeds_all_again_while_the_old_vectors_serve(pegboard, waiting):
    ran = pegboard("search", "refund", "--mode", "vector", "--json")
    assert ran.json["hits"][0]["id"] == "mcptools:payments:refund_payment"
    assert pegboard("backfill", "--json").json["embedded"] == 5


@pytest.mark.parametrize("command", ["retry", "refresh"])
@pytest.mark.parametrize("args", [(), ("refund_payment", "--all")])
def test_retry_and_refresh_want_an_item_or_all_but_not_both(pegboard, board, command, args):
    ran = pegboard(command, *args)
    assert ran.code == 2
    assert "give an ID, or --all" in ran.err


@pytest.mark.parametrize("command", ["retry", "refresh"])
def test_retry_and_refresh_know_no_unknown_item(pegboard, board, command):
    assert pegboard(command, "nonsense").code == 7


def test_doctor_finds_a_good_board_well(pegboard, board):
    ran = pegboard("doctor")
    assert ran.code == 0
    assert f"{board} is well" in ran.out


def test_doctor_as_json_names_board_and_model(pegboard, board):
    found = pegboard("doctor", "--json").json
    assert (found["broken"], found["model"], found["queued"]) == ([], "ok", 0)
    assert found["board"]["board"] == str(board)


DAMAGE = {
    "a vector is lost": ("DELETE FROM vectors WHERE item_key = 1", "no vector"),
    "a task is lost": ("UPDATE items SET embedding_status = 'pending' WHERE key = 1", "no task"),
    "the text index is lost": ("DELETE FROM item_terms WHERE rowid = 1", "found by words"),
    "a text was changed": ("UPDATE items SET description = 'x' WHERE key = 1", "hash"),
    "a vector is too short": ("UPDATE vectors SET vector = x'00' WHERE item_key = 1", "length"),
    "a vector is of another text": ("UPDATE vectors SET source_hash = 'x'", "no longer has"),
    "an item was deleted": ("PRAGMA foreign_keys = OFF; DELETE FROM items WHERE key = 1", "row"),
}


@pytest.mark.parametrize(("statement", "expected"), DAMAGE.values(), ids=DAMAGE.keys())
def test_doctor_says_what_is_wrong_with_a_damaged_board(pegboard, sql, statement, expected):
    sql(statement)
    ran = pegboard("doctor", "--json")
    assert ran.code == 9
    assert any(expected in rule for rule in ran.json["broken"])
    assert "pegboard doctor --fix" in ran.err
    assert expected in pegboard("doctor").out


@pytest.mark.parametrize("damage", ["a vector is lost", "a task is lost"])
def test_doctor_can_queue_what_is_missing(pegboard, sql, damage):
    sql(DAMAGE[damage][0])
    ran = pegboard("doctor", "--fix", "--json")
    assert (ran.code, ran.json["broken"]) == (0, [])
    pegboard("backfill")
    assert counts(pegboard) == {"total": 5, "ready": 5}
    assert pegboard("doctor").code == 0


@pytest.mark.parametrize("damage", [each for each in DAMAGE if each != "an item was deleted"])
def test_a_full_sync_and_a_backfill_heal_every_damage(pegboard, sql, damage):
    sql(DAMAGE[damage][0])
    assert pegboard("sync", "--full").code == 0
    pegboard("backfill")
    ran = pegboard("doctor", "--json")
    assert (ran.code, ran.json["broken"]) == (0, [])
