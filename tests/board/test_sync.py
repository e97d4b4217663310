"""From a source to the board: what is put, refused, left out, retired, and never lost."""

import gzip
import json
import threading

import pytest

from pegboard.app import Pegboard
from pegboard.board.sync import BATCH
from pegboard.config import Settings, SyncSettings
from pegboard.errors import SourceError, UsageError
from pegboard.model import SourceRecord
from pegboard.sources.jsonl import JsonlSource

BROKEN = b"def run(:\n"


def found(board, query="refund", mode="bm25"):
    return [hit.name for hit in board.search(query, mode=mode).hits]


def refused(board):
    return {(each.source, each.origin): each.code for each in board.rejections()}


def report(board, **options):
    [only] = board.sync(**options).sources
    return only


def test_a_source_that_cannot_be_read_leaves_everything_as_it_is(board, folder, sql):
    before = sql("SELECT * FROM items ORDER BY key")
    folder.root.rename(folder.root.with_name("moved"))
    outcome = board.sync()
    assert str(folder.root) in outcome.sources[0].error
    assert sql("SELECT * FROM items ORDER BY key") == before
    assert found(board) == ["refund_payment"]
    assert board.check() == []


def test_a_source_that_comes_back_goes_on_where_it_was(board, folder):
    moved = folder.root.rename(folder.root.with_name("moved"))
    board.sync()
    moved.rename(folder.root)
    outcome = board.sync()
    assert (outcome.sources[0].unchanged, outcome.work.embedded) == (6, 0)


@pytest.fixture
def catalogue(opened, tmp_path):
    """A board over one long file of tools, and a way to write that file."""
    board, path = opened(), tmp_path / "tools.jsonl.gz"

    def write(numbers, description):
        rows = [{"id": f"t{n}", "name": f"tool {n}", "description": description} for n in numbers]
        path.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode(), 0))
        return path

    write(range(3 * BATCH), "old")
    board.store.ledger.add_source(SourceRecord("file", "jsonl", str(path)))
    assert report(board, embed=False).added == 3 * BATCH
    return board, write


def test_a_source_that_breaks_off_half_way_retires_nothing(catalogue):
    board, write = catalogue
    path = write(range(3 * BATCH), "new")
    path.write_bytes(path.read_bytes()[:-5000])
    assert "cannot be read" in report(board, embed=False).error
    assert board.status().embeddings.total == 3 * BATCH
    assert board.check() == []


def test_a_pass_that_is_stopped_keeps_what_it_has_and_retires_nothing(catalogue):
    board, write = catalogue
    write(range(2 * BATCH), "new")
    stop = threading.Event()
    got = report(board, embed=False, stop=stop, progress=lambda *_: stop.set())
    assert (0 < got.changed < 2 * BATCH, got.retired) == (True, 0)
    assert board.status().embeddings.total == 3 * BATCH
    rest = report(board, embed=False)
    assert (got.changed + rest.changed, rest.retired) == (2 * BATCH, BATCH)
    assert board.check() == []


def test_a_file_that_becomes_invalid_is_retired_and_its_rejection_kept(board, folder):
    folder.raw("payments/refund_payment", BROKEN)
    got = report(board)
    assert (got.retired, dict(got.rejected)) == (1, {"syntax_error": 1})
    assert found(board) == []
    assert found(board, mode="vector").count("refund_payment") == 0
    assert refused(board) == {("tools", "mcptools/payments/refund_payment.py"): "syntax_error"}
    assert board.check() == []


def test_a_file_that_stays_invalid_stays_retired_and_refused(board, folder):
    folder.raw("payments/refund_payment", BROKEN)
    board.sync()
    again = report(board)
    assert (again.retired, again.unchanged, dict(again.rejected)) == (0, 5, {"syntax_error": 1})
    assert len(refused(board)) == 1
    assert found(board) == []


def test_a_rejection_is_forgotten_once_the_file_is_valid(board, folder):
    folder.raw("payments/refund_payment", BROKEN)
    board.sync()
    folder.write("payments/refund_payment", "Refund the customer.")
    board.sync()
    assert refused(board) == {}
    assert found(board) == ["refund_payment"]


def test_a_rejection_is_forgotten_once_the_file_is_what_it_was_before(board, folder):
    content = folder.path("payments/refund_payment").read_bytes()
    folder.raw("payments/refund_payment", BROKEN)
    board.sync()
    folder.raw("payments/refund_payment", content)
    outcome = board.sync()
    assert (refused(board), outcome.work.embedded) == ({}, 0)
    assert found(board) == ["refund_payment"]


def test_a_rejection_is_forgotten_once_the_file_is_gone(board, folder):
    folder.raw("chat/broken", BROKEN)
    board.sync()
    assert len(refused(board)) == 1
    folder.path("chat/broken").unlink()
    board.sync()
    assert refused(board) == {}


def test_the_reason_changes_with_the_fault(board, folder):
    folder.raw("chat/broken", BROKEN)
    board.sync()
    folder.raw("chat/broken", b"\xff")
    board.sync()
    assert list(refused(board).values()) == ["not_utf8"]


def test_hidden_characters_do_not_pass_the_gate(board, folder):
    folder.write("chat/sly", "Send\u200b a message.")
    assert dict(report(board).rejected) == {"hidden_characters": 1}
    assert found(board, "sly") == []


def test_private_files_are_left_out_and_counted_but_not_refused(board, folder):
    folder.write("chat/_private", "Private.")
    got = report(board)
    assert (got.left_out.total(), got.rejected.total()) == (1, 0)
    assert refused(board) == {}


def test_a_tool_that_becomes_private_is_retired(board, folder):
    folder.path("chat/post_message").rename(folder.path("chat/_post_message"))
    got = report(board)
    assert (got.retired, got.left_out.total()) == (1, 1)
    assert found(board, "post") == []


def test_a_tool_that_moves_to_another_category_hangs_there(board, folder):
    folder.path("money/refund_payment").parent.mkdir()
    folder.path("payments/refund_payment").rename(folder.path("money/refund_payment"))
    got = report(board)
    assert (got.added, got.retired) == (1, 1)
    assert board.show("refund_payment").item.id == "mcptools:money:refund_payment"


@pytest.fixture
def rival(board, other):
    """Another source with a tool under an id that is already taken."""
    other.write("payments/refund_payment", "Refund from the rival.")
    board.add_folder(other.root)
    board.sync()
    return other


def test_an_id_that_another_source_holds_is_refused_and_the_holder_stays(board, rival):
    assert refused(board) == {("other", "mcptools/payments/refund_payment.py"): "id_taken"}
    assert board.show("refund_payment").item.source == "tools"
    assert "rival" not in board.show("refund_payment").item.description
    [reason] = [each.reason for each in board.rejections()]
    assert "'tools'" in reason
    assert "--namespace" in reason


def test_an_id_is_free_once_the_other_source_no_longer_has_it(board, rival, folder):
    folder.path("payments/refund_payment").unlink()
    board.sync(["tools"])
    board.sync(["other"])
    assert refused(board) == {}
    assert board.show("refund_payment").item.source == "other"


def test_an_id_is_free_once_the_other_source_is_removed(board, rival):
    board.remove_source("tools")
    board.sync()
    assert refused(board) == {}
    assert board.show("refund_payment").item.source == "other"


def test_the_same_id_may_hang_in_two_namespaces(board, other):
    other.write("payments/refund_payment", "Refund from the rival.")
    board.add_folder(other.root, namespace="rival")
    board.sync()
    assert refused(board) == {}
    assert found(board) == ["refund_payment", "refund_payment"]


def test_unchanged_files_are_neither_written_nor_embedded_again(board, sql):
    before = sql("SELECT key, updated_at FROM items"), sql("SELECT * FROM vectors")
    outcome = board.sync()
    assert (outcome.sources[0].unchanged, outcome.work.embedded) == (6, 0)
    assert (sql("SELECT key, updated_at FROM items"), sql("SELECT * FROM vectors")) == before


def test_a_change_outside_the_text_costs_no_embedding(board, folder):
    path = folder.path("payments/refund_payment")
    path.write_bytes(path.read_bytes() + b"    return None\n")
    outcome = board.sync()
    assert (outcome.sources[0].changed, outcome.work.embedded) == (1, 0)
    assert b"return None" in board.show("refund_payment").item.version.files[0].content


def test_a_full_pass_repairs_a_damaged_text_index_and_embeds_nothing(board, sql):
    sql("DELETE FROM item_terms")
    assert found(board) == []
    assert any("found by words" in rule for rule in board.check())
    assert board.sync().work.embedded == 0
    assert found(board) == []
    assert board.sync(full=True).work.embedded == 0
    assert found(board) == ["refund_payment"]
    assert board.check() == []


def test_a_full_pass_keeps_what_is_refused_refused(board, folder):
    folder.raw("chat/broken", BROKEN)
    board.sync()
    assert dict(report(board, full=True).rejected) == {"syntax_error": 1}
    assert len(refused(board)) == 1


def test_what_is_missing_for_longer_than_the_settings_allow_is_removed(board, folder, sql):
    folder.path("payments/refund_payment").unlink()
    assert (report(board).retired, report(board).purged) == (1, 0)
    assert sql("SELECT active FROM items WHERE name = 'refund_payment'") == [(0,)]
    sql("UPDATE items SET drift_at = drift_at - 86400 * 31 WHERE drift = 'missing'")
    assert report(board).purged == 1
    assert sql("SELECT active FROM items WHERE name = 'refund_payment'") == []
    assert board.check() == []


def test_a_larger_limit_admits_what_was_too_large(board, folder):
    small = Pegboard(board.store, Settings(board.settings.board, board.settings.embed))
    folder.raw("chat/large", b'def run():\n    """Large."""\n' + b"#" * (1 << 20))
    assert dict(report(small).rejected) == {"too_large": 1}
    large = Pegboard(
        board.store, Settings(embed=board.settings.embed, sync=SyncSettings(max_file_bytes=1 << 22))
    )
    assert report(large).added == 1
    assert refused(board) == {}


def test_only_the_named_sources_are_read(board, other, folder):
    other.write("maps/locate", "Locate.")
    board.add_folder(other.root)
    folder.path("payments/refund_payment").unlink()
    assert [each.source for each in board.sync(["other"]).sources] == ["other"]
    assert found(board) == ["refund_payment"]
    with pytest.raises(UsageError, match="no source 'third'"):
        board.sync(["third"])


def test_progress_is_told_and_ends_with_the_total(board):
    told = []
    board.sync(full=True, progress=lambda *step: told.append(step))
    assert ("reading", 6, 6) in told


def test_a_missing_file_of_tools_is_a_source_error(tmp_path):
    with pytest.raises(SourceError, match="cannot be read"):
        list(JsonlSource("file", tmp_path / "none.jsonl").scan({}))
